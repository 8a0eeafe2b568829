// The system calls that no program of a job is allowed: they manage the machine, or have been the
// way into many a kernel. All others are allowed; what they may do the kernel decides by the user.
#ifndef WORKER_HOST_SYSTEM_CALLS_H_
#define WORKER_HOST_SYSTEM_CALLS_H_

#include <absl/status/statusor.h>
#include <linux/filter.h>

#include <vector>

namespace bspnow::worker {

/// As seccomp(2) takes it. What is denied fails with EPERM.
absl::StatusOr<std::vector<sock_filter>> SystemCallFilter();

}  // namespace bspnow::worker

#endif  // WORKER_HOST_SYSTEM_CALLS_H_
