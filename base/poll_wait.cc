#include "base/poll_wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

namespace bspnow {
namespace {

bool Reached(std::uint32_t value, std::uint32_t target) {
  return static_cast<std::int32_t>(value - target) >= 0;
}

long Futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value,
           const timespec* time_limit) {
  return syscall(SYS_futex, word, operation, value, time_limit, nullptr, 0);
}

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <typename Done>
void PollThenLook(const Done& done) {
  constexpr std::uint64_t kWordPollNs = 200'000;
  constexpr timespec kBetweenLooks{.tv_sec = 0, .tv_nsec = 50'000};
  if (done()) return;
  const std::uint64_t start = NowNs();
  do {
    sched_yield();
    if (done()) return;
  } while (NowNs() - start < kWordPollNs);
  while (!done()) nanosleep(&kBetweenLooks, nullptr);
}

}  // namespace

void SharedCounter::Publish(std::uint32_t next) {
  value.store(next, std::memory_order_seq_cst);
  Wake();
}

void SharedCounter::Advance() {
  value.fetch_add(1, std::memory_order_seq_cst);
  Wake();
}

void SharedCounter::Wake() {
  if (sleepers.load(std::memory_order_seq_cst) != 0) Futex(&value, FUTEX_WAKE, INT_MAX, nullptr);
}

// Nobody waits for a value so long past, so nobody is woken.
void SharedCounter::KeepUp(std::uint32_t now) {
  constexpr std::uint32_t kFar = std::uint32_t{1} << 30;
  std::uint32_t seen = value.load(std::memory_order_relaxed);
  if (!Reached(now, seen + kFar)) return;
  value.compare_exchange_strong(seen, now - kFar / 2, std::memory_order_seq_cst);
}

void PollWait::Until(SharedCounter& counter, std::uint32_t target) {
  Await(counter, [target](std::uint32_t value) { return Reached(value, target); });
}

bool PollWait::UntilNews(SharedCounter& counter, std::uint32_t target, const Watched& news) {
  Await(counter,
        [target, &news](std::uint32_t value) { return Reached(value, target) || news.Changed(); });
  return Reached(counter.value.load(std::memory_order_acquire), target);
}

bool PollWait::UntilNews(SharedCounter& counter, std::uint32_t target, const Watched& news,
                         const SideWork& side) {
  for (std::uint32_t i = 0; i < spins_; ++i) {
    const std::uint32_t seen = counter.value.load(std::memory_order_acquire);
    if (Reached(seen, target) || news.Changed()) return Reached(seen, target);
    Pause();
  }
  const std::uint64_t start = NowNs();
  std::uint64_t polls_since = start;
  bool slept = false;
  for (;;) {
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t seen = counter.value.load(std::memory_order_acquire);
      if (Reached(seen, target) || news.Changed()) {
        if (slept) AdaptToSleep(start);
        return Reached(seen, target);
      }
      sched_yield();
    }
    const std::uint64_t now = NowNs();
    const std::uint64_t rest = side.SeeTo(now);
    if (rest == 0) polls_since = now;
    if (now - polls_since < poll_ns_) continue;
    slept = true;
    if (side.Sleep()) continue;
    SleepAtMost(counter, rest,
                [&](std::uint32_t value) { return Reached(value, target) || news.Changed(); });
    side.Awake();
  }
}

template <typename Done>
void PollWait::Await(SharedCounter& counter, const Done& done) {
  if (__builtin_expect(turn_.taken(), 0)) {
    while (!done(counter.value.load(std::memory_order_acquire))) turn_.Pass();
    return;
  }
  for (std::uint32_t i = 0; i < spins_; ++i) {
    if (done(counter.value.load(std::memory_order_acquire))) return;
    Pause();
  }
  if (done(counter.value.load(std::memory_order_acquire))) return;
  const std::uint64_t start = NowNs();
  do {
    for (int i = 0; i < 8; ++i) {
      sched_yield();
      if (done(counter.value.load(std::memory_order_acquire))) {
        poll_ns_ = poll_ns_ * 2 < poll_ns_max_ ? poll_ns_ * 2 : poll_ns_max_;
        return;
      }
    }
  } while (NowNs() - start < poll_ns_);
  Sleep(counter, done);
  AdaptToSleep(start);
}

void PollWait::AdaptToSleep(std::uint64_t start_ns) {
  // A little more patience would have done: then be patient from now on. A bound that only shrank
  // would keep everybody sleeping who waits for others that sleep.
  if (NowNs() - start_ns < poll_ns_max_) {
    poll_ns_ = poll_ns_max_;
  } else {
    poll_ns_ = poll_ns_ / 2 > kPollNsMin ? poll_ns_ / 2 : kPollNsMin;
  }
}

template <typename Done>
void PollWait::SleepAtMost(SharedCounter& counter, std::uint64_t ns, const Done& done) {
  const timespec limit{.tv_sec = static_cast<time_t>(ns / kNsPerS),
                       .tv_nsec = static_cast<long>(ns % kNsPerS)};
  counter.sleepers.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t seen = counter.value.load(std::memory_order_seq_cst);
  if (!done(seen)) Futex(&counter.value, FUTEX_WAIT, seen, &limit);
  counter.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

template <typename Done>
void PollWait::Sleep(SharedCounter& counter, const Done& done) {
  counter.sleepers.fetch_add(1, std::memory_order_seq_cst);
  for (;;) {
    const std::uint32_t seen = counter.value.load(std::memory_order_seq_cst);
    if (done(seen)) break;
    Futex(&counter.value, FUTEX_WAIT, seen, nullptr);
  }
  counter.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void WaitWhile(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  const Watched watched{word, value};
  PollThenLook([&watched] { return watched.Changed(); });
}

void WaitWhile(const Watched& one, const Watched& other) {
  PollThenLook([&one, &other] { return one.Changed() || other.Changed(); });
}

void WaitWhile(const Watched& one, const Watched& other, const SideWork& side) {
  PollThenLook([&] {
    while (side.any() && side.SeeTo(NowNs()) == 0) continue;
    return one.Changed() || other.Changed();
  });
}

}  // namespace bspnow
