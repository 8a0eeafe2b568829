// Barriers of epochs that this coordinator did not see begin: those that resume from a checkpoint,
// and those that ran when it was restarted.
#include <gtest/gtest.h>
#include <string.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "coordinator/core/barrier.h"

namespace bspnow::coordinator {
namespace {

constexpr WorkerId kA{1};
constexpr WorkerId kB{2};

BarrierPlan TwoWorkers() {
  return {.nprocs = 3, .hosts = {{kA, {Pid{0}, Pid{2}}}, {kB, {Pid{1}}}}};
}

Barrier Adopted() {
  BarrierPlan plan = TwoWorkers();
  plan.origin = EpochOrigin::kAdopted;
  return Barrier(std::move(plan));
}

std::vector<std::byte> At(std::uint64_t barrier, std::uint32_t processes) {
  ArriveBody body{};
  body.barrier = barrier;
  body.processes = processes;
  body.ends_superstep = barrier > 0 ? 1 : 0;
  std::vector<std::byte> bytes(sizeof body);
  memcpy(bytes.data(), &body, sizeof body);
  return bytes;
}

BarrierVerdict Arrive(Barrier& barrier, WorkerId from, std::uint64_t index) {
  const std::vector<std::byte> bytes = At(index, from == kA ? 2 : 1);
  return barrier.OnArrive(from, *ArriveView::Decode(bytes));
}

ReleaseBody Hear(const Barrier& barrier, WorkerId worker) {
  ReleaseBody body;
  memcpy(&body, barrier.release(barrier.HostOf(worker)).data(), sizeof body);
  return body;
}

BarrierVerdict Pass(Barrier& barrier, std::uint64_t index) {
  EXPECT_EQ(Arrive(barrier, kA, index), BarrierVerdict::kNothing);
  return Arrive(barrier, kB, index);
}

// ---- Epochs that resume -------------------------------------------------------------------------

TEST(ResumedBarrierTest, NeedsNoBegin) {
  BarrierPlan plan = TwoWorkers();
  plan.participants = 3;
  Barrier barrier(std::move(plan));
  EXPECT_EQ(barrier.processes(), 3u);
  EXPECT_EQ(Pass(barrier, 0), BarrierVerdict::kRelease);
  EXPECT_EQ(barrier.OnBegin(kA, 3), BarrierVerdict::kNothing);
}

TEST(ResumedBarrierTest, WorkersWithoutParticipantsTakeNoPart) {
  BarrierPlan plan = TwoWorkers();
  plan.participants = 1;
  Barrier barrier(std::move(plan));
  EXPECT_FALSE(barrier.takes_part(barrier.HostOf(kB)));
  const std::vector<std::byte> bytes = At(0, 1);
  EXPECT_EQ(barrier.OnArrive(kA, *ArriveView::Decode(bytes)), BarrierVerdict::kRelease);
}

TEST(ResumedBarrierTest, DoesNotMeasureTheRepetition) {
  BarrierPlan plan = TwoWorkers();
  plan.participants = 3;
  Barrier barrier(std::move(plan));
  for (const std::uint64_t superstep : {0u, 1u}) {
    for (const auto& [worker, processes] : {std::pair{kA, 2u}, {kB, 1u}}) {
      std::vector<std::byte> bytes = At(superstep, processes);
      ArriveBody body;
      memcpy(&body, bytes.data(), sizeof body);
      body.has_sums = 1;
      body.sums.superstep = superstep;
      memcpy(bytes.data(), &body, sizeof body);
      barrier.OnArrive(worker, *ArriveView::Decode(bytes));
    }
    EXPECT_EQ(barrier.sums() != nullptr, superstep == 1);
  }
}

// ---- Checkpoints --------------------------------------------------------------------------------

TEST(BarrierDirectiveTest, ReachesAllAndIsRepeated) {
  Barrier barrier(TwoWorkers());
  barrier.OnBegin(kA, 3);
  Pass(barrier, 0);
  EXPECT_FALSE(barrier.may_checkpoint());  // bsp_begin's.
  ASSERT_EQ(Pass(barrier, 1), BarrierVerdict::kRelease);
  ASSERT_TRUE(barrier.may_checkpoint());
  barrier.Direct({.checkpoint = 7, .base = 6, .hold = 1});
  for (const WorkerId worker : {kA, kB}) {
    EXPECT_EQ(Hear(barrier, worker).barrier, 1u);
    EXPECT_EQ(Hear(barrier, worker).checkpoint, 7u);
    EXPECT_EQ(Hear(barrier, worker).base, 6u);
    EXPECT_EQ(Hear(barrier, worker).hold, 1u);
  }
  EXPECT_EQ(Arrive(barrier, kB, 1), BarrierVerdict::kRepeat);
  EXPECT_EQ(Hear(barrier, kB).checkpoint, 7u);
  Pass(barrier, 2);
  EXPECT_EQ(Hear(barrier, kB).checkpoint, 0u);
}

TEST(BarrierDirectiveTest, NotInBspEndNorWithinASuperstep) {
  for (const bool ending : {false, true}) {
    Barrier barrier(TwoWorkers());
    barrier.OnBegin(kA, 3);
    Pass(barrier, 0);
    for (const auto& [worker, processes] : {std::pair{kA, 2u}, {kB, 1u}}) {
      std::vector<std::byte> bytes = At(1, processes);
      ArriveBody body;
      memcpy(&body, bytes.data(), sizeof body);
      body.ending = ending ? processes : 0;
      body.ends_superstep = ending ? 1 : 0;
      memcpy(bytes.data(), &body, sizeof body);
      barrier.OnArrive(worker, *ArriveView::Decode(bytes));
    }
    EXPECT_EQ(barrier.current(), 2u);
    EXPECT_FALSE(barrier.may_checkpoint());
  }
}

TEST(BarrierDirectiveTest, NotWhenAnEpochThatResumesRepeatsItsRegistrations) {
  BarrierPlan plan = TwoWorkers();
  plan.participants = 3;
  Barrier barrier(std::move(plan));
  Pass(barrier, 0);
  EXPECT_FALSE(barrier.may_checkpoint());
  Pass(barrier, 1);
  EXPECT_FALSE(barrier.may_checkpoint());
  Pass(barrier, 2);
  EXPECT_TRUE(barrier.may_checkpoint());
}

// ---- Epochs that are adopted --------------------------------------------------------------------

TEST(AdoptedBarrierTest, ReleasesAgainWhatOnlySomeHaveHeard) {
  Barrier barrier = Adopted();
  // A has passed barrier 4 and computes; B waits at it, for a Release that was lost.
  EXPECT_EQ(barrier.OnBegin(kA, 3), BarrierVerdict::kTellBegin);
  EXPECT_EQ(Arrive(barrier, kA, 4), BarrierVerdict::kNothing);
  EXPECT_EQ(Arrive(barrier, kB, 4), BarrierVerdict::kRelease);
  EXPECT_EQ(Arrive(barrier, kB, 3), BarrierVerdict::kNothing);
  EXPECT_EQ(Hear(barrier, kB).barrier, 4u);
  EXPECT_FALSE(barrier.may_checkpoint());  // A is beyond it.
  EXPECT_EQ(barrier.current(), 5u);
  EXPECT_EQ(Pass(barrier, 5), BarrierVerdict::kRelease);
  EXPECT_TRUE(barrier.may_checkpoint());
}

TEST(AdoptedBarrierTest, TakesWorkersOneBarrierApart) {
  Barrier barrier = Adopted();
  barrier.OnBegin(kA, 3);
  Arrive(barrier, kA, 5);  // Waits there.
  EXPECT_EQ(Arrive(barrier, kB, 4), BarrierVerdict::kNothing);
  EXPECT_EQ(Arrive(barrier, kA, 4), BarrierVerdict::kRelease);  // Passed.
  EXPECT_EQ(Hear(barrier, kB).barrier, 4u);
  EXPECT_EQ(Arrive(barrier, kB, 5), BarrierVerdict::kRelease);  // A's is counted already.
  EXPECT_EQ(Hear(barrier, kA).barrier, 5u);
}

TEST(AdoptedBarrierTest, WaitsForAllItsWorkers) {
  Barrier barrier = Adopted();
  barrier.OnBegin(kA, 3);
  for (int i = 0; i < 3; ++i) {  // However often it connects.
    EXPECT_EQ(Arrive(barrier, kA, 5), BarrierVerdict::kNothing);
    EXPECT_EQ(Arrive(barrier, kA, 4), BarrierVerdict::kNothing);
  }
  EXPECT_EQ(barrier.current(), 0u);
}

TEST(AdoptedBarrierTest, WorkerOfHigherPidsMayComeBeforePid0s) {
  Barrier barrier = Adopted();
  EXPECT_EQ(Arrive(barrier, kB, 9), BarrierVerdict::kNothing);
  EXPECT_EQ(Arrive(barrier, kB, 8), BarrierVerdict::kNothing);
  barrier.OnBegin(kA, 3);
  EXPECT_EQ(Arrive(barrier, kA, 8), BarrierVerdict::kRelease);
  EXPECT_EQ(Arrive(barrier, kA, 9), BarrierVerdict::kRelease);
}

TEST(AdoptedBarrierTest, MayNotHaveBegunYet) {
  Barrier barrier = Adopted();
  EXPECT_EQ(Arrive(barrier, kB, 0), BarrierVerdict::kNothing);
  EXPECT_EQ(barrier.OnBegin(kA, 3), BarrierVerdict::kTellBegin);
  EXPECT_EQ(Arrive(barrier, kA, 0), BarrierVerdict::kRelease);
  EXPECT_EQ(Pass(barrier, 1), BarrierVerdict::kRelease);
}

TEST(AdoptedBarrierTest, NoCheckpointWhenItsFirstSuperstepRepeatsRegistrations) {
  for (const bool resumed : {true, false}) {
    Barrier barrier = Adopted();
    if (resumed) barrier.OnResumed();
    barrier.OnBegin(kA, 3);
    EXPECT_EQ(Pass(barrier, 0), BarrierVerdict::kRelease);
    Pass(barrier, 1);
    EXPECT_EQ(barrier.may_checkpoint(), !resumed);
    Pass(barrier, 2);
    EXPECT_TRUE(barrier.may_checkpoint());
  }
}

TEST(AdoptedBarrierTest, RefusesWorkersThatAreTooFarApart) {
  Barrier barrier = Adopted();
  barrier.OnBegin(kA, 3);
  Arrive(barrier, kA, 7);
  EXPECT_EQ(Arrive(barrier, kB, 4), BarrierVerdict::kRefused);
  EXPECT_STRNE(barrier.refusal(), "");
}

// ---- Any order of crashes and lost messages -----------------------------------------------------

/// Hosts that behave as worker/exchange/job_exchange.cc does, a coordinator that dies at any time,
/// and connections that break at any time and lose what is on its way.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : random_(seed), hosts_(2 + Below(3)) {
    Start(EpochOrigin::kStarted);
  }

  void Disturb() {
    switch (Below(100)) {
      case 0:
        return Start(EpochOrigin::kAdopted);
      case 1:
      case 2:
        return Reconnect(Below(hosts_.size()));
      default:
        return Step();
    }
  }

  void Step() {
    const std::size_t k = Below(hosts_.size());
    Host& host = hosts_[k];
    switch (Below(4)) {
      case 0:
        return Compute(k);
      case 1:
        if (!host.said.empty()) TakeIn(k);
        return;
      case 2:
        if (!host.told.empty()) Hear(host);
        return;
      default:
        if (host.waiting && host.released) Leave(host);
        return;
    }
  }

  std::uint64_t passed_by_all() const {
    std::uint64_t least = ~std::uint64_t{0};
    for (const Host& host : hosts_) least = std::min(least, host.barrier);
    return least;
  }

 private:
  struct Message {
    bool begin;
    std::uint64_t barrier;
  };
  struct Host {
    std::uint64_t barrier = 0;  ///< At which it waits, or arrives next.
    bool waiting = false;
    bool released = false;  ///< Its Release is known; frames of others may still be on their way.
    bool begun = false;     ///< p is known there.
    std::deque<Message> said{};
    std::deque<Message> told{};
  };

  std::size_t Below(std::size_t n) { return random_() % n; }

  // All connections break; in an adopted epoch each host says again where it is.
  void Start(EpochOrigin origin) {
    BarrierPlan plan{.nprocs = static_cast<std::uint32_t>(hosts_.size()), .hosts = {}};
    for (std::uint32_t k = 0; k < hosts_.size(); ++k) {
      plan.hosts.push_back({WorkerId{k + 1}, {Pid{k}}});
    }
    plan.origin = origin;
    barrier_ = std::make_unique<Barrier>(std::move(plan));
    for (std::size_t k = 0; k < hosts_.size(); ++k) Reconnect(k);
  }

  void Reconnect(std::size_t k) {
    Host& host = hosts_[k];
    host.said.clear();
    host.told.clear();
    if (k == 0 && host.begun) host.said.push_back({true, 0});
    if (barrier_->processes() != 0) host.told.push_back({true, 0});
    if (host.waiting) host.said.push_back({false, host.barrier});
    if (host.barrier > 0) host.said.push_back({false, host.barrier - 1});
  }

  void Compute(std::size_t k) {
    Host& host = hosts_[k];
    if (k == 0 && !std::exchange(host.begun, true)) host.said.push_back({true, 0});
    if (!host.begun || host.waiting) return;
    host.waiting = true;
    host.released = false;
    host.said.push_back({false, host.barrier});
  }

  void TakeIn(std::size_t k) {
    const Message message = hosts_[k].said.front();
    hosts_[k].said.pop_front();
    const WorkerId from{static_cast<std::uint32_t>(k + 1)};
    const std::vector<std::byte> bytes = At(message.barrier, 1);
    const BarrierVerdict verdict =
        message.begin ? barrier_->OnBegin(from, static_cast<std::uint32_t>(hosts_.size()))
                      : barrier_->OnArrive(from, *ArriveView::Decode(bytes));
    ASSERT_NE(verdict, BarrierVerdict::kRefused) << barrier_->refusal();
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      if (verdict == BarrierVerdict::kTellBegin) hosts_[i].told.push_back({true, 0});
      const bool all = verdict == BarrierVerdict::kRelease;
      if (!all && !(verdict == BarrierVerdict::kRepeat && i == k)) continue;
      ReleaseBody body;
      memcpy(&body, barrier_->release(i).data(), sizeof body);
      hosts_[i].told.push_back({false, body.barrier});
    }
  }

  static void Hear(Host& host) {
    const Message message = host.told.front();
    host.told.pop_front();
    if (message.begin) {
      host.begun = true;
    } else if (host.waiting && message.barrier == host.barrier) {
      host.released = true;
    }
  }

  void Leave(Host& host) {
    for (const Host& other : hosts_) {
      ASSERT_TRUE(other.barrier > host.barrier || (other.barrier == host.barrier && other.waiting))
          << "a process passed a barrier at which not all had arrived";
    }
    host.barrier += 1;
    host.waiting = false;
  }

  std::mt19937_64 random_;
  std::vector<Host> hosts_;
  std::unique_ptr<Barrier> barrier_;
};

TEST(AdoptedBarrierTest, NobodyPassesAloneAndAllGoOnWhateverDiesAndWhen) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Chaos chaos(seed);
    for (int step = 0; step < 1500 && !testing::Test::HasFatalFailure(); ++step) chaos.Disturb();
    const std::uint64_t passed = chaos.passed_by_all();
    for (int step = 0; step < 1500 && !testing::Test::HasFatalFailure(); ++step) chaos.Step();
    ASSERT_GT(chaos.passed_by_all(), passed + 10);
  }
}

}  // namespace
}  // namespace bspnow::coordinator
