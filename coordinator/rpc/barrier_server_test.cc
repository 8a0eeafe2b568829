#include "coordinator/rpc/barrier_server.h"

#include <gtest/gtest.h>
#include <string.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/job.h"
#include "coordinator/core/nodes.h"
#include "coordinator/loop_timers.h"

namespace bspnow::coordinator {
namespace {

constexpr WorkerId kA{1};
constexpr WorkerId kB{2};
constexpr JobId kJob{5};
constexpr Epoch kEpoch{1};
constexpr std::uint32_t kTerm = 5;

struct Heard {
  FrameHeader header;
  std::vector<std::byte> payload;
};

/// A worker's end of the stream, with what it has heard.
class Client {
 public:
  Client(EventLoop& loop, const SocketAddress& address, WorkerId worker)
      : worker_(worker),
        stream_(loop, address, SocketOptions{},
                FrameStreamEvents{
                    .connected = nullptr,
                    .frame =
                        [this](const FrameHeader& header, std::span<const std::byte> payload) {
                          heard_.push_back({header, {payload.begin(), payload.end()}});
                          return FrameFault::kNone;
                        },
                    .closed = [this](const absl::Status&) { closed_ = true; }}) {}

  void Say(FrameHeader header, std::span<const std::byte> payload) {
    header.source_worker = Value(worker_);
    stream_.Send(header, payload);
  }

  void Hello(std::uint64_t incarnation, std::uint32_t term = kTerm) {
    const HelloBody body{.incarnation = incarnation, .target = 0, .term = term};
    Say(HeaderOf(FrameKind::kHello), BytesOf(body));
  }

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
    server_->Serve(*barriers_);
    Register(kA, "a", 11);
    Register(kB, "b", 12);
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

TEST_F(BarrierServerTest, WelcomesARegisteredWorkerAndRenewsItsLease) {
  const auto client = Welcomed(kA);
  EXPECT_TRUE(Connected(kA));
  const HeartbeatBody body{.sent_ns = 77};
  client->Say(HeaderOf(FrameKind::kHeartbeat), BytesOf(body));
  Until([&] { return client->Count(FrameKind::kLease) == 1; });
  EXPECT_EQ(client->last().payload.size(), sizeof body);
  EXPECT_EQ(memcmp(client->last().payload.data(), &body, sizeof body), 0);
}

TEST_F(BarrierServerTest, RefusesStrangers) {
  const auto stranger = Connect(WorkerId{9});
  stranger->Hello(1);
  const auto impostor = Connect(kA);
  impostor->Hello(99);  // Another incarnation.
  const auto hasty = Connect(kA);
  hasty->Arrive(0, 1);  // Without Hello.
  Until([&] { return stranger->closed() && impostor->closed() && hasty->closed(); });
  EXPECT_EQ(barriers_->refused(Refusal::kUnknownWorker), 3u);
  EXPECT_FALSE(Connected(kA));
}

TEST_F(BarrierServerTest, TellsBeginAndReleasesBothWhenTheLastArrives) {
  AddJob();
  const auto a = Welcomed(kA);
  const auto b = Welcomed(kB);
  a->Begin(2);
  Until([&] { return b->Count(FrameKind::kBegin) == 1; });
  EXPECT_EQ(a->Count(FrameKind::kBegin), 0u);
  a->Arrive(0, 1);
  b->Arrive(0, 1);
  Until([&] { return a->Count(FrameKind::kRelease) == 1 && b->Count(FrameKind::kRelease) == 1; });
  EXPECT_EQ(a->last().header.job, Value(kJob));
  EXPECT_EQ(barriers_->released(), 1u);
  EXPECT_EQ(live().running->stats->totals().processes(), 2u);
}

TEST_F(BarrierServerTest, AWorkerThatReconnectsHearsBeginAndItsReleaseAgain) {
  AddJob();
  const auto a = Welcomed(kA);
  auto b = Welcomed(kB);
  a->Begin(2);
  a->Arrive(0, 1);
  b->Arrive(0, 1);
  Until([&] { return a->Count(FrameKind::kRelease) == 1; });
  b = Welcomed(kB);
  Until([&] { return b->Count(FrameKind::kBegin) == 1; });
  b->Arrive(0, 1);
  Until([&] { return b->Count(FrameKind::kRelease) == 1; });
  EXPECT_EQ(a->Count(FrameKind::kRelease), 1u);
  EXPECT_EQ(barriers_->released(), 1u);
}

TEST_F(BarrierServerTest, ANewConnectionReplacesTheOldOne) {
  const auto first = Welcomed(kA);
  const auto second = Welcomed(kA);
  Until([&] { return first->closed(); });
  EXPECT_TRUE(Connected(kA));
  EXPECT_FALSE(second->closed());
}

TEST_F(BarrierServerTest, DropsAndCountsWhatIsForNoJobThatRuns) {
  AddJob();
  const auto a = Welcomed(kA);
  ArriveBody body{};
  a->Say(Client::OfJob(FrameKind::kArrive, Epoch{9}), BytesOf(body));
  FrameHeader other = Client::OfJob(FrameKind::kArrive, kEpoch);
  other.job = 6;
  a->Say(other, BytesOf(body));
  other = Client::OfJob(FrameKind::kArrive, kEpoch);
  other.group = 1;
  a->Say(other, BytesOf(body));
  Until([&] { return barriers_->refused(Refusal::kUnknownJob) == 2; });
  EXPECT_EQ(barriers_->refused(Refusal::kOldEpoch), 1u);
  EXPECT_FALSE(a->closed());
  EXPECT_TRUE(broken_.empty());
}

TEST_F(BarrierServerTest, AContradictionBreaksTheJobOnce) {
  AddJob();
  const auto a = Welcomed(kA);
  a->Begin(2);
  a->Arrive(3, 1);
  a->Arrive(3, 1);
  Until([&] { return barriers_->refused(Refusal::kUnknownJob) == 1; });
  Until([&] { return !broken_.empty(); });
  EXPECT_EQ(broken_, std::vector<std::string>{
                         "worker=1: arrival at a barrier before the one before is over"});
  EXPECT_EQ(barriers_->refused(Refusal::kContradiction), 1u);
}

TEST_F(BarrierServerTest, ClosesAStreamThatMakesNoSense) {
  const auto a = Welcomed(kA);
  const BeginBody body{.nprocs = 1, .reserved = 0};
  a->Say(HeaderOf(FrameKind::kArrive), BytesOf(body));
  Until([&] { return a->closed(); });
  EXPECT_EQ(barriers_->refused(Refusal::kMalformed), 1u);
  const auto b = Welcomed(kB);
  b->Say(HeaderOf(FrameKind::kRelease), {});  // Only the coordinator says that.
  Until([&] { return b->closed(); });
  EXPECT_EQ(barriers_->refused(Refusal::kMalformed), 2u);
}

TEST_F(BarrierServerTest, TakesProgressOfAJobOnOneNode) {
  Start({.nprocs = 1, .hosts = {{kA, {Pid{0}}}}});
  const auto a = Welcomed(kA);
  ProgressBody body{};
  body.supersteps = 12;
  body.superstep = 12;
  body.processes = 1;
  a->Say(Client::OfJob(FrameKind::kProgress, kEpoch), BytesOf(body));
  Until([&] { return live().superstep() == Superstep{12}; });
  EXPECT_EQ(live().running->stats->totals().supersteps(), 12u);
}

TEST_F(BarrierServerTest, ClosesTheStreamOfANode) {
  const auto a = Welcomed(kA);
  barriers_->CloseStream(*nodes_.Find(kA));
  EXPECT_FALSE(Connected(kA));
  Until([&] { return a->closed(); });
}

TEST_F(BarrierServerTest, RefusesAWorkerOfAnotherTerm) {
  const auto client = Connect(kA);
  client->Hello(11, kTerm - 1);
  Until([&] { return client->closed(); });
  EXPECT_FALSE(Connected(kA));
  EXPECT_EQ(barriers_->refused(Refusal::kUnknownWorker), 1u);
}

TEST_F(BarrierServerTest, AsksForACheckpointWhereOneMayBeAndTellsAll) {
  Start({.nprocs = 2,
         .hosts = {{kA, {Pid{0}}}, {kB, {Pid{1}}}},
         .participants = 2,
         .first_superstep = Superstep{99}});
  EXPECT_EQ(live().participants(), 2u);
  const auto a = Welcomed(kA);
  const auto b = Welcomed(kB);
  directive_ = {.checkpoint = 8, .base = 7, .hold = 1};
  for (const std::uint64_t barrier : {0u, 1u, 2u}) {
    a->Arrive(barrier, 1);
    b->Arrive(barrier, 1);
    Until([&] {
      return a->Count(FrameKind::kRelease) == barrier + 1 &&
             b->Count(FrameKind::kRelease) == barrier + 1;
    });
    for (const Client* client : {a.get(), b.get()}) {
      ReleaseBody body;
      memcpy(&body, client->last().payload.data(), sizeof body);
      EXPECT_EQ(body.checkpoint, barrier == 2 ? 8u : 0u);
    }
  }
  // Superstep 0 of the epoch only repeats registrations; it is shown as 99, and 101 comes next.
  EXPECT_EQ(next_, std::vector<std::uint64_t>{101});
  EXPECT_EQ(live().superstep(), Superstep{101});
}

TEST_F(BarrierServerTest, AdoptsAnEpochThatRanBeforeItsStart) {
  Start({.nprocs = 2, .hosts = {{kA, {Pid{0}}}, {kB, {Pid{1}}}}, .origin = EpochOrigin::kAdopted});
  live().running->OnResumed(Superstep{41});
  live().running->OnPutBack();
  directive_ = {.checkpoint = 8};
  const auto b = Welcomed(kB);
  b->Arrive(7, 1);  // Waits there,
  b->Arrive(6, 1);  // and has passed this one.
  const auto a = Welcomed(kA);
  a->Begin(2);
  a->Arrive(7, 1);  // Has passed it.
  Until([&] { return b->Count(FrameKind::kRelease) == 1 && a->Count(FrameKind::kRelease) == 1; });
  EXPECT_EQ(live().superstep(), Superstep{47});
  EXPECT_TRUE(next_.empty());
  a->Arrive(8, 1);
  b->Arrive(8, 1);
  Until([&] { return b->Count(FrameKind::kRelease) == 2; });
  EXPECT_EQ(next_, std::vector<std::uint64_t>{48});
  EXPECT_TRUE(broken_.empty());
}

}  // namespace
}  // namespace bspnow::coordinator
