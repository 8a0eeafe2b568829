#include "net/event_loop.h"

#include <errno.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"

namespace bspnow {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::uint32_t kPollerTurns = 8;  // Of pollers in a row before descriptors are looked at.
constexpr std::uint32_t kReadable = EPOLLIN;
constexpr std::uint32_t kWritable = EPOLLOUT;

// An event may name a descriptor that was forgotten by a callback just before, and whose number is
// used again: the serial shows it.
std::uint64_t EventData(int fd, std::uint32_t serial) {
  return std::uint64_t{serial} << 32 | static_cast<std::uint32_t>(fd);
}

}  // namespace

EventLoop::EventLoop()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), posted_bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  BSP_CHECK(epoll_.valid());
  BSP_CHECK(posted_bell_.valid());
  OnReadable(posted_bell_.get(), [this] { HandlePosted(); });
}

EventLoop::~EventLoop() = default;

EventLoop::Watch& EventLoop::WatchOf(int fd) {
  const auto [found, fresh] = watches_.try_emplace(fd);
  if (fresh) found->second.serial = ++last_serial_;
  return found->second;
}

bool EventLoop::SetInterest(int fd, Watch& watch) {
  const std::uint32_t wanted = (watch.readable ? kReadable : 0) | (watch.writable ? kWritable : 0);
  if (wanted == watch.events) return true;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = EventData(fd, watch.serial);
  const int operation = watch.events == 0 ? EPOLL_CTL_ADD
                        : wanted == 0     ? EPOLL_CTL_DEL
                                          : EPOLL_CTL_MOD;
  if (epoll_ctl(epoll_.get(), operation, fd, &event) != 0) {
    BSP_CHECK_OP(errno, ==, EPERM);  // A regular file: always ready, cannot be waited for.
    return false;
  }
  watch.events = wanted;
  return true;
}

void EventLoop::OnReadable(int fd, Callback ready) {
  Watch& watch = WatchOf(fd);
  watch.readable = std::make_shared<const Callback>(std::move(ready));
  BSP_CHECK(SetInterest(fd, watch));
}

bool EventLoop::OnWritable(int fd, Callback ready) {
  Watch& watch = WatchOf(fd);
  watch.writable = std::make_shared<const Callback>(std::move(ready));
  if (SetInterest(fd, watch)) return true;
  watches_.erase(fd);
  return false;
}

void EventLoop::StopReading(int fd) {
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return;
  found->second.readable.reset();
  SetInterest(fd, found->second);
  if (found->second.events == 0) watches_.erase(found);
}

void EventLoop::StopWriting(int fd) {
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return;
  found->second.writable.reset();
  SetInterest(fd, found->second);
  if (found->second.events == 0) watches_.erase(found);
}

void EventLoop::Forget(int fd) {
  if (watches_.erase(fd) != 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

TimerId EventLoop::AddTimer(std::uint64_t after_ms, Callback due) {
  const TimerId timer{++last_timer_};
  const std::uint64_t due_ns = NowNs() + after_ms * kNsPerMs;
  timers_.emplace(TimerKey{due_ns, timer}, std::move(due));
  timer_due_ns_.emplace(timer, due_ns);
  return timer;
}

void EventLoop::CancelTimer(TimerId timer) {
  const auto found = timer_due_ns_.find(timer);
  if (found == timer_due_ns_.end()) return;
  timers_.erase(TimerKey{found->second, timer});
  timer_due_ns_.erase(found);
}

void EventLoop::Post(Callback work) {
  {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(work));
    if (posted_.size() > 1) return;  // The bell has been rung and not been answered.
  }
  eventfd_write(posted_bell_.get(), 1);
}

void EventLoop::AddPoller(Poller& poller) { pollers_.push_back(&poller); }

void EventLoop::RemovePoller(Poller& poller) {
  const auto found = std::find(pollers_.begin(), pollers_.end(), &poller);
  if (found == pollers_.end()) return;
  if (in_pollers_) {
    *found = nullptr;
  } else {
    pollers_.erase(found);
  }
}

void EventLoop::HandlePosted() {
  eventfd_t rings = 0;
  eventfd_read(posted_bell_.get(), &rings);
  std::vector<Callback> work;
  {
    const std::lock_guard lock(posted_mutex_);
    work.swap(posted_);
  }
  for (Callback& callback : work) callback();
}

bool EventLoop::HandleTimers() {
  if (timers_.empty()) return false;
  const std::uint64_t now = NowNs();
  bool any = false;
  while (!timers_.empty() && !stopped_) {
    const auto first = timers_.begin();
    const auto [due_ns, timer] = first->first;
    if (due_ns > now) break;
    const Callback due = std::move(first->second);
    timers_.erase(first);
    timer_due_ns_.erase(timer);
    due();
    any = true;
  }
  return any;
}

bool EventLoop::RunPollers() {
  bool any = false;
  in_pollers_ = true;
  for (std::size_t i = 0; i < pollers_.size(); ++i) {
    if (pollers_[i] != nullptr && pollers_[i]->Poll()) any = true;
  }
  in_pollers_ = false;
  std::erase(pollers_, nullptr);
  return any;
}

EventLoop::Watch* EventLoop::Find(std::uint64_t event_data) {
  const auto found = watches_.find(static_cast<int>(event_data & 0xffffffff));
  if (found == watches_.end() || found->second.serial != event_data >> 32) return nullptr;
  return &found->second;
}

void EventLoop::Dispatch(std::uint64_t event_data, std::uint32_t events) {
  const std::uint32_t broken = events & (EPOLLERR | EPOLLHUP);
  // A callback may forget any descriptor, its own too: so each interest is looked up anew.
  Watch* watch = Find(event_data);
  if (watch != nullptr && watch->readable && (events & kReadable || broken)) {
    const std::shared_ptr<const Callback> ready = watch->readable;
    (*ready)();
    watch = Find(event_data);
  }
  if (watch != nullptr && watch->writable && (events & kWritable || broken)) {
    const std::shared_ptr<const Callback> ready = watch->writable;
    (*ready)();
  }
}

int EventLoop::Wait(std::span<epoll_event> events, int timeout_ms) {
  const int n =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  BSP_CHECK(n >= 0 || errno == EINTR);
  return std::max(n, 0);
}

void EventLoop::DispatchAll(std::span<const epoll_event> events) {
  for (const epoll_event& event : events) {
    if (stopped_) return;
    Dispatch(event.data.u64, event.events);
  }
}

int EventLoop::MillisecondsToTimer() const {
  if (timers_.empty()) return -1;
  const std::uint64_t now = NowNs();
  const std::uint64_t due_ns = timers_.begin()->first.first;
  if (now >= due_ns) return 0;
  return static_cast<int>((due_ns - now) / kNsPerMs + 1);
}

// Returns once there was something to handle, or the budget is used up.
bool EventLoop::PollForWork() {
  epoll_event events[kEventsAtOnce];
  for (;;) {
    // What a poller did has made work for another thread, which may wait for this processor; and
    // descriptors are looked at often enough.
    const bool polled = RunPollers();
    if (polled && ++poller_turns_ % kPollerTurns != 0) {
      budget_.OnWork(NowNs());
      sched_yield();
      return true;
    }
    const int n = Wait(events, 0);
    DispatchAll(std::span(events).first(static_cast<std::size_t>(n)));
    const bool any = HandleTimers() || polled || n > 0;
    const std::uint64_t now = NowNs();
    if (any) budget_.OnWork(now);
    if (any || stopped_) return true;
    if (!budget_.KeepPolling(now)) return false;
    sched_yield();
  }
}

void EventLoop::Block() {
  bool come = false;
  for (Poller* poller : pollers_) {
    if (poller->PrepareToSleep()) come = true;
  }
  epoll_event events[kEventsAtOnce];
  const int n = Wait(events, come ? 0 : MillisecondsToTimer());
  for (Poller* poller : pollers_) poller->Awake();
  if (n > 0 || come) budget_.OnWork(NowNs());
  DispatchAll(std::span(events).first(static_cast<std::size_t>(n)));
}

void EventLoop::RunOnce() {
  if (!pollers_.empty() || (polling_ && budget_.budget_ns() != 0)) {
    if (PollForWork()) return;
    budget_.OnBlock();
  }
  Block();
  HandleTimers();
}

void EventLoop::Run() {
  while (!stopped_) RunOnce();
  stopped_ = false;
}

}  // namespace bspnow
