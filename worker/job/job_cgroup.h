// The control group of a job's processes on this node, below the worker's own: all that is in it is
// killed at once, whoever has started it and whatever it starts meanwhile. Where the worker may
// make none (no cgroup v2, or one that is not delegated to it) the job has none, and its processes
// are killed one by one.
#ifndef WORKER_JOB_JOB_CGROUP_H_
#define WORKER_JOB_JOB_CGROUP_H_

#include <optional>
#include <string>

#include "base/unique_fd.h"

namespace bspnow::worker {

class JobCgroup {
 public:
  /// No value if the kernel has no such groups, or none may be made in `parent`.
  static std::optional<JobCgroup> Make(const std::string& parent, const std::string& name);

  const std::string& path() const { return path_; }

  /// A process that writes "0" there enters the group, and so is what it starts.
  int entry() const { return entry_.get(); }

 private:
  JobCgroup(std::string path, UniqueFd entry) : path_(std::move(path)), entry_(std::move(entry)) {}

  std::string path_;
  UniqueFd entry_;
};

/// Kills all that is in the group, and removes it. False while something of it is still dying.
bool EndCgroup(const std::string& path);

}  // namespace bspnow::worker

#endif  // WORKER_JOB_JOB_CGROUP_H_
