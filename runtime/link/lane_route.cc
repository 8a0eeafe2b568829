#include "runtime/link/lane_route.h"

// Not <netinet/tcp.h>, of which tcp_info ends before the least RTT.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <bit>
#include <cstddef>

namespace bspnow::runtime {
namespace {

// To send a head and to take it in, 3 us each; and as much again, since over loopback the
// processors do the work of both ends and of the kernel between them.
constexpr std::uint64_t kHeadNs = 12'000;

}  // namespace

std::uint64_t LeastRttNs(int socket) {
  constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  constexpr std::size_t kNeeded = offsetof(tcp_info, tcpi_min_rtt) + sizeof(tcp_info::tcpi_min_rtt);
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0 || bytes < kNeeded ||
      info.tcpi_min_rtt == kUnknown)
    return 0;
  return std::uint64_t{info.tcpi_min_rtt} * 1000;
}

bool HeadsGoStraight(std::uint32_t nodes, std::uint64_t rtt_ns) {
  if (nodes <= 2) return false;
  const auto steps = static_cast<std::uint32_t>(std::bit_width(nodes - 1));
  const std::uint64_t ways_ns = (steps - 1) * (rtt_ns / 2);
  const std::uint64_t sends_ns = (nodes - 1 - steps) * kHeadNs;
  return ways_ns >= sends_ns;
}

}  // namespace bspnow::runtime
