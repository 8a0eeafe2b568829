#include "tests/simulation/sim_loop.h"

#include <algorithm>
#include <utility>

namespace bspnow {

bool SimLoop::Later(const Due& a, const Due& b) {
  return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.order > b.order;
}

void SimLoop::On(const ActorPtr& actor, std::uint64_t delay_ns, Event event) {
  heap_.push_back({now_ns_ + delay_ns, ++last_order_, actor, std::move(event)});
  std::push_heap(heap_.begin(), heap_.end(), Later);
}

void SimLoop::Pause(const ActorPtr& actor, std::uint64_t ns) {
  actor->pauses += 1;
  After(ns, [actor] {
    // One of them may pause it again, and the others wait for that, too.
    for (actor->pauses -= 1; actor->pauses == 0 && !actor->missed.empty();) {
      const Event event = std::move(actor->missed.front());
      actor->missed.pop_front();
      event();
    }
  });
}

bool SimLoop::RunNext() {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  Due due = std::move(heap_.back());
  heap_.pop_back();
  now_ns_ = due.time_ns;
  if (due.actor && due.actor->pauses != 0) {
    due.actor->missed.push_back(std::move(due.event));
  } else {
    due.event();
  }
  return true;
}

// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t SimLoop::Below(std::uint64_t end) {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % end;
}

std::uint64_t SimLoop::Delay() {
  const std::uint64_t short_ns = 10 * kMicrosecond + Below(200 * kMicrosecond);
  if (!Chance(5)) return short_ns;
  return short_ns + Below(Chance(10) ? 3 * kSecond : 30 * kMillisecond);
}

}  // namespace bspnow
