// The superstep path of one worker: the streams to the other workers and to the coordinator, and
// between them the segments of the jobs that it hosts. NodeExchange decides, one for each group;
// this hands on what comes and does what is due. Lives on the loop's thread.
#ifndef WORKER_EXCHANGE_DATA_PLANE_H_
#define WORKER_EXCHANGE_DATA_PLANE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "net/receiving_streams.h"
#include "net/resolver.h"
#include "net/stream_key.h"
#include "net/stream_probe.h"
#include "worker/exchange/coordinator_stream.h"
#include "worker/exchange/early_begins.h"
#include "worker/exchange/job_exchange.h"
#include "worker/exchange/job_groups.h"
#include "worker/exchange/job_plan.h"
#include "worker/exchange/peer_address.h"
#include "worker/exchange/peer_streams.h"

namespace bspnow::worker {

struct DataPlaneSettings {
  std::string listen;             ///< HOST:PORT for the other workers' streams; port 0: any.
  std::string congestion;         ///< TCP_CONGESTION of every socket; "default": the system's.
  std::uint64_t incarnation = 0;  ///< As the worker has registered it.
  /// If a peer is silent for this time while frames wait for it, their jobs are broken.
  std::uint64_t unreachable_ms = 60'000;
  Integrity integrity = Integrity::kChecksums;
};

/// Called on the loop's thread, never from within a call of DataPlane.
struct DataPlaneEvents {
  /// The job cannot go on. It stays until RemoveJob, but exchanges nothing more.
  std::function<void(JobId, Epoch, ExchangeFault, const std::string& reason)> broken;
  /// The coordinator renewed the lease, which holds for lease_ms from when the request was sent.
  std::function<void(std::uint64_t sent_ns)> lease_renewed;
  /// Nothing arrives there. Before `broken` of the jobs that suffer from it.
  std::function<void(WorkerId peer, const std::string& reason)> peer_failed = nullptr;
};

/// The coordinator's answer to the registration.
struct CoordinatorPlan {
  WorkerId self;
  std::string barrier_address;
  std::uint64_t heartbeat_ms;
  std::uint64_t lease_ms = 0;  ///< 0: there are no leases.
  std::uint64_t term = 0;
  StreamKey stream_key{};   ///< Of the cluster; without one there are no streams.
  StreamKey barrier_key{};  ///< RegisterReply's.
};

/// Counters since the start; for metrics.
struct DataPlaneStatistics {
  std::uint64_t frames_out = 0;
  std::uint64_t frames_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t resent_bytes = 0;
  std::uint64_t reconnects = 0;
  std::map<std::string, std::uint64_t> refused_frames;  ///< By reason; of most also 0.
};

class DataPlane final : private BatchSink,
                        private CoordinatorStreamOwner,
                        private JobExchangeOwner,
                        private Poller {
 public:
  static absl::StatusOr<std::unique_ptr<DataPlane>> Create(EventLoop& loop,
                                                           const DataPlaneSettings& settings,
                                                           DataPlaneEvents events);
  ~DataPlane();

  /// Where the other workers' streams connect, as it is.
  const std::string& data_address() const { return data_address_; }

  /// Connects to the coordinator, and again whenever that connection breaks. Called again after
  /// another registration: with the same id, and the exchanges go on; or with another one, and the
  /// jobs that are here cannot.
  void JoinCoordinator(const CoordinatorPlan& plan);

  /// Sends a heartbeat now, and then every so often.
  void RenewLease(std::uint64_t every_ms);

  /// Exchanges for a job, before its first process runs. Its pids must be in ascending order.
  void AddJob(const JobPlan& plan);

  /// Forgets the job and all its frames. When its processes are gone, or about to be killed.
  void RemoveJob(JobId job, Epoch epoch);

  /// Of a job whose nodes release themselves (JobPlan::direct).
  void OrderImage(JobId job, Epoch epoch, const ImagePlan& order);
  void WithdrawImage(JobId job, Epoch epoch, std::uint64_t checkpoint);
  /// Of any job.
  ImageWait WaitForImage(JobId job, Epoch epoch) const;

  /// As JobExchange has it, of a group but for the root group; none of one that is not open.
  std::vector<std::uint32_t> HeardFrom(JobId job, Epoch epoch, GroupId group,
                                       std::uint64_t barrier) const;

  /// Whether that worker's streams can be reached; `done` as StreamProbe has it, unless this worker
  /// gets another id before.
  void Probe(const PeerAddress& peer, StreamProbe::Done done);

  /// As PeerStreams has it: the streams of jobs that run follow a worker that has moved. Without an
  /// address it has left.
  void SetPeerAddress(WorkerId peer, const std::string& data_address);

  /// As PeerStreams has it.
  std::set<WorkerId> silent_peers(std::uint64_t now_ns) const { return peers_.Silent(now_ns); }

  DataPlaneStatistics statistics() const;

 private:
  struct Key {};  ///< Create alone has one.

 public:
  DataPlane(Key, EventLoop& loop, const DataPlaneSettings& settings, DataPlaneEvents events);

 private:
  absl::Status Listen(const std::string& address);
  std::span<std::byte> Place(WorkerId from, const FrameHeader& header,
                             const BatchPiece& piece) override;
  FrameFault OnBatch(WorkerId from, const FrameHeader& header, const BatchPiece& piece,
                     std::span<const std::byte> data) override;
  const StreamKey* KeyOf(JobId job, Epoch epoch) override;
  bool WantsLane(const LaneName& lane) override;
  void TakeLane(const LaneName& lane, UniqueFd socket) override;
  void OnCoordinatorConnected() override;
  FrameFault OnCoordinatorFrame(const FrameHeader& header,
                                std::span<const std::byte> payload) override;
  void OnLeaseRenewed(std::uint64_t sent_ns) override;
  void SendToCoordinator(const FrameHeader& header, std::span<const std::byte> payload) override;
  void ReportBroken(JobId job, Epoch epoch, ExchangeFault fault,
                    const std::string& reason) override;
  bool Poll() override;
  bool PrepareToSleep() override;
  void Awake() override;

  void SetKey(const StreamKey& key);
  JobGroups* Find(JobId job) const;
  JobGroups* Find(JobId job, Epoch epoch) const;
  JobGroups* Lookup(const FrameHeader& header);
  FrameFault OnBegin(const FrameHeader& header, std::span<const std::byte> payload);
  void ForgetLeft();
  void SendProgress(JobExchange& job);
  void LookAfterJobs();
  FrameFault Refuse(const char* reason, FrameFault fault) {
    refused_[reason] += 1;
    return fault;
  }

  EventLoop& loop_;
  const DataPlaneSettings settings_;
  const DataPlaneEvents events_;
  const SocketOptions socket_;
  std::string data_address_;
  WorkerId self_{};
  StreamKey stream_key_;
  Resolver resolver_;
  PeerStreams peers_;
  ReceivingStreams receiving_;
  std::map<WorkerId, std::unique_ptr<StreamProbe>> probes_;
  std::unique_ptr<CoordinatorStream> coordinator_;
  std::uint64_t lease_ns_ = 0;  ///< How long it holds; 0: there is none.
  std::uint64_t lease_until_ns_ = 0;
  std::uint64_t coordinator_reconnects_ = 0;  ///< Of earlier registrations.
  std::unordered_map<JobId, std::unique_ptr<JobGroups>> jobs_;
  std::vector<JobGroups*> spread_;  ///< Those of several nodes.
  std::set<WorkerId> left_;         ///< Of whose streams something may be known still.
  EarlyBegins early_begins_;
  std::map<std::string, std::uint64_t> refused_;
  TimerId look_timer_ = kNoTimer;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is posted.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_DATA_PLANE_H_
