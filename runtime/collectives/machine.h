// The machine as collectives see it when they choose how to move data: g, l, n1/2 and s of the BSP
// cost model, alike on all processes, since all must choose alike.
#ifndef RUNTIME_COLLECTIVES_MACHINE_H_
#define RUNTIME_COLLECTIVES_MACHINE_H_

#include <cstdint>

namespace bspnow::runtime {

enum class Nodes { kOne, kSeveral };

struct Machine {
  double g_ns_per_byte;        ///< While all send,
  double alone_g_ns_per_byte;  ///< and while one process does.
  double l_ns;
  double half_bytes;  ///< n1/2: a transfer of n bytes costs (n + n1/2) g.
  double s_flops;     ///< A second.
  Nodes nodes;
  std::uint32_t near_processes;  ///< So many, one after another by pid, share a node.
  double near_g_ns_per_byte;     ///< g among these.
};

/// What BSP_MACHINE says, "g=NS,l=NS,n12=BYTES,s=FLOPS", each or none; not given: negative.
struct GivenMachine {
  double g_ns_per_byte = -1;
  double l_ns = -1;
  double half_bytes = -1;
  double s_flops = -1;
};

/// False: `text` is not of that form.
[[nodiscard]] bool ParseMachine(const char* text, GivenMachine& given);

/// On so many nodes, with as many processes on each, but for the last.
Machine MachineOf(std::uint32_t p, std::uint32_t nodes, const GivenMachine& given);

}  // namespace bspnow::runtime

#endif  // RUNTIME_COLLECTIVES_MACHINE_H_
