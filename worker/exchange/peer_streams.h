// The sending streams to the other workers, one each, shared by all jobs and kept from job to job.
#ifndef WORKER_EXCHANGE_PEER_STREAMS_H_
#define WORKER_EXCHANGE_PEER_STREAMS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "net/sending_stream.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "worker/exchange/job_plan.h"

namespace bspnow::worker {

struct PeerStreamsSettings {
  const StreamKey& key;  ///< The caller's, and stays; it may change.
  SocketOptions socket;
  std::uint64_t unreachable_ms = 0;  ///< As SendingStreamOptions has it, and the next one.
  Integrity integrity = Integrity::kChecksums;
};

class PeerStreams {
 public:
  /// As SendingStreamEvents has it, of this peer.
  using OnFailed = std::function<void(WorkerId peer, const std::string& reason)>;

  /// `loop` and `resolver` are the caller's and stay. `events` are those of all streams.
  PeerStreams(EventLoop& loop, Resolver& resolver, PeerStreamsSettings settings,
              SendingStreamEvents events, OnFailed failed);

  /// Another id: a new registration. Streams that are in use stay until they are released.
  void SetSelf(WorkerId self);

  /// The key has changed: whoever is at the other end has proven the one before.
  void ConnectAnew(const std::string& why);

  /// Where that worker is now, whatever the plans of jobs say that began before; empty: it is gone.
  void SetAddress(WorkerId worker, const std::string& data_address);

  /// The stream to that worker, which is connected when the first frame is sent.
  absl::StatusOr<SendingStream*> Use(const PlannedHost& host);
  void Release(const SendingStream* stream);

  /// Those that have acknowledged nothing for some seconds though frames wait for it.
  std::set<WorkerId> Silent(std::uint64_t now_ns) const;

  SendingStreamCounts Counts() const;

 private:
  struct Peer {
    std::unique_ptr<SendingStream> stream;
    std::uint32_t jobs = 0;
  };

  EventLoop& loop_;
  Resolver& resolver_;
  PeerStreamsSettings settings_;
  SendingStreamEvents events_;
  OnFailed failed_;
  WorkerId self_{};
  void Forget(Peer& peer);

  std::unordered_map<WorkerId, std::string> addresses_;  ///< Of all others that are up.
  std::unordered_map<WorkerId, Peer> peers_;
  std::vector<Peer> former_;  ///< Of earlier registrations.
  SendingStreamCounts gone_;  ///< Of streams that are no more.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_PEER_STREAMS_H_
