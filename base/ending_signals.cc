#include "base/ending_signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"

namespace bspnow {

UniqueFd TakeOverEndingSignals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  const bool ignored = hang_up.sa_handler == SIG_IGN;  // Of nohup.
  if (isatty(STDERR_FILENO) && !ignored) {
    sigaddset(&ending, SIGHUP);
  } else {
    signal(SIGHUP, [](int) {});  // Not ignored: programs would inherit that.
  }
  sigprocmask(SIG_BLOCK, &ending, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  UniqueFd signals(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  BSP_CHECK(signals.valid());
  return signals;
}

}  // namespace bspnow
