#include "base/ending_signals.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace bspnow {
namespace {

/// The first that came; 0: none.
unsigned Taken(const UniqueFd& signals) {
  signalfd_siginfo info{};
  return read(signals.get(), &info, sizeof info) == sizeof info ? info.ssi_signo : 0;
}

TEST(EndingSignalsTest, OfALogInAFileHangUpAndPipeAndFileSizeEndNothing) {
  const UniqueFd log(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const UniqueFd before(dup(STDERR_FILENO));
  ASSERT_EQ(dup2(log.get(), STDERR_FILENO), STDERR_FILENO);
  const UniqueFd signals = TakeOverEndingSignals();
  dup2(before.get(), STDERR_FILENO);
  for (const int signal : {SIGHUP, SIGPIPE, SIGXFSZ}) raise(signal);
  EXPECT_EQ(Taken(signals), 0u);
  raise(SIGTERM);
  EXPECT_EQ(Taken(signals), static_cast<unsigned>(SIGTERM));
  raise(SIGINT);
  EXPECT_EQ(Taken(signals), static_cast<unsigned>(SIGINT));
}

TEST(EndingSignalsTest, ATerminalThatHasGoneEndsTheDaemon) {
  const UniqueFd terminal(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  const UniqueFd before(dup(STDERR_FILENO));
  ASSERT_EQ(dup2(terminal.get(), STDERR_FILENO), STDERR_FILENO);
  const UniqueFd signals = TakeOverEndingSignals();
  dup2(before.get(), STDERR_FILENO);
  raise(SIGHUP);
  EXPECT_EQ(Taken(signals), static_cast<unsigned>(SIGHUP));
}

}  // namespace
}  // namespace bspnow
