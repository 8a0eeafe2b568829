// A child that has ended: how, and what it had used.
#ifndef WORKER_HOST_REAPED_CHILD_H_
#define WORKER_HOST_REAPED_CHILD_H_

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

/// Any; waits for none.
inline ReapedChild ReapChild() {
  ReapedChild child{};
  rusage used{};
  child.os_pid = wait4(-1, &child.status, WNOHANG, &used);
  child.usage = {.cpu_ns = NsOf(used.ru_utime) + NsOf(used.ru_stime),
                 .peak_memory_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024};
  return child;
}

}  // namespace bspnow::worker

#endif  // WORKER_HOST_REAPED_CHILD_H_
