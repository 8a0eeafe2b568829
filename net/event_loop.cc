#include "net/event_loop.h"

#include <errno.h>
#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace bspnow {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::uint64_t kNsPerMs = 1'000'000;

}  // namespace

EventLoop::EventLoop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) { BSP_CHECK(epoll_.valid()); }

bool EventLoop::Add(int fd, std::uint32_t events, Callback ready) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    BSP_CHECK_OP(errno, ==, EPERM);  // A regular file: always ready, cannot be waited for.
    return false;
  }
  callbacks_[fd] = std::move(ready);
  return true;
}

void EventLoop::OnReadable(int fd, Callback ready) {
  BSP_CHECK(Add(fd, EPOLLIN, std::move(ready)));
}

bool EventLoop::OnWritable(int fd, Callback ready) { return Add(fd, EPOLLOUT, std::move(ready)); }

void EventLoop::Forget(int fd) {
  if (callbacks_.erase(fd) != 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::SetTimer(std::uint64_t after_ms, Callback due) {
  timer_due_ns_ = NowNs() + after_ms * kNsPerMs;
  timer_ = std::move(due);
}

int EventLoop::MillisecondsToTimer() const {
  if (!timer_) return -1;
  const std::uint64_t now = NowNs();
  if (now >= timer_due_ns_) return 0;
  return static_cast<int>((timer_due_ns_ - now) / kNsPerMs + 1);
}

void EventLoop::RunOnce() {
  epoll_event events[kEventsAtOnce];
  const int n = epoll_wait(epoll_.get(), events, kEventsAtOnce, MillisecondsToTimer());
  BSP_CHECK(n >= 0 || errno == EINTR);
  for (int i = 0; i < n && !stopped_; ++i) {
    const auto found = callbacks_.find(events[i].data.fd);
    if (found == callbacks_.end()) continue;  // Forgotten by a callback before it.
    const Callback ready = found->second;     // It may forget itself.
    ready();
  }
  if (timer_ && NowNs() >= timer_due_ns_) std::exchange(timer_, nullptr)();
}

void EventLoop::Run() {
  while (!stopped_) RunOnce();
  stopped_ = false;
}

}  // namespace bspnow
