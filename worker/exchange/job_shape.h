// Who is where in a group of a job: its processes, by the hosts (workers) that they live on. All
// numbers are the group's own: a pid is the rank of a member.
#ifndef WORKER_EXCHANGE_JOB_SHAPE_H_
#define WORKER_EXCHANGE_JOB_SHAPE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace bspnow::worker {

struct JobShape {
  JobId job{};
  Epoch epoch{};
  GroupId group = kRootGroup;
  std::uint32_t self = 0;                 ///< This node's number in the job.
  std::vector<std::vector<Pid>> hosts{};  ///< The pids of each, ascending.
  std::vector<std::uint32_t> host_of{};   ///< By pid.
  std::uint32_t participants = 0;         ///< p, once bsp_begin has fixed it.

  const std::vector<Pid>& here() const { return hosts[self]; }

  /// Pids of that host that take part. They come first.
  std::uint32_t TakingPart(std::uint32_t host) const {
    const auto& pids = hosts[host];
    const auto end = std::lower_bound(pids.begin(), pids.end(), Pid{participants});
    return static_cast<std::uint32_t>(end - pids.begin());
  }

  bool IsHere(std::uint32_t pid) const { return pid < host_of.size() && host_of[pid] == self; }
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_JOB_SHAPE_H_
