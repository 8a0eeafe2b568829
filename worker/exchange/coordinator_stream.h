// The worker's connection to the coordinator's barrier: made again whenever it breaks, with a Hello
// and the proofs first, and a heartbeat every so often, whose answer renews the lease. What was
// on its way when it broke is lost; who needs it sends it again on the new connection.
//
// A connection whose heartbeats go unanswered may be half of one: nothing arrives, and no end of it
// is seen. Then another one is made. The silent one stays until the other one is welcomed, because
// a worker without any is soon lost, and perhaps the coordinator was only slow.
#ifndef WORKER_EXCHANGE_COORDINATOR_STREAM_H_
#define WORKER_EXCHANGE_COORDINATOR_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "net/event_loop.h"
#include "net/frame_stream.h"
#include "net/resolver.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"

namespace bspnow::worker {

struct CoordinatorStreamPlan {
  WorkerId self;
  std::uint64_t incarnation;
  std::string address;
  std::uint64_t heartbeat_ms;  ///< Until RenewLease says otherwise.
  std::uint64_t term;          ///< Of the coordinator that is meant.
  StreamKey key;               ///< Of the cluster: what it is encrypted with, if it is,
  StreamKey proof_key;         ///< and this worker's, which both ends prove.
  SocketOptions socket;
  std::uint64_t silent_ms = 2000;  ///< Without an answer: connect again.
};

class CoordinatorStreamOwner {
 public:
  /// The coordinator has proven the key, and the worker's proof is out.
  virtual void OnCoordinatorConnected() = 0;
  virtual FrameFault OnCoordinatorFrame(const FrameHeader& header,
                                        std::span<const std::byte> payload) = 0;
  virtual void OnLeaseRenewed(std::uint64_t sent_ns) = 0;

 protected:
  ~CoordinatorStreamOwner() = default;
};

class CoordinatorStream {
 public:
  /// `resolver` is the caller's and stays.
  CoordinatorStream(EventLoop& loop, Resolver& resolver, CoordinatorStreamPlan plan,
                    CoordinatorStreamOwner& owner);
  ~CoordinatorStream();

  /// Sends a heartbeat now, and then every so often.
  void RenewLease(std::uint64_t every_ms);

  /// Fills in the sender. Lost if there is no connection.
  void Send(FrameHeader header, std::span<const std::byte> payload);

  std::uint64_t reconnects() const { return connects_ == 0 ? 0 : connects_ - 1; }

 private:
  void Connect();
  void AskForAddresses();
  void ReplaceIfSilent();
  void SayHello();
  FrameFault OnChallenge(std::uint64_t connection, std::span<const std::byte> payload);
  FrameFault OnFrame(std::uint64_t connection, const FrameHeader& header,
                     std::span<const std::byte> payload);
  void OnWelcome(std::uint64_t connection);
  void OnClosed(std::uint64_t connection, const absl::Status& reason);
  void RetryLater();
  void Beat();
  void SendHeartbeat();

  EventLoop& loop_;
  Resolver& resolver_;
  CoordinatorStreamPlan plan_;
  CoordinatorStreamOwner& owner_;
  std::vector<SocketAddress> addresses_;  ///< Still to be tried, the next one last.
  std::unique_ptr<FrameStream> stream_;
  std::uint64_t connection_ = 0;          ///< Number of `stream_`.
  std::optional<ConnectingProof> proof_;  ///< Of `stream_`, from its Hello on.
  bool proven_ = false;
  bool welcomed_ = false;
  /// Since when `stream_` owes an answer, to Hello or a heartbeat; 0: it does not.
  std::uint64_t unanswered_ns_ = 0;
  std::unique_ptr<FrameStream> silent_;  ///< An earlier one, until `stream_` is welcomed.
  TimerId beat_ = kNoTimer;
  TimerId retry_ = kNoTimer;
  std::uint64_t backoff_ms_;
  std::string fault_;  ///< Of the last connection: the same one is noted once.
  std::uint64_t connects_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is asked.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_COORDINATOR_STREAM_H_
