// How jobs of the simulated coordinator go back to a checkpoint, as
// coordinator/core/cluster_recovery.cc
// does it.
#include <algorithm>
#include <utility>

#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kHoldersNs = 15 * kSecond;
constexpr std::uint64_t kFreshLeaseNs = kSecond;
constexpr std::uint32_t kAttemptsWithOne = 3;

}  // namespace

// ---- Holders ------------------------------------------------------------------------------------

void SimCoordinator::OnReturned(JobId id) {
  Saved* job = FindSaved(id);
  const JobRecord* record = table_.Find(id);
  if (job == nullptr || record == nullptr) return;
  oracle_.Count("jobs that go on behind a restart");
  job->epoch = record->epoch;
  job->policy.OnStarted(loop_.now_ns(), Superstep{running_.at(id).superstep});
  std::vector<CheckpointOrders::LetGo> let_go;  // Who waits, and why, died with the last one.
  for (const std::string& node : record->node_names) {
    let_go.push_back({node, job->checkpoints.last_number()});
  }
  SendLetGo(id, record->epoch, let_go);
}

void SimCoordinator::OnStoredJobs(const std::string& node,
                                  const std::map<JobId, std::set<std::uint64_t>>& stored) {
  std::vector<JobId> starting;
  for (auto& [id, job] : saved_) {
    const auto found = stored.find(id);
    const CheckpointOrders orders = job.checkpoints.OnNodeStores(
        node, found == stored.end() ? std::set<std::uint64_t>() : found->second);
    SendKeeps(id, orders.keeps);
    SendLetGo(id, table_.Find(id)->epoch, orders.let_go);
    if (job.starting) starting.push_back(id);
  }
  for (const auto& [id, numbers] : stored) {
    if (!saved_.contains(id)) SendKeeps(id, {{.node = node, .checkpoints = {}}});
  }
  const LiveNodes live = ImageNodes();
  for (auto& [id, job] : saved_) job.CountCopies(live);
  for (const JobId id : starting) Prepare(id);
}

void SimCoordinator::OnHolderLost(const std::string& node) {
  std::vector<JobId> jobs;
  const LiveNodes live = ImageNodes();
  for (auto& [id, job] : saved_) {
    job.CountCopies(live);
    if (job.checkpoints.under_way()) jobs.push_back(id);
  }
  for (const JobId id : jobs) {
    if (Saved* job = FindSaved(id)) {
      Perform(PerformCheckpoint(id, job->checkpoints.OnNodeLost(node, ImageNodes())));
    }
  }
}

// ---- From one epoch to the next -----------------------------------------------------------------

void SimCoordinator::AbandonEpoch(JobId id) {
  Saved* job = FindSaved(id);
  if (job == nullptr || job->epoch == Epoch{0}) return;
  job->epoch = Epoch{0};
  job->policy.OnStopped(loop_.now_ns());
  Perform(PerformCheckpoint(id, job->checkpoints.GiveUp("the job stopped running")));
}

void SimCoordinator::Prepare(JobId id) {
  Saved* job = FindSaved(id);
  if (job == nullptr || !job->starting || job->cutting) return;
  if (WaitsForHolders(id, *job)) return;
  CutBack(id, *job, job->checkpoints.Best(ImageNodes()));
}

bool SimCoordinator::WaitsForHolders(JobId id, Saved& job) {
  if (job.checkpoints.Awaited(ImageNodes()).empty()) {
    job.waits_since_ns = 0;
    return false;
  }
  if (job.waits_since_ns == 0) {
    oracle_.Count("waits for holders");
    job.waits_since_ns = loop_.now_ns();
  }
  return loop_.now_ns() - job.waits_since_ns <= kHoldersNs && table_.Find(id) != nullptr;
}

void SimCoordinator::CutBack(JobId id, Saved& job, const bspnow::Checkpoint* from) {
  job.cutting = true;
  job.resumes_from = from == nullptr ? 0 : from->number;
  const Epoch epoch = job.starting->epoch;
  std::map<std::uint32_t, std::uint64_t> words;
  if (from != nullptr) {
    for (const CheckpointPart& part : from->parts) {
      for (const SavedImage& image : part.images) words[Value(image.pid)] = image.output_bytes;
    }
  }
  const auto cut_then_start = [this, id, epoch, words] {
    log_writer_.Queue(
        {.apply = [this, id, words] { return CutLog(id, words); },
         .done = [this, id, epoch](Written written) { OnCutBack(id, epoch, written); }});
  };
  const auto forgotten = job.checkpoints.GoBackTo(job.resumes_from);
  if (!forgotten) return cut_then_start();
  oracle_.Count("catalogues cut back");
  const auto apply = [this, id, catalogue = *forgotten, number = job.resumes_from] {
    if (journal_.fails && loop_.Chance(10)) return Written::kNo;
    journal_.checkpoints[id] = catalogue;
    oracle_.OnWentBack(id, number);
    return Written::kYes;
  };
  writer_.Queue({.apply = apply, .done = [this, id, epoch, cut_then_start](Written written) {
                   written == Written::kYes ? cut_then_start() : OnCutBack(id, epoch, written);
                 }});
}

Written SimCoordinator::CutLog(JobId id, const std::map<std::uint32_t, std::uint64_t>& words) {
  SimJournal::Log& log = journal_.logs[id];
  for (const auto& [pid, kept] : words) log[pid];
  for (auto& [pid, text] : log) {
    const auto kept = words.find(pid);
    const std::uint64_t length = kept == words.end() ? 0 : kept->second;
    if (length > text.size()) oracle_.Fail("the log has less than the checkpoint says");
    if (length < text.size()) oracle_.Count("logs cut back");
    text.resize(length);
  }
  return Written::kYes;
}

void SimCoordinator::OnCutBack(JobId id, Epoch epoch, Written written) {
  Saved* job = FindSaved(id);
  if (job == nullptr || !job->starting || job->starting->epoch != epoch) return;
  job->cutting = false;
  if (written == Written::kNo)
    return Perform(table_.OnBroken(id, epoch, "its output could not be cut back", Now()));
  const bspnow::Checkpoint* from = job->checkpoints.Best(ImageNodes());
  if ((from == nullptr ? 0 : from->number) != job->resumes_from) return Prepare(id);
  const StartOrder order = *std::exchange(job->starting, std::nullopt);
  Launch(order, from);
}

std::optional<SimResume> SimCoordinator::ResumeFrom(const Saved& job,
                                                    const bspnow::Checkpoint* from) const {
  if (from == nullptr) return std::nullopt;
  SimResume resume{.checkpoint = from->number,
                   .superstep = Value(from->superstep),
                   .participants = from->participants,
                   .chain = job.checkpoints.ChainOf(from->number),
                   .images = {}};
  for (const CheckpointPart& part : from->parts) {
    std::vector<std::string> holders;
    for (const auto& [id, worker] : workers_) {
      const bool holds =
          std::find(part.holders.begin(), part.holders.end(), worker.name) != part.holders.end();
      if (holds || !part.share.empty()) holders.push_back(worker.name);
    }
    for (const SavedImage& image : part.images) {
      resume.images.push_back({.pid = Value(image.pid), .holders = holders});
    }
  }
  return resume;
}

void SimCoordinator::Launch(const StartOrder& order, const bspnow::Checkpoint* from) {
  Saved& job = *FindSaved(order.job);
  const JobRecord& record = *table_.Find(order.job);
  const std::uint32_t nprocs = RequestOf(record).claim.nprocs;
  if (!superseded() || order.epoch > oracle_.EpochOf(order.job)) {
    oracle_.OnStartOrdered(order.job, order.epoch, record.spec, nprocs);
  }
  if (order.resumes) oracle_.Count(from == nullptr ? "restarts from the start" : "recoveries");
  const std::uint64_t at = from == nullptr ? 0 : Value(from->superstep);
  const std::uint32_t participants = from == nullptr ? 0 : from->participants;
  if (order.resumes) {
    table_.SetResumePoint(
        order.job, order.epoch,
        {.from_start = from == nullptr, .superstep = Superstep{at}, .participants = participants});
  }
  std::vector<BarrierHost> hosts;
  for (const NodeShare& share : order.hosts) {
    hosts.push_back({.worker = share.worker, .pids = share.pids});
  }
  const std::uint64_t first = std::max<std::uint64_t>(at, 1) - 1;
  running_.insert_or_assign(order.job, Running{.epoch = order.epoch,
                                               .barrier = Barrier({.nprocs = nprocs,
                                                                   .hosts = std::move(hosts),
                                                                   .participants = participants}),
                                               .first_superstep = first,
                                               .superstep = first});
  job.epoch = order.epoch;
  job.from_main = from == nullptr;
  job.policy.OnStarted(loop_.now_ns(), Superstep{at});
  job.CountCopies(ImageNodes());
  const std::optional<SimResume> resume = ResumeFrom(job, from);
  if (resume) job.checkpoints.OnFetchedBy(record.node_names);
  for (const NodeShare& share : order.hosts) {
    Order(share.worker, [order, spec = record.spec, resume](SimWorkerPort& port) {
      port.OnStart(order, spec, resume);
    });
  }
}

bool SimCoordinator::EndsUnstarted(const EndOrder& order) {
  Saved* job = FindSaved(order.job);
  if (job == nullptr || !job->starting || job->starting->epoch != order.epoch) return false;
  loop_.On(actor_, 0, [this, order] {
    if (!dead_) Perform(table_.OnCleared(order.job, order.epoch, order.worker, Now()));
  });
  return true;
}

// ---- How it goes --------------------------------------------------------------------------------

void SimCoordinator::OnHostRuns(JobId id, Epoch epoch, WorkerId worker) {
  const JobRecord* record = table_.Find(id);
  const auto open = [&] {
    return record != nullptr && !record->losses.empty() && !record->losses.back().resumed;
  };
  const bool was_open = open();
  JobOrders orders = table_.OnResumed(id, epoch, worker, Now());
  if (Saved* job = FindSaved(id); was_open && !open() && job != nullptr) {
    oracle_.Count("losses overcome");
    job->failures_with_one = 0;
  }
  Perform(std::move(orders));
}

void SimCoordinator::OnRestoreFailed(JobId id, Epoch epoch, std::uint64_t checkpoint,
                                     const std::vector<std::uint32_t>& missing) {
  Saved* job = FindSaved(id);
  if (job == nullptr || job->epoch != epoch) return;
  const bspnow::Checkpoint* from = job->checkpoints.Best(ImageNodes());
  if (from != nullptr && from->number == checkpoint) {
    job->failures_with_one += 1;
    const bool damaged = !missing.empty() && HoldersAnswer(*from);
    if (damaged || job->failures_with_one >= kAttemptsWithOne) {
      oracle_.Count("checkpoints found damaged");
      job->checkpoints.OnDamaged(from->number);
      job->failures_with_one = 0;
    }
  }
  Perform(table_.OnRestoreFailed(id, epoch, "restore failed", Now()));
}

bool SimCoordinator::HoldersAnswer(const bspnow::Checkpoint& checkpoint) {
  for (const CheckpointPart& part : checkpoint.parts) {
    for (const std::string& holder : part.holders) {
      const auto* worker = FindByName(holder);
      if (worker == nullptr || !worker->second.frames ||
          worker->second.frames->broken(SimLink::kCalled) ||
          leases_.AgeNs(worker->first, loop_.now_ns()) > kFreshLeaseNs) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace bspnow
