// How heads go (lane.h): by way of others, or straight to each node.
#ifndef RUNTIME_LINK_LANE_ROUTE_H_
#define RUNTIME_LINK_LANE_ROUTE_H_

#include <cstdint>

namespace bspnow::runtime {

/// The least time in which a byte and its acknowledgement went there and back by a TCP connection,
/// in ns, as the kernel has it; 0: it does not know.
std::uint64_t LeastRttNs(int socket);

/// Whether all of n nodes have all heads sooner if each goes straight to all. By way of others a
/// node sends log n heads in place of n - 1, but some heads travel log n times.
bool HeadsGoStraight(std::uint32_t nodes, std::uint64_t rtt_ns);

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_LANE_ROUTE_H_
