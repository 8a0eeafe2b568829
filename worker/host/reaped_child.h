// A child that has ended: how, and what it had used.
#ifndef WORKER_HOST_REAPED_CHILD_H_
#define WORKER_HOST_REAPED_CHILD_H_

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <cstdint>

namespace bspnow::worker {

/// With that of its own children that it has waited for.
struct ProcessUsage {
  std::uint64_t cpu_ns;
  std::uint64_t peak_memory_bytes;
};

struct ReapedChild {
  pid_t os_pid;  ///< 0 or below: none has ended.
  int status;    ///< As of waitpid.
  ProcessUsage usage;
};

inline std::uint64_t NsOf(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_usec) * 1'000;
}

/// A child that has asked to be traced by its parent (PTRACE_TRACEME) stops at each signal, which
/// is no end of it. It goes on, with the signal, and is not traced any more. (SIGTRAP is what it
/// gets when it becomes another program.)
inline void ReleaseTraced(pid_t child, int signal) {
  ptrace(PTRACE_DETACH, child, nullptr, signal == SIGTRAP ? 0 : signal);
}

/// Any; waits for none.
inline ReapedChild ReapChild() {
  ReapedChild child{};
  rusage used{};
  while ((child.os_pid = wait4(-1, &child.status, WNOHANG, &used)) > 0 &&
         WIFSTOPPED(child.status)) {
    ReleaseTraced(child.os_pid, WSTOPSIG(child.status));
  }
  child.usage = {.cpu_ns = NsOf(used.ru_utime) + NsOf(used.ru_stime),
                 .peak_memory_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024};
  return child;
}

}  // namespace bspnow::worker

#endif  // WORKER_HOST_REAPED_CHILD_H_
