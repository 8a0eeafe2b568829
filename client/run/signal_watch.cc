#include "client/run/signal_watch.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"

namespace bspnow::client {

SignalWatch::SignalWatch(EventLoop& loop, std::function<void(int signal)> arrived)
    : loop_(loop), arrived_(std::move(arrived)) {
  sigemptyset(&watched_);
  sigprocmask(SIG_BLOCK, nullptr, &before_);
  before_of_pipe_ = signal(SIGPIPE, SIG_IGN);
  signals_ = UniqueFd(signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK));
  BSP_CHECK(signals_.valid());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) Watch(signal);
  loop_.OnReadable(signals_.get(), [this] { Look(); });
}

// What is ignored (nohup, a shell's `&`) is to stay ignored; a signalfd would still see it. SIGQUIT
// only asks something.
void SignalWatch::Watch(int signal) {
  struct sigaction now;
  const bool known = sigaction(signal, nullptr, &now) == 0;
  if (signal != SIGQUIT && (!known || now.sa_handler == SIG_IGN)) return;
  sigaddset(&watched_, signal);
  sigprocmask(SIG_BLOCK, &watched_, nullptr);
  BSP_CHECK(signalfd(signals_.get(), &watched_, 0) == signals_.get());
}

SignalWatch::~SignalWatch() { loop_.Forget(signals_.get()); }

void SignalWatch::LetPipesEnd() { signal(SIGPIPE, before_of_pipe_); }

void SignalWatch::Stop() {
  loop_.Forget(signals_.get());
  LetPipesEnd();
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void SignalWatch::Look() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    arrived_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace bspnow::client
