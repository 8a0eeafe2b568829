#include "base/turn.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kReadWithinNs = 2'000'000'000;
constexpr timespec kBetweenLooks{.tv_sec = 0, .tv_nsec = 50'000};

bool HoldsUnread(int descriptor) {
  struct stat status;
  int bytes = 0;
  return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) &&
         ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0;
}

}  // namespace

// All accesses are sequentially consistent: of a process that leaves while the turn is handed to it
// either the giver sees that it has left, or Leave that it has the turn.

void Turn::Await() const {
  std::atomic<std::uint32_t>& bell = places_[self_].bell;
  for (;;) {
    const std::uint32_t heard = bell.load();
    if (order_->holder.load() == self_) return;
    syscall(SYS_futex, &bell, FUTEX_WAIT, heard, nullptr, nullptr, 0);
  }
}

// A pipe is read by the launcher, at once; or by somebody to whom the program has turned it, and
// who may not read at all.
void Turn::AwaitReaders() {
  for (int i = 0; i < kOutputs; ++i) {
    const int descriptor = STDOUT_FILENO + i;
    if (unread_[i] || !HoldsUnread(descriptor)) continue;
    const std::uint64_t start_ns = NowNs();
    while (HoldsUnread(descriptor) && !unread_[i]) {
      nanosleep(&kBetweenLooks, nullptr);  // A reader wakes nobody.
      unread_[i] = NowNs() - start_ns > kReadWithinNs;
    }
  }
}

void Turn::BeginAnew() {
  AwaitReaders();
  Hand(self_, count_ - 1);
  Await();
}

void Turn::Yield() {
  if (taken()) return Pass();
  sched_yield();
}

void Turn::Leave() const {
  places_[self_].left.store(1);
  Hand(self_, self_);
  // It may have died between giving the turn away and waking who got it.
  Ring(order_->holder.load());
}

// The next one that has not left; `number` itself if there is none.
std::uint32_t Turn::After(std::uint32_t number) const {
  std::uint32_t next = number;
  do {
    next = next + 1 == count_ ? 0 : next + 1;
  } while (next != number && places_[next].left.load() != 0);
  return next;
}

// If `from` has the turn, the next one after `after` has it afterwards.
void Turn::Hand(std::uint32_t from, std::uint32_t after) const {
  for (;;) {
    const std::uint32_t next = After(after);
    std::uint32_t expected = from;
    if (next == from || !order_->holder.compare_exchange_strong(expected, next)) return;
    Ring(next);
    if (places_[next].left.load() == 0) return;
    from = after = next;
  }
}

// The number may be anything: the processes can write the order.
void Turn::Ring(std::uint32_t number) const {
  if (number >= count_) return;
  std::atomic<std::uint32_t>& bell = places_[number].bell;
  bell.fetch_add(1);
  syscall(SYS_futex, &bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace bspnow
