// A bsp-host that cannot be watched: where the system takes the call away, as containers do, or has
// no descriptor left.
#include "worker/host/host_link.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" long syscall(long number, ...) {
  if (number == SYS_pidfd_open) {
    errno = EPERM;
    return -1;
  }
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  static const auto call = reinterpret_cast<decltype(&syscall)>(dlsym(RTLD_NEXT, "syscall"));
  return call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

namespace bspnow::worker {
namespace {

// The worker has other jobs.
TEST(HostLinkTest, AHostThatCannotBeWatchedIsEndedAndTheWorkerGoesOn) {
  const UniqueFd segment(memfd_create("segment", MFD_CLOEXEC));
  const RaisedLimits limits;
  proto::HostPlan plan;
  plan.set_program("/bin/true");
  plan.add_arguments("true");
  plan.add_processes()->set_pid(0);
  const absl::StatusOr<StartedHost> started =
      StartHost({.path = "worker/host/bsp-host", .name = "test", .limits = limits}, plan,
                {.segment = segment.get(), .doorbell = -1, .mailbox = -1, .input = -1});
  EXPECT_EQ(started.status().message(), "watching bsp-host: Operation not permitted");
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1) << "it is not left behind";
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace bspnow::worker
