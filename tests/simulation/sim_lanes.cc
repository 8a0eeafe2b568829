#include "tests/simulation/sim_lanes.h"

#include <utility>

namespace bspnow {

void SimLanes::Join(const SimPlace& place, std::uint32_t hosts, SimLaneEnd& end,
                    SimLoop::ActorPtr actor) {
  nodes_[place] = Node{.end = &end,
                       .actor = std::move(actor),
                       .hosts = hosts,
                       .links = {},
                       .swallow_answers = {},
                       .swallow_heads = {}};
  for (std::uint32_t host = 0; host < hosts; ++host) {
    const SimPlace other{place.job, place.epoch, host};
    if (host == place.host || !nodes_.contains(other)) continue;
    if (loop_.Chance(1)) {
      oracle_.Count("lanes that never open");
      continue;
    }
    loop_.After(loop_.Below(30 * kMillisecond), [this, place, other] { Open(place, other); });
  }
}

void SimLanes::Open(const SimPlace& one, const SimPlace& other) {
  const auto first = nodes_.find(one.host < other.host ? one : other);
  const auto second = nodes_.find(one.host < other.host ? other : one);
  if (first == nodes_.end() || second == nodes_.end()) return;
  const auto link = SimLink::Make(loop_, {first->second.actor, second->second.actor});
  for (const auto& [here, there] : {std::pair(first, second), std::pair(second, first)}) {
    const SimPlace place = here->first;
    const std::uint32_t to = there->first.host;
    here->second.links[to] = link;
    link->OnBroken(EndOf(place.host, to), [this, place, to](const std::shared_ptr<SimLink>&) {
      if (const auto found = nodes_.find(place); found != nodes_.end())
        found->second.end->OnLaneBroken(to);
    });
  }
}

void SimLanes::ShutDown(const SimPlace& place) {
  const auto found = nodes_.find(place);
  if (found == nodes_.end()) return;
  for (const auto& [host, link] : found->second.links) link->Close(EndOf(place.host, host));
}

void SimLanes::Leave(const SimPlace& place) {
  ShutDown(place);
  nodes_.erase(place);
}

bool SimLanes::Ready(const SimPlace& place) const {
  const auto found = nodes_.find(place);
  return found != nodes_.end() && found->second.links.size() + 1 == found->second.hosts;
}

void SimLanes::Send(const SimPlace& from, std::uint32_t to_host, SimLaneFramePtr frame) {
  const auto found = nodes_.find(from);
  if (found == nodes_.end()) return;
  const auto link = found->second.links.find(to_host);
  if (link == found->second.links.end()) return;
  if (frame->answers && found->second.swallow_answers.contains(to_host)) {
    oracle_.Count("answers that lanes swallow");
    link->second->Swallow(EndOf(from.host, to_host));
  }
  if (frame->host != from.host && found->second.swallow_heads.contains(to_host)) {
    oracle_.Count("heads of others that lanes swallow");
    link->second->Swallow(EndOf(from.host, to_host));
  }
  const SimPlace to{from.job, from.epoch, to_host};
  link->second->Send(EndOf(from.host, to_host), [this, from, to, frame = std::move(frame)] {
    if (const auto node = nodes_.find(to); node != nodes_.end())
      node->second.end->OnLaneFrame(from.host, frame);
  });
}

void SimLanes::Disturb() {
  struct Direction {
    Node* node;
    std::uint32_t to;
    SimLink* link;
    SimLink::End from;
  };
  std::vector<Direction> all;
  for (auto& [place, node] : nodes_) {
    for (const auto& [host, link] : node.links) {
      const SimLink::End end = EndOf(place.host, host);
      if (!link->broken(end)) all.push_back({&node, host, link.get(), end});
    }
  }
  if (all.empty()) return;
  const auto& [node, to, to_break, from] = all[loop_.Below(all.size())];
  SimLink& link = *to_break;
  const std::uint64_t what = loop_.Below(100);
  if (what < 20) {
    oracle_.Count("lanes broken");
    link.Break();
  } else if (what < 40) {
    node->swallow_answers.insert(to);
  } else if (what < 60) {
    node->swallow_heads.insert(to);
  } else if (what < 70) {
    oracle_.Count("lanes that swallow");
    link.Swallow(from);
  } else {
    oracle_.Count("lanes stalled");
    link.Stall(from, loop_.now_ns() + loop_.Below(5 * kSecond));
  }
}

}  // namespace bspnow
