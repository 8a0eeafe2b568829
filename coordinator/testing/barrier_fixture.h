// What the tests of the barrier server share: the server with two nodes, and workers by hand.
#ifndef COORDINATOR_TESTING_BARRIER_FIXTURE_H_
#define COORDINATOR_TESTING_BARRIER_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/job.h"
#include "coordinator/core/nodes.h"
#include "coordinator/loop_timers.h"
#include "coordinator/rpc/barrier_server.h"
#include "net/frame_stream.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"

namespace bspnow::coordinator {

inline constexpr WorkerId kA{1};
inline constexpr WorkerId kB{2};
inline constexpr JobId kJob{5};
inline constexpr Epoch kEpoch{1};
inline constexpr std::uint32_t kTerm = 5;
inline const StreamKey kKey = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));
/// Those that the workers were given.
inline const StreamKey kKeyOfA = kKey.For("a");
inline const StreamKey kKeyOfB = kKey.For("b");

struct Heard {
  FrameHeader header;
  std::vector<std::byte> payload;
};

/// A worker's end of the stream, with what it has heard.
class Client {
 public:
  Client(EventLoop& loop, const SocketAddress& address, WorkerId worker)
      : worker_(worker),
        stream_(loop, address, SocketOptions{}, kKey,
                FrameStreamEvents{
                    .connected = nullptr,
                    .frame =
                        [this](const FrameHeader& header, std::span<const std::byte> payload) {
                          heard_.push_back({header, {payload.begin(), payload.end()}});
                          if (answers && FrameKind{header.kind} == FrameKind::kChallenge)
                            Prove(Answer(worker_ == kA ? kKeyOfA : kKeyOfB));
                          return FrameFault::kNone;
                        },
                    .closed = [this](const absl::Status&) { closed_ = true; }}) {}

  void Say(FrameHeader header, std::span<const std::byte> payload) {
    header.source_worker = Value(worker_);
    stream_.Send(header, payload);
  }

  void Hello(std::uint64_t incarnation, std::uint32_t term = kTerm) {
    const HelloBody body{.incarnation = incarnation, .target = 0, .term = term};
    FrameHeader header = HeaderOf(FrameKind::kHello);
    header.source_worker = Value(worker_);
    proof_.emplace(header, BytesOf(body));
    stream_.Send(proof_->header(), proof_->payload());
  }

  bool answers = true;  ///< Challenges.

  /// What somebody with this key finds wrong with the challenge that was heard last.
  FrameFault Doubt(const StreamKey& key) const {
    ProofBody unused;
    return proof_->OnChallenge(key, heard_.back().payload, unused);
  }
  /// To the challenge that was heard last.
  ProofBody Answer(const StreamKey& key) const {
    ProofBody answer;
    EXPECT_EQ(proof_->OnChallenge(key, heard_.back().payload, answer), FrameFault::kNone);
    return answer;
  }
  void Prove(const ProofBody& proof) { Say(HeaderOf(FrameKind::kProof), BytesOf(proof)); }

  void Begin(std::uint32_t nprocs) {
    const BeginBody body{.nprocs = nprocs, .reserved = 0};
    Say(OfJob(FrameKind::kBegin, kEpoch), BytesOf(body));
  }

  void Arrive(std::uint64_t barrier, std::uint32_t processes) {
    ArriveBody body{};
    body.barrier = barrier;
    body.processes = processes;
    body.ends_superstep = barrier > 0 ? 1 : 0;
    FrameHeader header = OfJob(FrameKind::kArrive, kEpoch);
    header.superstep = barrier > 0 ? barrier - 1 : 0;
    Say(header, BytesOf(body));
  }

  static FrameHeader OfJob(FrameKind kind, Epoch epoch) {
    FrameHeader header = HeaderOf(kind);
    header.job = Value(kJob);
    header.epoch = Value(epoch);
    return header;
  }

  std::size_t Count(FrameKind kind) const {
    std::size_t count = 0;
    for (const Heard& heard : heard_) count += FrameKind{heard.header.kind} == kind ? 1 : 0;
    return count;
  }

  const Heard& last() const { return heard_.back(); }
  bool closed() const { return closed_; }

 private:
  WorkerId worker_;
  std::optional<ConnectingProof> proof_;
  std::vector<Heard> heard_;
  bool closed_ = false;
  FrameStream stream_;
};

class BarrierServerTest : public testing::Test {
 protected:
  BarrierServerTest() {
    const absl::StatusOr<SocketAddress> any = Resolve(HostPort{.host = "127.0.0.1", .port = 0});
    BarrierEvents events;
    events.connected = [this](WorkerId worker) { barriers_->TellBegin(kJob, worker); };
    events.worker_lost = [](WorkerId, const std::string&) {};
    events.superstep_over = [this](JobId, Epoch, Superstep next) {
      next_.push_back(Value(next));
      return directive_;
    };
    events.job_broken = [this](JobId, Epoch, const std::string& reason) {
      broken_.push_back(reason);
    };
    auto server = BarrierServer::Listen(loop_, *any);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    barriers_ =
        std::make_unique<Barriers>(timers_, *server_, kTerm, jobs_, nodes_, std::move(events));
    server_->Serve(*barriers_, kKey);
    Register(kA, "a", 11);
    Register(kB, "b", 12);
    nodes_.Find(kA)->reply.set_barrier_key(kKeyOfA.bytes());
    nodes_.Find(kB)->reply.set_barrier_key(kKeyOfB.bytes());
  }

  void Register(WorkerId worker, const std::string& name, std::uint64_t incarnation) {
    proto::RegisterRequest request;
    request.mutable_node()->set_name(name);
    request.set_incarnation(incarnation);
    nodes_.Add(worker, request, timers_.Now().now_ns);
  }
  bool Connected(WorkerId worker) const { return nodes_.Find(worker)->lease.connected(); }

  std::unique_ptr<Client> Connect(WorkerId worker) {
    return std::make_unique<Client>(loop_, server_->address(), worker);
  }

  std::unique_ptr<Client> Welcomed(WorkerId worker) {
    auto client = Connect(worker);
    client->Hello(10 + Value(worker));
    Until([&] { return client->Count(FrameKind::kWelcome) == 1; });
    return client;
  }

  static Jobs OneJob() {
    Jobs jobs;
    jobs.emplace(kJob, JobRecord());
    jobs.at(kJob).live =
        std::make_unique<LiveJob>(CheckpointRule{}, CheckpointLimits{}, JobCheckpoints::Plan{});
    return jobs;
  }
  LiveJob& live() { return *jobs_.at(kJob).live; }
  void Start(EpochPlan plan) { live().running.emplace(kEpoch, std::move(plan)); }

  void AddJob() { Start({.nprocs = 2, .hosts = {{kA, {Pid{0}}}, {kB, {Pid{1}}}}}); }

  template <typename Condition>
  void Until(Condition condition) {
    bool late = false;
    const TimerId timer = loop_.AddTimer(10'000, [&] { late = true; });
    while (!late && !condition()) loop_.RunOnce();
    loop_.CancelTimer(timer);
    ASSERT_FALSE(late);
  }

  EventLoop loop_;
  std::vector<std::string> broken_;
  std::vector<std::uint64_t> next_;
  ReleaseDirective directive_;
  LoopTimers timers_{loop_};
  Jobs jobs_ = OneJob();
  Nodes nodes_{kTerm};
  std::unique_ptr<BarrierServer> server_;
  std::unique_ptr<Barriers> barriers_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_TESTING_BARRIER_FIXTURE_H_
