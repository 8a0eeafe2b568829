#include "runtime/collectives/machine.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace bspnow::runtime {
namespace {

struct Measured {
  double g_ns_per_byte;
  double half_bytes;
  double s_flops;
};

// Rounded, from `bsp probe` with p = 2 and 4, on one node and on two. With n nodes on the same two
// processors g is n / 4: who sends is not alone.
constexpr Measured kOneNode{.g_ns_per_byte = 0.2, .half_bytes = 250, .s_flops = 1e10};
constexpr Measured kSeveralNodes{.g_ns_per_byte = 0.7, .half_bytes = 200, .s_flops = 1e10};

// From the empty bsp_sync of tests/bench/README.md, with p from 2 to 8 on one node, on two, and on
// as many: n nodes send n log n times.
double MeasuredL(std::uint32_t p, std::uint32_t nodes) {
  if (nodes == 1) return 800.0 * p;
  const int steps = std::bit_width(nodes - 1);
  return 3000.0 * nodes * steps + 2000.0 * p - 5000;
}

double MeasuredG(std::uint32_t nodes) {
  return nodes == 1 ? kOneNode.g_ns_per_byte : std::max(kSeveralNodes.g_ns_per_byte, nodes / 4.0);
}

double GivenOr(double given, double measured) { return given < 0 ? measured : given; }

}  // namespace

bool ParseMachine(const char* text, GivenMachine& given) {
  struct Name {
    const char* text;
    double* value;
  };
  const Name names[] = {{"g=", &given.g_ns_per_byte},
                        {"l=", &given.l_ns},
                        {"n12=", &given.half_bytes},
                        {"s=", &given.s_flops}};
  for (const char* at = text; *at != '\0';) {
    double* value = nullptr;
    for (const Name& name : names) {
      if (std::strncmp(at, name.text, std::strlen(name.text)) != 0) continue;
      value = name.value;
      at += std::strlen(name.text);
      break;
    }
    if (value == nullptr) return false;
    char* end = nullptr;
    *value = std::strtod(at, &end);
    // The comparison is false of NaN, too.
    if (end == at || !(*value >= 0 && *value <= 1e18) || (*end != '\0' && *end != ',')) {
      return false;
    }
    at = *end == ',' ? end + 1 : end;
  }
  return true;
}

Machine MachineOf(std::uint32_t p, std::uint32_t nodes, const GivenMachine& given) {
  const bool one = nodes == 1;
  const Measured& measured = one ? kOneNode : kSeveralNodes;
  const double g = GivenOr(given.g_ns_per_byte, MeasuredG(nodes));
  return Machine{.g_ns_per_byte = g,
                 .alone_g_ns_per_byte = GivenOr(given.g_ns_per_byte, measured.g_ns_per_byte),
                 .l_ns = GivenOr(given.l_ns, MeasuredL(p, nodes)),
                 .half_bytes = GivenOr(given.half_bytes, measured.half_bytes),
                 .s_flops = GivenOr(given.s_flops, measured.s_flops),
                 .nodes = one ? Nodes::kOne : Nodes::kSeveral,
                 .near_processes = (p + nodes - 1) / nodes,
                 .near_g_ns_per_byte = one ? g : std::min(g, kOneNode.g_ns_per_byte)};
}

}  // namespace bspnow::runtime
