// Which other workers cannot be reached from here. Each that comes is probed once, and again when
// an exchange with it stands still, or has failed: then until it can be reached, with growing
// delays. What is found goes to the coordinator when it changes. Pure.
#ifndef WORKER_CORE_PEER_WATCH_H_
#define WORKER_CORE_PEER_WATCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/ids.h"
#include "proto/workers.pb.h"
#include "worker/exchange/peer_address.h"

namespace bspnow::worker {

class PeerWatch {
 public:
  /// Is answered by OnProbed, later.
  using Probe = std::function<void(const PeerAddress& peer)>;

  PeerWatch(Probe probe, std::function<void(proto::WorkerEvent)> report)
      : probe_(std::move(probe)), report_(std::move(report)) {}

  /// All that was known is forgotten: the coordinator tells it again.
  void OnRegistered(WorkerId self);
  void OnPeersChanged(const proto::PeersChanged& change, std::uint64_t now_ns);
  /// `failure` is empty if it could be reached.
  void OnProbed(const PeerAddress& peer, const std::string& failure, std::uint64_t now_ns);
  /// It is reported at once, and the peer probed after a while: what follows the Welcome may get
  /// lost all the same. Of a worker that is gone: nothing happens.
  void OnExchangeFailed(WorkerId peer, const std::string& reason, std::uint64_t now_ns);

  /// To be called each second. Who is `silent` acknowledges nothing, though frames wait for that:
  /// it is probed when that begins. Once it is over, who was not reached is probed at once.
  void Look(const std::set<WorkerId>& silent, std::uint64_t now_ns);

 private:
  struct Watched {
    std::uint32_t failures = 0;  ///< In a row.
    std::string reason{};        ///< Of the last one.
    std::uint64_t due_ns = 0;    ///< For the next probe.
    bool under_way = false;
  };

  /// Once is no finding: it may have been about to register.
  static bool IsUnreachable(const Watched& peer) { return peer.failures > 1; }
  void BeginProbes(std::uint64_t now_ns);
  void Report();

  const Probe probe_;
  const std::function<void(proto::WorkerEvent)> report_;
  WorkerId self_{0};
  std::map<WorkerId, std::string> up_;  ///< The others, and where.
  std::map<WorkerId, Watched> watched_;
  std::map<WorkerId, std::uint32_t> failed_exchanges_;
  std::set<WorkerId> silent_;  ///< At the last look.
  std::uint32_t under_way_ = 0;
  bool changed_ = false;  ///< Since the last report.
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_PEER_WATCH_H_
