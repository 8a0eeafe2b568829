#include "coordinator/core/peer_news.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "proto/workers.pb.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kTellMs = 200;
/// In one turn: with 1,000 workers each of them takes 0.1 ms.
constexpr std::size_t kNewcomersAtOnce = 32;

void AddPeer(WorkerId worker, const Node& node, proto::PeersChanged& change) {
  proto::Peer& peer = *change.add_came();
  peer.set_worker(Value(worker));
  peer.set_data_address(node.registration.data_address());
}

}  // namespace

void PeerNews::OnUp(WorkerId worker) {
  came_.insert(worker);
  newcomers_.insert(worker);
  TellSoon();
}

void PeerNews::OnLost(WorkerId worker) {
  newcomers_.erase(worker);
  if (came_.erase(worker) != 0) return;
  left_.insert(worker);
  TellSoon();
}

// As one that has gone and come: whatever was found out about its old address is void.
void PeerNews::OnMoved(WorkerId worker) {
  if (came_.insert(worker).second) left_.insert(worker);
  TellSoon();
}

void PeerNews::TellSoon() {
  if (timer_ == kNoCoreTimer) timer_ = timers_.AddTimer(kTellMs, [this] { Tell(); });
}

void PeerNews::Tell() {
  timer_ = kNoCoreTimer;
  proto::Order news;
  for (const WorkerId worker : std::exchange(came_, {}))
    AddPeer(worker, *nodes_.Find(worker), *news.mutable_peers_changed());
  for (const WorkerId worker : std::exchange(left_, {}))
    news.mutable_peers_changed()->add_left(Value(worker));
  proto::Order all;
  if (!newcomers_.empty())
    for (const auto& [worker, node] : nodes_.up())
      AddPeer(worker, *node, *all.mutable_peers_changed());
  std::size_t told = 0;
  for (const auto& [worker, node] : nodes_.up()) {
    if (!newcomers_.contains(worker)) {
      if (news.has_peers_changed()) node->Order(news);
    } else if (told < kNewcomersAtOnce) {
      newcomers_.erase(worker);
      node->Order(all);
      told += 1;
    }
  }
  if (!newcomers_.empty()) TellSoon();
}

}  // namespace bspnow::coordinator
