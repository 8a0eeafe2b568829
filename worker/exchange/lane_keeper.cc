#include "worker/exchange/lane_keeper.h"

#include <utility>

namespace bspnow::worker {

bool LaneKeeper::Useful(const Kept& kept, std::uint32_t host, std::uint32_t released) const {
  return kept.any && lanes_.CanCome(kept.barrier, released) && lanes_.Lacks(host, kept.barrier);
}

bool LaneKeeper::UsefulAnswers(const Kept& kept, std::uint32_t host, std::uint32_t released) const {
  return kept.any && kept.barrier + 1 == released && lanes_.LacksAnswers(host, kept.barrier);
}

bool LaneKeeper::AnyUseful(std::uint32_t released) const {
  for (std::uint32_t host = 0; host < hosts_; ++host)
    if (UsefulAnswers(answers_[host], host, released)) return true;
  for (std::uint32_t host = 0; host < hosts_; ++host)
    for (const Kept& kept : repeated_[host])
      if (Useful(kept, host, released)) return true;
  return false;
}

bool LaneKeeper::OnRepeated(std::uint32_t host, std::uint32_t barrier, std::uint32_t released) {
  if (host >= hosts_ || host == self_) return false;
  const Kept kept{.any = true, .barrier = barrier};
  if (!Useful(kept, host, released)) return false;
  repeated_[host][barrier & 1] = kept;
  return true;
}

bool LaneKeeper::OnAnswers(std::uint32_t host, std::uint32_t barrier, std::uint32_t released) {
  if (host >= hosts_ || host == self_) return false;
  const Kept kept{.any = true, .barrier = barrier};
  if (!UsefulAnswers(kept, host, released)) return false;
  answers_[host] = kept;
  return true;
}

bool LaneKeeper::AllHaveCome(std::uint32_t released) const {
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    const auto& kept = repeated_[host];
    if (lanes_.Lacks(host, released) && !Useful(kept[0], host, released) &&
        !Useful(kept[1], host, released))
      return false;
  }
  return true;
}

// What is kept has come by a worker, and not by a lane, after a long wait. Answers come straight.
bool LaneKeeper::LanesFailed(std::uint32_t released, std::uint64_t now_ns) {
  if (!AllHaveCome(released)) {
    all_came_ns_.reset();
  } else if (!all_came_ns_) {
    all_came_ns_ = now_ns;
  }
  if (waits_ == Waits::kForNothing || now_ns - waits_since_ns_ < kPatienceNs) return false;
  return AnyUseful(released) &&
         (waits_ == Waits::kForAnswers || (all_came_ns_ && now_ns - *all_came_ns_ >= kOnTheWayNs));
}

LaneKeeper::Actions LaneKeeper::Look(std::uint32_t released, std::uint64_t now_ns) {
  if (!lanes_.on()) return {};
  Actions actions;
  const bool sent = lanes_.Sent(released) && !lanes_.LeftToWorker(released);
  // Who computes reads no lane: what has come is still there.
  const Waits waits = sent && !lanes_.Unattended(released)   ? Waits::kForFrames
                      : lanes_.LacksAnyAnswers(released - 1) ? Waits::kForAnswers
                                                             : Waits::kForNothing;
  if (waits != waits_ || released != waits_for_) {
    if (released != waits_for_) answers_repeated_ = false;
    waits_ = waits;
    waits_for_ = released;
    waits_since_ns_ = repeated_ns_ = now_ns;
    all_came_ns_.reset();
  }
  const bool broken = lanes_.state().broken.load(std::memory_order_acquire) != 0;
  if (const bool failed = LanesFailed(released, now_ns); !lanes_.off() && (broken || failed)) {
    lanes_.TurnOff();
    actions.shut_down = true;
  }
  if (lanes_.off() && !settled_ && lanes_.Abandoned()) {
    settled_ = true;
    actions.repeat = true;
    actions.look_again = true;
  }
  // Again and again: who had not come to the barrier then may have a frame for it now.
  if (waits_ != Waits::kForNothing && now_ns - repeated_ns_ >= kPatienceNs) actions.repeat = true;
  if (actions.repeat) repeated_ns_ = now_ns;
  // Who drove may have passed `released` before it stopped.
  if (!settled_ || actions.look_again) return actions;
  if (!answers_repeated_ && lanes_.HasAnswers(released - 1))
    actions.repeat_answers = answers_repeated_ = true;
  actions.install = AnyUseful(released);
  actions.complete = !actions.install && sent && lanes_.Complete(released);
  return actions;
}

bool LaneKeeper::TakeRepeated(std::uint32_t host, std::uint32_t parity, std::uint32_t released) {
  const Kept kept = std::exchange(repeated_[host][parity], Kept{});
  if (!Useful(kept, host, released)) return false;
  lanes_.NoteHere(host, kept.barrier);
  return true;
}

bool LaneKeeper::TakeAnswers(std::uint32_t host, std::uint32_t released) {
  const Kept kept = std::exchange(answers_[host], Kept{});
  if (!UsefulAnswers(kept, host, released)) return false;
  lanes_.NoteAnswersHere(host, kept.barrier);
  return true;
}

bool LaneKeeper::Repeatable(std::uint32_t barrier, std::uint32_t released) const {
  return lanes_.Composed(barrier) && (barrier == released || barrier + 1 == released);
}

}  // namespace bspnow::worker
