#include "runtime/collectives/machine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace bspnow::runtime {
namespace {

struct Measured {
  double g_ns_per_byte;
  double l_first_ns;  ///< l = l_first + l_each p.
  double l_each_ns;
  double half_bytes;
  double s_flops;
};

// Rounded: l from the empty bsp_sync of tests/bench/README.md, on one node and on two, the rest
// from `bsp probe` there with p = 2 and 4.
constexpr Measured kOneNode{
    .g_ns_per_byte = 0.2, .l_first_ns = 0, .l_each_ns = 800, .half_bytes = 250, .s_flops = 1e10};
constexpr Measured kSeveralNodes{.g_ns_per_byte = 0.7,
                                 .l_first_ns = 2000,
                                 .l_each_ns = 2500,
                                 .half_bytes = 200,
                                 .s_flops = 1e10};

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

Machine MachineOf(std::uint32_t p, Nodes nodes, const GivenMachine& given) {
  const Measured& measured = nodes == Nodes::kOne ? kOneNode : kSeveralNodes;
  const double g = GivenOr(given.g_ns_per_byte, measured.g_ns_per_byte);
  const bool one = nodes == Nodes::kOne;
  return Machine{.g_ns_per_byte = g,
                 .l_ns = GivenOr(given.l_ns, measured.l_first_ns + measured.l_each_ns * p),
                 .half_bytes = GivenOr(given.half_bytes, measured.half_bytes),
                 .s_flops = GivenOr(given.s_flops, measured.s_flops),
                 .nodes = nodes,
                 .near_processes = one ? p : 1,
                 .near_g_ns_per_byte = one ? g : std::min(g, kOneNode.g_ns_per_byte)};
}

}  // namespace bspnow::runtime
