// Starting one process with exactly the descriptors that it should have.
#ifndef WORKER_HOST_SPAWN_H_
#define WORKER_HOST_SPAWN_H_

#include <absl/status/statusor.h>
#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/raised_limits.h"
#include "worker/host/account.h"

namespace bspnow::worker {

/// The descriptor of a process that is its link.
inline constexpr int kLinkFd = 3;

/// `standard` become the process's descriptors 0, 1, 2, and `link` its descriptor 3; it has no
/// others. It dies when the calling thread's process dies, however that happens.
struct SpawnRequest {
  const std::string& program;
  const std::vector<std::string>& arguments;
  const std::vector<std::string>& environment;  ///< Complete: NAME=VALUE.
  const std::string& directory;                 ///< Empty: this process's.
  const char* other_directory = "";  ///< Where that cannot be entered; empty: nothing begins.
  int standard[3];
  int link;
  std::uint64_t memory_bytes;        ///< Private writable memory that it may have; 0: any.
  bool core = false;                 ///< Its core file may be as large as the hard limit allows.
  const RaisedLimits& limits;        ///< That the program gets back.
  std::span<const int> cgroups{};    ///< cgroup.procs of groups that it enters.
  const Account* account = nullptr;  ///< As whom it runs; nullptr: as this process.
  /// Of system calls, for the program and all that it starts; and none of these gains any right by
  /// a set-user-ID program. Empty: neither.
  std::span<const sock_filter> filter{};
  /// As often, a millisecond apart, a program is tried that is held open for writing.
  int busy_tries = 5'000;
  /// For that long the program may take to begin: a file server that is away answers nobody.
  int patience_ms = 60'000;
};

/// Returns the process id once the program runs. An error names what failed: NotFound,
/// PermissionDenied (not executable), Unavailable (nothing answered in time), or another.
absl::StatusOr<pid_t> Spawn(const SpawnRequest& request);

/// Of a process: the one that was asked for, its pid and the link.
std::vector<std::string> ProcessEnvironment(const std::vector<std::string>& environment, Pid pid);

}  // namespace bspnow::worker

#endif  // WORKER_HOST_SPAWN_H_
