#include "tests/simulation/sim_lanes.h"

#include <iterator>
#include <utility>

namespace bspnow {
namespace {

constexpr std::size_t kBytesOfPuts = 1000;  // Of one process to another in a superstep, and more.
constexpr std::uint64_t kMovedNs = 5 * kSecond;

}  // namespace

void SimLanes::Join(const SimPlace& place, const BulkPlan& plan, SimLaneEnd& end,
                    SimLoop::ActorPtr actor) {
  nodes_[place] = Node{.end = &end,
                       .actor = std::move(actor),
                       .plan = plan,
                       .links = {},
                       .bulk = {},
                       .swallow_answers = {},
                       .swallow_heads = {}};
  for (std::uint32_t host = 0; host < plan.hosts; ++host) {
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
  const SimLink::Ends ends = {first->second.actor, second->second.actor};
  const auto link = SimLink::Make(loop_, ends);
  for (const auto& [here, there] : {std::pair(first, second), std::pair(second, first)}) {
    const SimPlace place = here->first;
    const std::uint32_t to = there->first.host;
    here->second.links[to] = link;
    link->OnBroken(EndOf(place.host, to), [this, place, to](const std::shared_ptr<SimLink>&) {
      if (const auto found = nodes_.find(place); found != nodes_.end())
        found->second.end->OnLaneBroken(to);
    });
  }
  for (std::uint32_t i = first->second.plan.Between(one.host, other.host); i > 0; --i) {
    const auto pipe = SimPipe::Make(loop_, ends);
    first->second.bulk[second->first.host].push_back(pipe);
    second->second.bulk[first->first.host].push_back(pipe);
  }
}

void SimLanes::ShutDown(const SimPlace& place) {
  const auto found = nodes_.find(place);
  if (found == nodes_.end()) return;
  for (const auto& [host, link] : found->second.links) link->Close(EndOf(place.host, host));
  for (const auto& [host, pipes] : found->second.bulk)
    for (const auto& pipe : pipes) pipe->ShutDown(EndOf(place.host, host));
}

void SimLanes::OnMoved(const SimPlace& place) {
  const auto found = nodes_.find(place);
  if (found == nodes_.end()) return;
  for (const auto& [host, link] : found->second.links) link->LoseAll(loop_.Below(kMovedNs));
  for (const auto& [host, pipes] : found->second.bulk)
    for (const auto& pipe : pipes)
      for (const SimLink::End end : {SimLink::kCaller, SimLink::kCalled})
        pipe->Disturb(end, SimPipe::Fault::kSwallow, 0);
}

void SimLanes::Leave(const SimPlace& place) {
  ShutDown(place);
  nodes_.erase(place);
}

bool SimLanes::Ready(const SimPlace& place) const {
  const auto found = nodes_.find(place);
  return found != nodes_.end() && found->second.links.size() + 1 == found->second.plan.hosts;
}

std::shared_ptr<SimPipe> SimLanes::Bulk(const SimPlace& place, std::uint32_t to_host,
                                        std::uint32_t number) const {
  return nodes_.at(place).bulk.at(to_host).at(number);
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

// A byte that changes is found by its checksum, as long as puts have any (BulkEnd::Payloads).
void SimLanes::DisturbBulk() {
  std::vector<std::pair<SimPipe*, SimLink::End>> all;
  for (const auto& [place, node] : nodes_)
    for (const auto& [host, pipes] : node.bulk)
      for (const auto& pipe : pipes)
        if (const SimLink::End end = EndOf(place.host, host); !pipe->over(end))
          all.emplace_back(pipe.get(), end);
  if (all.empty()) return;
  using Fault = SimPipe::Fault;
  constexpr std::pair<const char*, Fault> kFaults[] = {
      {"bulk lanes broken", Fault::kBreak},
      {"bulk lanes that swallow", Fault::kSwallow},
      {"bulk lanes stalled", Fault::kStall},
      {"bulk lanes with a damaged byte", Fault::kDamage}};
  const auto& [pipe, from] = all[loop_.Below(all.size())];
  const auto& [what, fault] = kFaults[loop_.Below(std::size(kFaults))];
  oracle_.Count(what);
  pipe->Disturb(from, fault, loop_.Below(kBytesOfPuts));
}

void SimLanes::Disturb() {
  if (loop_.Chance(40)) return DisturbBulk();
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
