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
  if (actor->pauses++ == 0) actor->paused_since_ns = now_ns_;
  After(ns, [this, actor] {
    if (--actor->pauses == 0) actor->paused_ns += now_ns_ - actor->paused_since_ns;
    GoOn(actor);
  });
}

void SimLoop::SlowDown(const ActorPtr& actor, std::uint64_t ns, std::uint64_t event_ns) {
  actor->slow_until_ns = now_ns_ + ns;
  actor->event_ns = event_ns;
}

// One of them may pause it again, or keep it busy, and the others wait for that, too.
void SimLoop::GoOn(const ActorPtr& actor) {
  while (actor->pauses == 0 && !actor->busy && !actor->missed.empty()) {
    const Event event = std::move(actor->missed.front());
    actor->missed.pop_front();
    Run(actor, event);
  }
}

void SimLoop::Run(const ActorPtr& actor, const Event& event) {
  event();
  if (!actor || now_ns_ >= actor->slow_until_ns) return;
  actor->busy = true;
  After(Below(actor->event_ns), [this, actor] {
    actor->busy = false;
    GoOn(actor);
  });
}

bool SimLoop::RunNext() {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  Due due = std::move(heap_.back());
  heap_.pop_back();
  now_ns_ = due.time_ns;
  if (due.actor && (due.actor->pauses != 0 || due.actor->busy)) {
    due.actor->missed.push_back(std::move(due.event));
  } else {
    Run(due.actor, due.event);
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
