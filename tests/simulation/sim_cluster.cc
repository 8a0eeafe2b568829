#include "tests/simulation/sim_cluster.h"

#include <algorithm>
#include <iostream>
#include <utility>

namespace bspnow {
namespace {

constexpr std::uint64_t kTimeMaxNs = 900 * kSecond;  // All is over long before, or never.
constexpr std::uint64_t kSettleNs = 5 * kSecond;     // For the last orders to be carried out.

}  // namespace

SimCluster::SimCluster(std::uint64_t seed)
    : loop_(seed), oracle_([this](const std::string& what) {
        if (failure_.empty()) failure_ = what;
      }) {
  calm_from_ns_ = loop_.now_ns() + loop_.Between(1, 5) * kSecond;
  if (loop_.Chance(10)) journal_.share = "shared";
  only_lanes_ = loop_.Chance(25);
  journal_.fails = !only_lanes_ && loop_.Chance(5);
  journal_.copies = static_cast<std::uint32_t>(loop_.Chance(80) ? 1 : loop_.Below(3));
  journal_.quotas = !only_lanes_ && loop_.Chance(20);
  loses_journals_ = !only_lanes_ && !journal_.fails && loop_.Chance(10);
  StartCoordinator();
  const std::uint64_t few = 1 + loop_.Below(4);
  const std::uint64_t many =
      loop_.Chance(90) ? 2 + loop_.Below(7) : 9 + loop_.Below(kLaneHostsMax - 8);
  const std::uint64_t machines = only_lanes_ ? many : few;
  for (std::uint64_t i = 0; i < machines; ++i) {
    auto store = std::make_unique<SimStore>();
    if (loop_.Chance(20)) store->images_max = loop_.Between(2, 30);
    SimStore* used = journal_.share.empty() ? store.get() : &shared_store_;
    machines_.push_back({.name = "w" + std::to_string(i),
                         .images_address = "w" + std::to_string(i),
                         .slots = 1 + static_cast<std::uint32_t>(loop_.Below(3)),
                         .own_store = std::move(store),
                         .store = used,
                         .worker = nullptr,
                         .worker_comes = false});
  }
  if (!only_lanes_ && loop_.Chance(20)) SetClockRates();
  for (Machine& machine : machines_) StartWorker(machine);
  PlanSubmissions();
  journal_.disturbed = !only_lanes_ && loop_.Chance(85);
  if (only_lanes_) PlanLaneFaults();
  if (journal_.disturbed) PlanFaults();
  loop_.After(calm_from_ns_ - loop_.now_ns(), [this] {
    journal_.disturbed = false;
    CallOff();
  });
}

SimCluster::~SimCluster() = default;

void SimCluster::Trace() {
  oracle_.TraceTo([this](const std::string& what) {
    if (what == "barriers" || what == "frames") return;
    std::cout << loop_.now_ns() / kMicrosecond << " us: " << what << "\n";
  });
}

std::string SimCluster::Run() {
  while (failure_.empty() && loop_.RunNext()) {
    if (IsOver()) break;
    if (loop_.now_ns() > kTimeMaxNs) oracle_.Fail(WhyNotOver());
  }
  if (failure_.empty() && !IsOver()) oracle_.Fail("nothing happens any more");
  if (failure_.empty()) CompareOutput();
  if (failure_.empty()) coordinator().CheckAnswered();
  // What a copy brought to a node that was told before that the job has ended goes when the node
  // says what it has.
  if (failure_.empty() && Leftovers().starts_with("images")) {
    oracle_.Count("images that went at a registration");
    coordinator().Die();
    StartCoordinator();
    over_since_ns_ = 0;
    while (failure_.empty() && !IsOver() && loop_.RunNext()) continue;
  }
  if (failure_.empty()) failure_ = Leftovers();
  if (!coordinator().dead()) coordinator().CountFigures();
  if (failure_.empty()) return "";
  return failure_ + " at " + std::to_string(loop_.now_ns()) + " ns, event " +
         std::to_string(loop_.events()) + "\n" + oracle_.Describe(coordinators_.back()->table());
}

std::string SimCluster::WhyNotOver() {
  if (oracle_.AllEnded(coordinator().table()) && !EndsAreStored())
    return "the journal never learns of an end";
  return "jobs do not come to an end; " + std::to_string(acknowledged_) + " of " +
         std::to_string(submissions_) + " are acknowledged";
}

// All that was acknowledged has ended, and some time is past since.
bool SimCluster::IsOver() {
  const bool calm = loop_.now_ns() >= calm_from_ns_ && !coordinator().dead() &&
                    !coordinator().strange() && !coordinator().hangs() && !coordinator().paused() &&
                    std::all_of(machines_.begin(), machines_.end(), [](const Machine& machine) {
                      return machine.worker->undisturbed();
                    });
  if (!calm || acknowledged_ < submissions_ || !oracle_.AllEnded(coordinator().table()) ||
      !EndsAreStored()) {
    over_since_ns_ = 0;
    return false;
  }
  if (over_since_ns_ == 0) over_since_ns_ = loop_.now_ns();
  return loop_.now_ns() >= over_since_ns_ + kSettleNs;
}

// Else the next coordinator would run them again.
bool SimCluster::EndsAreStored() {
  const auto records = coordinator().table().records();
  return std::all_of(records.begin(), records.end(), [this](const JobRecord* record) {
    const auto stored = journal_.jobs.find(IdOf(*record));
    return stored != journal_.jobs.end() && stored->second.job().state() == record->job().state();
  });
}

std::string SimCluster::Leftovers() const {
  for (const Machine& machine : machines_) {
    if (!machine.worker->IsIdle()) return "processes are left on " + machine.name;
    for (const auto& [job, numbers] : machine.store->Stored())  // Those of unknown ones are.
      if (journal_.jobs.contains(job)) return "images are left on " + machine.name;
  }
  if (journal_.checkpoints.empty()) return "";
  return "the journal still knows checkpoints of job " +
         std::to_string(Value(journal_.checkpoints.begin()->first));
}

// Neither does its program fail, nor does anything keep it from being started again and again.
bool SimCluster::MustSucceed(const JobRecord& record) const {
  if (record.job().reason() == kOutputGap) return false;  // After bsp_end nothing is repeated.
  if (signalled_.contains(IdOf(record))) return false;    // A coordinator that dies may forget it.
  const proto::JobSpec& spec = record.job().spec();
  const SimProgram program = SimProgram::FromSpec(spec);
  const std::uint32_t p = program.processes(spec.nprocs());
  for (std::uint32_t pid = 0; pid < p; ++pid)
    if (program.fails(program.supersteps() / 2, pid, p)) return false;
  return spec.restarts_max() == kRestartsMany && spec.time_limit_s() == 0 && !journal_.fails &&
         !record.took_input();
}

// Exactly once, whatever happened.
void SimCluster::CompareOutput() {
  for (const JobRecord* record : coordinator().table().records()) {
    const proto::Job& job = record->job();
    if (job.state() == proto::FAILED && MustSucceed(*record)) {
      oracle_.Fail("job " + std::to_string(job.job()) + " failed: " + job.reason());
    }
    if (job.state() != proto::SUCCEEDED) continue;
    const SimReference& reference = oracle_.ReferenceOf(IdOf(*record));
    SimLog& log = journal_.logs[IdOf(*record)];
    for (std::uint32_t pid = 0; pid < reference.output.size(); ++pid) {
      const std::string& printed = log.texts[{pid, LogOrigin::kStdout}];
      if (printed == reference.output[pid] || log.sync_failed || log.incomplete) continue;
      oracle_.Fail("job " + std::to_string(job.job()) + " pid " + std::to_string(pid) +
                   " has printed " + std::to_string(printed.size()) + " bytes, and not the " +
                   std::to_string(reference.output[pid].size()) + " of an undisturbed run");
    }
  }
}

// ---- Who is there -------------------------------------------------------------------------------

void SimCluster::StartCoordinator(SimJournal& journal) {
  coordinator_comes_ = false;
  coordinators_.push_back(std::make_unique<SimCoordinator>(
      loop_, oracle_, journal,
      SimCoordinator::Nodes{
          .has_any = [this](JobId job,
                            const std::vector<WorkerId>& workers) { return IsLeft(job, workers); },
          .may_run =
              [this](JobId job) {
                return std::any_of(workers_.begin(), workers_.end(),
                                   [job](const auto& worker) { return worker->MayRun(job); });
              },
          .store = [this](const std::string& node) -> const SimStore& {
            return *std::find_if(machines_.begin(), machines_.end(), [&](const Machine& machine) {
                      return machine.name == node;
                    })->store;
          },
          .kill_one_of = [this](JobId job) { KillOneOf(job); },
          .start_anew = [this](SimCoordinator& which) { StartAnew(which); }}));
}

// If another one has the journal by now, it ends.
void SimCluster::StartAnew(SimCoordinator& which) {
  loop_.On(which.actor(), loop_.Below(100 * kMillisecond), [this, &which] {
    if (which.dead()) return;
    which.Die();
    if (&which != &coordinator() || std::exchange(coordinator_comes_, true)) return;
    oracle_.Count("coordinators started anew");
    loop_.After(loop_.Below(kSecond), [this] { StartCoordinator(); });
  });
}

SimCoordinator* SimCluster::Answering() {
  SimCoordinator* latest = coordinators_.back().get();
  if (coordinators_.size() > 1 && loop_.Chance(20)) {  // A call that was under way finds it.
    SimCoordinator* before = coordinators_[coordinators_.size() - 2].get();
    if (!before->dead()) return before;
  }
  return latest->dead() ? nullptr : latest;
}

void SimCluster::StartWorker(Machine& machine) {
  workers_.push_back(std::make_unique<SimWorker>(
      loop_, oracle_,
      SimWorker::Identity{.name = machine.name,
                          .images_address = machine.images_address,
                          .slots = machine.slots,
                          .incarnation = next_incarnation_++,
                          .orphan_timeout_ns = loop_.Chance(20) ? 3 * kSecond : kTimeMaxNs,
                          .drift_ppm = machine.drift_ppm},
      SimWorker::Surroundings{
          .coordinator = [this] { return Answering(); },
          .streams = [this, name = machine.name](WorkerId id) -> SimStreams* {
            SimWorker* const found =
                FindWorker([id](const SimWorker& each) { return each.id() == id; });
            return found == nullptr || AreApart(name, found->name()) ? nullptr : &found->streams();
          },
          .worker_at = [this, name = machine.name](const std::string& address) -> SimWorker* {
            SimWorker* const found = FindWorker(
                [&address](const SimWorker& each) { return each.images_address() == address; });
            if (found == nullptr || !AreApart(name, found->name())) return found;
            oracle_.Count("images kept apart");
            return nullptr;
          },
          .store = *machine.store,
          .lanes = lanes_,
          .share = journal_.share}));
  machine.worker = workers_.back().get();
}

SimWorker* SimCluster::FindWorker(const std::function<bool(const SimWorker&)>& is_it) const {
  for (auto each = workers_.rbegin(); each != workers_.rend(); ++each)
    if (!(*each)->dead() && is_it(**each)) return each->get();
  return nullptr;
}

bool SimCluster::IsLeft(JobId job, const std::vector<WorkerId>& workers) const {
  return FindWorker([&](const SimWorker& each) {
           return std::find(workers.begin(), workers.end(), each.id()) != workers.end() &&
                  each.HasAnyOf(job);
         }) != nullptr;
}

}  // namespace bspnow
