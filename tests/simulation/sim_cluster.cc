#include "tests/simulation/sim_cluster.h"

#include <signal.h>

#include <algorithm>
#include <utility>

namespace bspnow {
namespace {

constexpr std::uint64_t kDisturbedNs = 3 * kSecond;
constexpr std::uint64_t kTimeMaxNs = 300 * kSecond;  // All is over long before, or never.
constexpr std::uint64_t kPatienceNs = kSecond;       // Of a client without an answer.

}  // namespace

SimCluster::SimCluster(std::uint64_t seed)
    : loop_(seed), oracle_([this](const std::string& what) {
        if (failure_.empty()) failure_ = what;
      }) {
  calm_from_ns_ = loop_.now_ns() + kDisturbedNs;
  journal_.fails = loop_.Chance(5);
  StartCoordinator();
  const std::uint64_t machines = 1 + loop_.Below(4);
  for (std::uint64_t i = 0; i < machines; ++i) {
    machines_.push_back({.name = "w" + std::to_string(i),
                         .slots = 1 + static_cast<std::uint32_t>(loop_.Below(3)),
                         .worker = nullptr});
  }
  for (Machine& machine : machines_) StartWorker(machine);
  PlanSubmissions();
  if (loop_.Chance(80)) PlanFaults();
}

std::string SimCluster::Run() {
  while (failure_.empty() && loop_.RunNext()) {
    const SimCoordinator& coordinator = *coordinators_.back();
    const bool calm = loop_.now_ns() >= calm_from_ns_ && !coordinator.dead();
    if (calm && acknowledged_ == submissions_ && oracle_.AllEnded(coordinator.table())) break;
    if (loop_.now_ns() > kTimeMaxNs) oracle_.Fail("jobs do not come to an end");
  }
  statistics_.events = loop_.events();
  statistics_.jobs = oracle_.jobs_ended();
  statistics_.succeeded = coordinators_.back()->table().CountIn(JobPhase::kSucceeded);
  statistics_.frames = oracle_.frames_taken();
  if (failure_.empty()) return "";
  return failure_ + " at " + std::to_string(loop_.now_ns()) + " ns, event " +
         std::to_string(loop_.events()) + "\n" + oracle_.Describe(coordinators_.back()->table());
}

// ---- Who is there -------------------------------------------------------------------------------

void SimCluster::StartCoordinator() {
  coordinators_.push_back(std::make_unique<SimCoordinator>(loop_, oracle_, journal_));
}

void SimCluster::StartWorker(Machine& machine) {
  workers_.push_back(std::make_unique<SimWorker>(
      loop_, oracle_,
      SimWorker::Identity{
          .name = machine.name, .slots = machine.slots, .incarnation = next_incarnation_++},
      [this]() -> SimCoordinator* {
        SimCoordinator* coordinator = coordinators_.back().get();
        return coordinator->dead() ? nullptr : coordinator;
      },
      [this](WorkerId worker) { return FindStreamsOf(worker); }));
  machine.worker = workers_.back().get();
}

SimStreams* SimCluster::FindStreamsOf(WorkerId worker) {
  for (const Machine& machine : machines_) {
    if (machine.worker->id() == worker) return &machine.worker->streams();
  }
  return nullptr;
}

// ---- Faults -------------------------------------------------------------------------------------

void SimCluster::PlanFaults() {
  loop_.After(loop_.Below(300 * kMillisecond), [this] {
    if (loop_.now_ns() >= calm_from_ns_) return;
    Disturb();
    PlanFaults();
  });
}

void SimCluster::Disturb() {
  // A disk that fails loses ends, too: with a restart they would be others.
  if (!journal_.fails && loop_.Chance(5) && !coordinators_.back()->dead()) {
    statistics_.coordinator_deaths += 1;
    coordinators_.back()->Die();
    loop_.After(loop_.Below(3 * kSecond), [this] { StartCoordinator(); });
    return;
  }
  DisturbWorker(machines_[loop_.Below(machines_.size())]);
}

void SimCluster::DisturbWorker(Machine& machine) {
  statistics_.breaks += 1;
  const std::uint64_t what = loop_.Below(100);
  if (what < 40) return machine.worker->streams().BreakOne();
  if (what < 60) return machine.worker->streams().GiveOneUp();
  if (what < 85) return machine.worker->BreakFrames();
  if (what < 93) return machine.worker->CutOff(loop_.now_ns() + loop_.Below(4 * kSecond));
  if (machine.worker->dead()) return;
  statistics_.worker_deaths += 1;
  machine.worker->Die();
  loop_.After(loop_.Below(2 * kSecond), [this, &machine] { StartWorker(machine); });
}

// ---- Clients ------------------------------------------------------------------------------------

void SimCluster::PlanSubmissions() {
  submissions_ = 1 + loop_.Below(6);
  for (std::uint64_t i = 0; i < submissions_; ++i) {
    loop_.After(loop_.Below(kSecond), [this] { Submit(loop_.Below(std::uint64_t{1} << 40)); });
  }
}

JobRequest SimCluster::RandomRequest(std::uint64_t number) {
  std::uint32_t slots = 0;
  for (const Machine& machine : machines_) slots += machine.slots;
  const auto nprocs = 1 + static_cast<std::uint32_t>(loop_.Below(slots));
  return JobRequest{.claim = SlotClaim{.nprocs = nprocs,
                                       .nodes = 0,
                                       .per_node = 0,
                                       .memory_bytes = 0,
                                       .constraints = {},
                                       .oversubscribe = false},
                    .priority = static_cast<std::int32_t>(loop_.Below(2)),
                    .time_limit_s = loop_.Chance(20) ? 1 + loop_.Below(5) : 0,
                    .attached = false,
                    .collects_files = true,
                    .spec = SimProgram(number).spec()};
}

void SimCluster::Submit(std::uint64_t number) {
  const JobRequest request = RandomRequest(number);
  journal_.specs.emplace(request.spec, request);
  Send("key " + std::to_string(number), request);
}

// Again and again until there is an answer: a call may be lost, or its answer.
void SimCluster::Send(const std::string& key, const JobRequest& request) {
  const auto answered = std::make_shared<bool>(false);
  loop_.After(loop_.Delay(), [this, key, request, answered] {
    SimCoordinator& coordinator = *coordinators_.back();
    if (coordinator.dead()) return;
    coordinator.Submit(request, key, [this, key, answered](JobId job) {
      oracle_.OnAcknowledged(key, job);
      if (loop_.Chance(10) || std::exchange(*answered, true)) return;  // The answer is lost.
      acknowledged_ += 1;
      RegretLater(job);
    });
  });
  loop_.After(kPatienceNs, [this, key, request, answered] {
    if (!std::exchange(*answered, true)) Send(key, request);
  });
}

void SimCluster::RegretLater(JobId job) {
  if (!loop_.Chance(15)) return;
  loop_.After(loop_.Below(300 * kMillisecond), [this, job, by_signal = loop_.Chance(50)] {
    SimCoordinator& coordinator = *coordinators_.back();
    if (coordinator.dead()) return;
    if (by_signal) {
      coordinator.Signal(job, SIGINT);
    } else {
      coordinator.Cancel(job);
    }
  });
}

}  // namespace bspnow
