#include "worker/core/peer_watch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/units.h"

namespace bspnow::worker {
namespace {

constexpr std::uint32_t kProbesAtOnce = 8;
constexpr std::uint64_t kFirstDelayNs = kNsPerS;      // After a failure, doubled each time,
constexpr std::uint64_t kLastDelayNs = 60 * kNsPerS;  // up to this.
constexpr std::uint64_t kFirstRestNs = 5 * kNsPerS;   // The same, after an exchange.
constexpr std::uint64_t kLastRestNs = 300 * kNsPerS;

std::uint64_t Doubled(std::uint64_t first_ns, std::uint32_t times, std::uint64_t last_ns) {
  return std::min(first_ns << std::min(times, 10u), last_ns);
}

}  // namespace

void PeerWatch::OnRegistered(WorkerId self) {
  self_ = self;
  up_.clear();
  watched_.clear();
  failed_exchanges_.clear();
  silent_.clear();
  under_way_ = 0;
  changed_ = false;
}

void PeerWatch::OnPeersChanged(const proto::PeersChanged& change, std::uint64_t now_ns) {
  for (const std::uint32_t worker : change.left()) {
    const auto found = watched_.find(WorkerId{worker});
    up_.erase(WorkerId{worker});
    failed_exchanges_.erase(WorkerId{worker});
    if (found == watched_.end()) continue;
    changed_ |= IsUnreachable(found->second);
    under_way_ -= found->second.under_way ? 1 : 0;
    watched_.erase(found);
  }
  for (const proto::Peer& peer : change.came()) {
    const WorkerId worker{peer.worker()};
    if (worker != self_ && up_.emplace(worker, peer.data_address()).second) watched_[worker] = {};
  }
  BeginProbes(now_ns);
}

void PeerWatch::OnExchangeFailed(WorkerId peer, const std::string& reason, std::uint64_t now_ns) {
  if (!up_.contains(peer)) return;
  Watched& watched = watched_[peer];
  under_way_ -= watched.under_way ? 1 : 0;  // What it finds does not count any more.
  const std::uint32_t earlier = failed_exchanges_[peer]++;
  watched = {.failures = std::max(watched.failures, 2u),
             .reason = reason,
             .due_ns = now_ns + Doubled(kFirstRestNs, earlier, kLastRestNs)};
  Report();
}

void PeerWatch::OnProbed(const PeerAddress& peer, const std::string& failure,
                         std::uint64_t now_ns) {
  const auto found = watched_.find(peer.worker);
  if (found == watched_.end() || !found->second.under_way) return;
  if (up_.at(peer.worker) != peer.data_address) return;  // It has moved meanwhile.
  Watched& watched = found->second;
  watched.under_way = false;
  under_way_ -= 1;
  if (failure.empty()) {
    changed_ |= IsUnreachable(watched);
    watched_.erase(found);
  } else {
    watched.due_ns = now_ns + Doubled(kFirstDelayNs, watched.failures, kLastDelayNs);
    watched.failures += 1;
    changed_ |= IsUnreachable(watched) && (watched.failures == 2 || watched.reason != failure);
    watched.reason = failure;
  }
  BeginProbes(now_ns);
}

void PeerWatch::Look(const std::set<WorkerId>& silent, std::uint64_t now_ns) {
  for (const WorkerId peer : silent)
    if (up_.contains(peer) && !silent_.contains(peer)) watched_.try_emplace(peer);
  for (const WorkerId peer : silent_) {
    // After an exchange has failed the end of the silence may be that nothing waits any more.
    const auto found = watched_.find(peer);
    if (found != watched_.end() && !silent.contains(peer) && !failed_exchanges_.contains(peer))
      found->second.due_ns = now_ns;
  }
  silent_ = silent;
  BeginProbes(now_ns);
  if (changed_) Report();
}

// In latin-square order, so that not all probe one at first.
void PeerWatch::BeginProbes(std::uint64_t now_ns) {
  auto next = watched_.upper_bound(self_);
  for (std::size_t i = 0; i < watched_.size() && under_way_ < kProbesAtOnce; ++i, ++next) {
    if (next == watched_.end()) next = watched_.begin();
    Watched& watched = next->second;
    if (watched.under_way || watched.due_ns > now_ns) continue;
    watched.under_way = true;
    under_way_ += 1;
    probe_({next->first, up_.at(next->first)});
  }
}

void PeerWatch::Report() {
  changed_ = false;
  proto::WorkerEvent event;
  proto::PeersProbed& probed = *event.mutable_peers_probed();
  for (const auto& [worker, watched] : watched_) {
    if (!IsUnreachable(watched)) continue;
    proto::UnreachablePeer& peer = *probed.add_unreachable();
    peer.set_worker(Value(worker));
    peer.set_reason(watched.reason);
  }
  report_(std::move(event));
}

}  // namespace bspnow::worker
