// The worker's side of the coordinator's service Workers: keeps this worker registered and attached
// as long as the object lives. CoordinatorSession decides; here are the calls, and two threads that
// post to the loop what they receive.
#ifndef WORKER_RPC_COORDINATOR_STUB_H_
#define WORKER_RPC_COORDINATOR_STUB_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/ids.h"
#include "net/event_loop.h"
#include "proto/workers.pb.h"
#include "worker/checkpoint/cluster_note.h"
#include "worker/core/coordinator_session.h"
#include "worker/rpc/coordinator_channel.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {

/// Called on the loop's thread, but for the first one.
struct CoordinatorEvents {
  /// A connection to the coordinator stands, at `peer` as gRPC writes it: fills in where this
  /// worker is. Failing: as it was before. On the stub's thread.
  std::function<absl::Status(const std::string& peer, proto::RegisterRequest&)> attaching;
  /// About to register: fills in what runs and lies here. The coordinator may be one that was
  /// restarted, or may have given this worker up. Failing: it does not register now.
  std::function<absl::Status(proto::RegisterRequest&)> registering;
  /// Registered, and orders may come. Not for the first time: of the jobs here only the reply's
  /// keep_jobs go on. What they reported and nobody acknowledged is sent again; the rest has been
  /// dropped.
  std::function<void(const proto::RegisterReply&)> registered;
  std::function<void(const proto::Order&)> order;
  /// Output of a job is in its log now: this much of the credit for it is free again.
  std::function<void(JobId, Epoch, std::uint64_t credit_bytes)> output_kept;
};

class CoordinatorStub {
 public:
  /// Registers, again and again until it succeeds, and attaches. `address` is HOST:PORT; `note`
  /// says whose coordinator that must be.
  CoordinatorStub(EventLoop& loop, const CoordinatorAddress& coordinator,
                  proto::RegisterRequest request, ClusterNote& note, CoordinatorEvents events);

  /// Waits for its threads.
  ~CoordinatorStub();

  /// Breaks off all calls: those that wait return soon.
  void Stop();

  /// Sends an event, now or when the stream is back; it is kept until it is acknowledged. On the
  /// loop's thread.
  void Report(proto::WorkerEvent event);

  /// Waits until everything reported has been acknowledged, or for this time. On the loop's thread,
  /// at the end.
  void Drain(std::uint64_t timeout_ms);

 private:
  enum class Attachment { kBroken, kNeverMade, kForgotten };

  // On the first thread, which registers, attaches and reads:
  void Run();
  void Locate(const std::string& peer);
  bool Register();
  absl::Status CallRegister(const proto::RegisterRequest& request, proto::RegisterReply& reply);
  std::string ReasonOf(const absl::Status& failure) const;
  bool NotRegistered(const absl::Status& why);
  void Say(const char* event, const absl::Status& why);
  void ForgetRefusal() {
    failure_.clear();
    refusal_.clear();
  }
  absl::Status AwaitConnection();
  absl::StatusOr<proto::RegisterRequest> Describe();
  Attachment Attach();
  void OnOrder(const proto::Order& order);
  void OnAcknowledge(std::uint64_t sequence);
  // On the second, which writes while a stream lives:
  std::optional<proto::WorkerEvent> AwaitUnsent();
  // On the loop's:
  void OnRegistered(const proto::RegisterReply& reply);

  EventLoop& loop_;
  const std::string address_;
  const TokenSource tokens_;
  const bool has_certificate_;  ///< Which may do in place of a token.
  const std::string shown_;     ///< The files of certificate and token; empty: none is named.
  proto::RegisterRequest request_;
  ClusterNote& note_;
  const CoordinatorEvents events_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::string tls_dir_;  ///< Empty: plain text.
  OpenCalls open_;
  std::string unfit_;        ///< Why the last registration could not be noted here.
  std::string not_located_;  ///< Why it is not known where this worker is; it is logged once.
  std::string failure_;      ///< Of the last try,
  std::string refusal_;      ///< and why that was; it is logged once.
  std::uint64_t look_again_ns_ = 0;
  bool is_known_ = false;     ///< It has taken this worker once, so this worker is set up right.
  bool is_stranger_ = false;  ///< The last answer came from another cluster's coordinator.

  std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_:
  CoordinatorSession session_;
  bool registered_ = false;  ///< And the loop knows.
  bool stream_ended_ = false;

  std::jthread thread_;
};

}  // namespace bspnow::worker

#endif  // WORKER_RPC_COORDINATOR_STUB_H_
