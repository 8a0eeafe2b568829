#include "worker/exchange/node_exchange.h"

#include <algorithm>

#include "base/check.h"

namespace bspnow::worker {

NodeExchange::NodeExchange(const NodeExchangePlan& plan)
    : plan_(plan), peers_(plan.hosts), barrier_(plan.first_barrier) {
  BSP_CHECK_OP(plan.self, <, plan.hosts);
  arrival_.frames.resize(plan.hosts);
}

// ---- Arrival and release ------------------------------------------------------------------------

NodeExchange::Actions NodeExchange::OnLocalArrival(const BarrierCounts& counts,
                                                   std::span<const std::uint64_t> frames) {
  BSP_CHECK(!arrived_);
  BSP_CHECK_OP(frames.size(), ==, peers_.size());
  arrived_ = true;
  arrival_.barrier = barrier_;
  arrival_.superstep = superstep();
  arrival_.counts = counts;
  std::copy(frames.begin(), frames.end(), arrival_.frames.begin());
  return Actions{.arrive = true};
}

NodeExchange::Actions NodeExchange::OnRelease(std::uint64_t barrier, const BarrierCounts& counts,
                                              std::span<const std::uint64_t> frames) {
  BSP_CHECK_OP(frames.size(), ==, peers_.size());
  if (barrier != barrier_ || !arrived_ || release_known_) return {};
  release_known_ = true;
  global_ = counts;
  for (std::size_t k = 0; k < peers_.size(); ++k) peers_[k].owed = frames[k];
  return ReleaseIfDue();
}

bool NodeExchange::MayRelease() const {
  if (!arrived_ || !release_known_) return false;
  if (!ends_superstep()) return true;
  const unsigned parity = superstep() & 1;
  return std::all_of(peers_.begin(), peers_.end(),
                     [parity](const Peer& peer) { return peer.received[parity] >= peer.owed; });
}

NodeExchange::Actions NodeExchange::ReleaseIfDue() {
  if (!MayRelease()) return {};
  Actions actions{.release = true};
  const std::uint64_t s = superstep();
  // All nodes have arrived in s; so all have what was sent in s - 1.
  if (pruned_ < s) {
    pruned_ = s;
    actions.prune = true;
  }
  if (ends_superstep()) {
    for (Peer& peer : peers_) {
      peer.received[s & 1] = 0;
      actions.take_answers |= peer.answered == s + 1;
    }
  }
  barrier_ += 1;
  arrived_ = false;
  release_known_ = false;
  return actions;
}

// No frame of these supersteps came, or was sent. A peer can be one barrier ahead, and have sent
// some of the next.
NodeExchange::Actions NodeExchange::OnPassed(std::uint64_t barrier) {
  if (arrived_ || barrier <= barrier_) return {};
  barrier_ = barrier;
  const std::uint64_t before = SuperstepOf(barrier - 1);
  if (pruned_ >= before) return {};
  pruned_ = before;
  return Actions{.prune = true};
}

NodeExchange::Actions NodeExchange::OnCoordinatorReconnected() {
  return Actions{.arrive = arrived_, .arrive_before = barrier_ != 0};
}

// ---- Frames -------------------------------------------------------------------------------------

NodeExchange::Verdict NodeExchange::Check(std::uint64_t superstep, FrameClass frame_class) const {
  const bool answers =
      frame_class == FrameClass::kAnswers || frame_class == FrameClass::kAnswersEnd;
  const std::uint64_t now = this->superstep();
  const std::uint64_t first = answers && now != 0 ? now - 1 : now;
  const std::uint64_t last = answers ? now : now + 1;
  if (superstep < first) return Verdict::kStale;
  return superstep > last ? Verdict::kImpossible : Verdict::kTake;
}

NodeExchange::Actions NodeExchange::OnFrame(std::uint32_t host, std::uint64_t superstep,
                                            FrameClass frame_class) {
  BSP_CHECK(Check(superstep, frame_class) == Verdict::kTake);
  Peer& peer = peers_[host];
  if (frame_class == FrameClass::kAnswers || frame_class == FrameClass::kArrival) return {};
  if (frame_class == FrameClass::kAnswersEnd) {
    peer.answered = superstep + 1;
    return Actions{.take_answers = superstep < this->superstep()};
  }
  peer.received[superstep & 1] += 1;
  if (frame_class == FrameClass::kGets) peer.asked[superstep & 1] = superstep + 1;
  return ReleaseIfDue();
}

// ---- Answers ------------------------------------------------------------------------------------

NodeExchange::Actions NodeExchange::OnLocalAnswers(std::uint64_t superstep) {
  if (superstep + 1 != this->superstep()) return {};
  answers_superstep_ = superstep;
  return Actions{.send_answers = true};
}

bool NodeExchange::Asked(std::uint32_t host) const {
  return peers_[host].asked[answers_superstep_ & 1] == answers_superstep_ + 1;
}

bool NodeExchange::TakeAnswered(std::uint32_t host) {
  Peer& peer = peers_[host];
  if (peer.answered == peer.answers_taken || peer.answered > superstep()) return false;
  peer.answers_taken = peer.answered;
  return true;
}

}  // namespace bspnow::worker
