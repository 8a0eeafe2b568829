// Heads of lanes, and frames that are the same for all, that a node sends on to others, as libbsp's
// LaneDriver does it.
#include <algorithm>

#include "tests/simulation/sim_node.h"

namespace bspnow {
namespace {

// As who sends it on sends it to that host.
SimLaneFramePtr SentOn(const SimLaneFrame& frame, std::uint32_t to) {
  return std::make_shared<SimLaneFrame>(
      SimLaneFrame{.host = frame.host,
                   .barrier = frame.barrier,
                   .direct = frame.direct,
                   .counts = frame.counts,
                   .messages = frame.same == nullptr ? std::vector<SimFrame>{} : (*frame.same)[to],
                   .same = frame.same});
}

}  // namespace

// As OwesAllTheSame may have it. Here each message has its own number, and no bytes.
bool SimNode::SaysTheSame() {
  const auto asks = [](const Outgoing& outgoing) { return outgoing.message.get; };
  return hosts() > 2 && (!outbox_.empty() || arrived_counts_.votes != 0) &&
         std::none_of(outbox_.begin(), outbox_.end(), asks) && loop_.Chance(50);
}

// By who sends or drives: what is due to one of the others.
bool SimNode::SendOn(std::uint32_t barrier) {
  LaneRelay relay;
  if (lane_.broken() || !lane_.TakeRelay(barrier, relay)) return false;
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if ((relay.heads >> host & 1) == 0) continue;
    const LaneOfHost& of = lane_hosts_[host];
    const SimLaneFrame& frame = *(host == self() ? of.out : of.in)[barrier & 1];
    if (host != self())
      oracle_.Count(frame.same ? "frames sent on by lanes" : "heads sent on by lanes");
    sent_on_.insert({relay.to, host});
    lanes_.Send(Place(self()), relay.to, SentOn(frame, relay.to));
  }
  if (lane_hosts_[relay.to].broken) NoteBroken();
  return true;
}

// All heads for which another node looks to this one. Its processes are about to compute, and it
// would wait until it loses its patience.
bool SimNode::HasSentOn(std::uint32_t barrier) const {
  LaneState nothing_here{};
  for (std::uint32_t to = 0; to < hosts(); ++to) {
    const LaneBarrier other(nothing_here, to, hosts());
    for (std::uint32_t host = 0; host < hosts(); ++host) {
      if (host == to || to == self() || other.SourceOf(host) != self()) continue;
      const LaneOfHost& of = lane_hosts_[host];
      const SimLaneFrame& frame = *(host == self() ? of.out : of.in)[barrier & 1];
      if ((frame.direct >> to & 1) == 0 && !sent_on_.contains({to, host})) return false;
    }
  }
  return true;
}

}  // namespace bspnow
