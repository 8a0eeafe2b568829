#include "base/clock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "base/units.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kSuspendedS = 86'400;
constexpr const char* kOffsets = "boottime 86400 0\n";
enum Found { kGoesOn, kStandsStill, kNoNamespaces, kBroken };

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

Found OfClock() {
  timespec awake;
  if (clock_gettime(CLOCK_MONOTONIC, &awake) != 0) return kBroken;
  const std::uint64_t awake_s = static_cast<std::uint64_t>(awake.tv_sec);
  return NowNs() / kNsPerS >= awake_s + kSuspendedS - 1 ? kGoesOn : kStandsStill;
}

// In a child: its own children see a machine that was suspended for a day.
Found InSuspendedMachine() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0) return kNoNamespaces;
  const int offsets = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
  if (offsets < 0) return kNoNamespaces;
  const auto bytes = static_cast<ssize_t>(strlen(kOffsets));
  if (write(offsets, kOffsets, strlen(kOffsets)) != bytes) return kNoNamespaces;
  const pid_t inside = fork();
  if (inside == 0) _exit(OfClock());
  int status = 0;
  if (inside < 0 || waitpid(inside, &status, 0) != inside) return kBroken;
  return WIFEXITED(status) ? static_cast<Found>(WEXITSTATUS(status)) : kBroken;
}

// A lease that was given before does not hold after.
TEST(ClockTest, GoesOnWhileTheMachineIsSuspended) {
  const pid_t child = fork();
  if (child == 0) _exit(InSuspendedMachine());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoNamespaces) GTEST_SKIP() << "no namespaces of time here";
  EXPECT_EQ(WEXITSTATUS(status), kGoesOn);
}

}  // namespace
}  // namespace bspnow
