#include "worker/host/reaped_child.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <unistd.h>

namespace bspnow::worker {
namespace {

constexpr int kStatus = 3;

/// The first that has ended.
ReapedChild AwaitEnd() {
  ReapedChild child = ReapChild();
  for (; child.os_pid == 0; child = ReapChild()) poll(nullptr, 0, 1);
  return child;
}

TEST(ReapedChildTest, IsOneThatHasExited) {
  const pid_t child = fork();
  if (child == 0) _exit(kStatus);
  const ReapedChild reaped = AwaitEnd();
  EXPECT_EQ(reaped.os_pid, child);
  ASSERT_TRUE(WIFEXITED(reaped.status));
  EXPECT_EQ(WEXITSTATUS(reaped.status), kStatus);
}

volatile sig_atomic_t handled = 0;

TEST(ReapedChildTest, IsNotOneThatStopsForItsTracer) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGUSR1, [](int) { handled = handled + 1; });
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(kStatus);
    raise(SIGUSR1);
    raise(SIGUSR1);
    _exit(handled == 2 ? kStatus : kStatus + 1);
  }
  const ReapedChild reaped = AwaitEnd();
  EXPECT_EQ(reaped.os_pid, child);
  ASSERT_TRUE(WIFEXITED(reaped.status)) << reaped.status;
  EXPECT_EQ(WEXITSTATUS(reaped.status), kStatus);
}

TEST(ReapedChildTest, MayBeATracedOneThatDiesOfASignal) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGTERM);
    _exit(kStatus);
  }
  const ReapedChild reaped = AwaitEnd();
  EXPECT_EQ(reaped.os_pid, child);
  ASSERT_TRUE(WIFSIGNALED(reaped.status)) << reaped.status;
  EXPECT_EQ(WTERMSIG(reaped.status), SIGTERM);
}

}  // namespace
}  // namespace bspnow::worker
