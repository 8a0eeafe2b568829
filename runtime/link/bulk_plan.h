// Bulk lanes: connections of which each belongs to two processes on different nodes, and to nobody
// else. Only jobs with lanes (lane.h) have them, and of these the small ones.
//
// The worker opens them and libbsp finds its own among them; both reckon with what is here.
#ifndef RUNTIME_LINK_BULK_PLAN_H_
#define RUNTIME_LINK_BULK_PLAN_H_

#include <cstdint>

#include "runtime/link/lane.h"

namespace bspnow {

/// How many processes of the job each of its hosts has, by the host's number.
struct BulkPlan {
  std::uint32_t hosts = 0;
  std::uint32_t processes[kLaneHostsMax] = {};

  /// Of the mailbox of that host: those to the first other host come first, and so on.
  std::uint32_t LanesOf(std::uint32_t host) const {
    std::uint32_t others = 0;
    for (std::uint32_t i = 0; i < hosts; ++i) others += i == host ? 0 : processes[i];
    return Any() ? processes[host] * others : 0;
  }

  /// Whether there are any: none where one node would have too many. Of several processes on a node
  /// each looks after the others' while it drives.
  bool Any() const {
    constexpr std::uint64_t kOfSeveralMax = 16;
    std::uint64_t p = 0;
    for (std::uint32_t i = 0; i < hosts; ++i) p += processes[i];
    for (std::uint32_t i = 0; i < hosts; ++i)
      if (processes[i] * (p - processes[i]) > (processes[i] == 1 ? kBulkLanesMax : kOfSeveralMax))
        return false;
    return true;
  }

  /// Between two hosts.
  std::uint32_t Between(std::uint32_t one, std::uint32_t other) const {
    return Any() ? processes[one] * processes[other] : 0;
  }

  /// The place among these of the lane between two processes, which are the `here`-th on `host` and
  /// the `there`-th on `other`, by pid. The same from both ends.
  std::uint32_t Place(std::uint32_t host, std::uint32_t here, std::uint32_t other,
                      std::uint32_t there) const {
    return host < other ? here * processes[other] + there : there * processes[host] + here;
  }
};

}  // namespace bspnow

#endif  // RUNTIME_LINK_BULK_PLAN_H_
