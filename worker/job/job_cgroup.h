// The control groups of jobs on this node, below the worker's own: they limit what a job takes
// from its neighbours and from the worker, and all that is in one is killed at once, whoever has
// started it and whatever it starts meanwhile. What cannot be limited where the worker is, is not;
// and where it may make no group at all, processes are killed one by one.
#ifndef WORKER_JOB_JOB_CGROUP_H_
#define WORKER_JOB_JOB_CGROUP_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "worker/job/memory_kills.h"

namespace bspnow::worker {

/// The groups below which a worker makes those of its jobs: v2's for all, or v1's one for each.
/// Empty: none.
struct CgroupTrees {
  std::string any;  ///< Limits nothing; v2's groups can be killed at once.
  std::string memory;
  std::string pids;
  std::string cpu;

  /// "memory, processes, processors", as far as they can be limited; or "none".
  std::string Limits() const;
};

/// Of this process, for a daemon. v2 limits no group of which a process lives above it: the daemon
/// moves into a group of its own, beside those of its jobs, if it is alone where it is.
CgroupTrees PrepareCgroups();

struct JobLimits {
  std::uint64_t memory_bytes;  ///< Of all its processes, communication and the kernel's included.
  std::uint64_t tasks;         ///< Processes and threads.
  std::uint64_t processes;     ///< Its share of the processors is as many times that of one.
};

/// Why the kernel has killed a process of a group for want of memory.
enum class MemoryKill {
  kNone,        ///< It has not.
  kAtOwnLimit,  ///< The group had all that it may have.
  kElsewhere,   ///< The machine or a group above had no more.
};

class JobCgroup {
 public:
  /// No value if no group can be made.
  static std::optional<JobCgroup> Make(const CgroupTrees& trees, const std::string& name,
                                       const JobLimits& limits);

  /// Those that an earlier worker has left: their names begin with `prefix`.
  static std::vector<JobCgroup> Left(const CgroupTrees& trees, const std::string& prefix);

  /// A process that writes "0" to each enters the group, and so does what it starts.
  std::vector<int> entries() const;

  /// The processes that are in it now.
  std::vector<pid_t> Members() const;

  /// Since the last call.
  MemoryKill TakeMemoryKill();
  /// To be called now and then, see MemoryKills.
  void OnLook(std::uint64_t now_ns);
  std::uint64_t memory_bytes() const { return memory_bytes_; }  ///< The limit; 0: none.
  /// The group whose limit that is, if the kernel kills there; empty if it swaps first.
  std::string memory_path() const { return swaps_ ? "" : memory_path_; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }  ///< As of a kill; 0: not known.

  /// Kills all that is in the group, and removes it. False while something of it is still dying.
  bool End();

 private:
  explicit JobCgroup(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  void Limit(const CgroupTrees& trees, const std::string& name, const JobLimits& limits);
  /// Since the last call.
  bool WasFull();

  std::vector<std::string> paths_;  ///< One in each tree.
  std::vector<UniqueFd> entries_;
  std::string memory_path_;  ///< Empty: not limited.
  std::uint64_t memory_bytes_ = 0;
  bool swaps_ = false;
  std::uint64_t peak_bytes_ = 0;
  MemoryKills kills_;
  std::uint64_t full_ = 0;  ///< Times that it was at its limit, up to the last kill.
};

}  // namespace bspnow::worker

#endif  // WORKER_JOB_JOB_CGROUP_H_
