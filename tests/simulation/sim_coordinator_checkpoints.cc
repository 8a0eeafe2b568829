// Checkpoints and recovery of the simulated coordinator, as coordinator/cluster_checkpoints.cc and
// cluster_recovery.cc do them.
#include <algorithm>
#include <utility>

#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
namespace {

constexpr CheckpointLimits kLimits{.mtbf_ns = 10 * kSecond, .overhead_max = 0.5};
constexpr std::uint64_t kHoldersNs = 15 * kSecond;
constexpr std::uint64_t kFreshLeaseNs = kSecond;
constexpr std::uint32_t kAttemptsWithOne = 3;

}  // namespace

bool SimCoordinator::Saved::HasPendingWish() const {
  return std::any_of(wishes.begin(), wishes.end(),
                     [](const Wish& wish) { return wish.number == 0; });
}

SimCoordinator::Saved* SimCoordinator::FindSaved(JobId job) {
  const auto found = saved_.find(job);
  return found == saved_.end() ? nullptr : &found->second;
}

SimCoordinator::Saved& SimCoordinator::AddSaved(JobId job, const std::string& spec) {
  Saved saved{.policy = CheckpointPolicy(journal_.specs.at(spec).rule, kLimits),
              .checkpoints = JobCheckpoints({.copies = journal_.copies, .term = term_})};
  return saved_.try_emplace(job, std::move(saved)).first->second;
}

LiveNodes SimCoordinator::ImageNodes() const {
  LiveNodes nodes;
  for (const auto& [id, worker] : workers_) nodes[worker.name] = journal_.share;
  return nodes;
}

// ---- When one is taken --------------------------------------------------------------------------

void SimCoordinator::OnSuperstepOver(JobId id, Running& running, std::uint64_t superstep) {
  const std::uint64_t passed = running.barrier.current() == 1 ? 0 : superstep + 1;
  running.superstep = running.first_superstep + passed;
  Saved* job = FindSaved(id);
  if (!running.barrier.may_checkpoint() || job == nullptr || job->epoch != running.epoch) return;
  if (!job->HasPendingWish() && !job->policy.IsDue(loop_.now_ns(), Superstep{running.superstep})) {
    return;
  }
  const ReleaseDirective directive = TakeCheckpoint(id, *job, running.superstep);
  if (directive.checkpoint != 0) running.barrier.Direct(directive);
}

void SimCoordinator::OnProgress(JobId id, Epoch epoch, std::uint64_t supersteps) {
  Running* running = Lookup(id, epoch);
  Saved* job = FindSaved(id);
  if (running == nullptr || job == nullptr) return;
  running->superstep = running->first_superstep + supersteps;
  if (job->epoch != epoch || running->superstep == 0) return;
  if (job->HasPendingWish() || job->policy.IsDue(loop_.now_ns(), Superstep{running->superstep})) {
    TakeOfLoneHost(id, running->superstep);
  }
}

void SimCoordinator::TakeOfLoneHost(JobId id, std::uint64_t next) {
  const ReleaseDirective directive = TakeCheckpoint(id, *FindSaved(id), next);
  if (directive.checkpoint == 0) return;
  const JobRecord& record = *table_.Find(id);
  Order(record.shares.front().worker, [id, epoch = record.epoch, directive](SimWorkerPort& port) {
    port.OnTakeCheckpoint(id, epoch, directive);
  });
}

ReleaseDirective SimCoordinator::TakeCheckpoint(JobId id, Saved& job, std::uint64_t next) {
  const JobRecord* record = table_.Find(id);
  if (job.checkpoints.under_way() || record == nullptr || record->phase != JobPhase::kRunning) {
    return {};
  }
  const std::uint32_t participants = running_.at(id).barrier.processes();
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < record->shares.size(); ++i) {
    if (participants == 0 || Value(record->shares[i].pids.front()) < participants) {
      hosts.push_back(record->node_names[i]);
    }
  }
  Hold hold = Hold::kNo;
  for (const Wish& wish : job.wishes) {
    if (wish.kind != Wish::Kind::kCheckpoint) hold = Hold::kYes;
  }
  const auto asked = job.checkpoints.Ask(std::move(hosts), hold, "");
  job.policy.OnTaken(loop_.now_ns(), Superstep{next});
  if (!asked) {
    job.wishes.clear();
    return {};
  }
  oracle_.Count("checkpoints asked for");
  if (asked->base != 0) oracle_.Count("incremental ones");
  for (Wish& wish : job.wishes) wish.number = asked->number;
  return {
      .checkpoint = asked->number, .base = asked->base, .hold = static_cast<std::uint32_t>(hold)};
}

// ---- What nodes report --------------------------------------------------------------------------

void SimCoordinator::OnImagesStored(WorkerId worker, JobId id,
                                    const JobCheckpoints::Stored& stored) {
  Saved* job = FindSaved(id);
  if (job == nullptr) return SendKeeps(id, {{FindWorker(worker)->name, {}}});
  Perform(PerformCheckpoint(
      id, job->checkpoints.OnStored(FindWorker(worker)->name, stored, ImageNodes())));
}

void SimCoordinator::OnImagesFailed(WorkerId worker, JobId id, std::uint64_t checkpoint,
                                    const std::string& reason) {
  Saved* job = FindSaved(id);
  if (job == nullptr) return;
  Perform(PerformCheckpoint(
      id, job->checkpoints.OnFailed(FindWorker(worker)->name, checkpoint, reason)));
}

void SimCoordinator::OnImagesCopied(WorkerId worker, JobId id, std::uint64_t checkpoint,
                                    const std::string& to_node, const std::string& failure) {
  Saved* job = FindSaved(id);
  if (job == nullptr) return SendKeeps(id, {{FindWorker(worker)->name, {}}, {to_node, {}}});
  Perform(PerformCheckpoint(id, job->checkpoints.OnCopied(FindWorker(worker)->name, checkpoint,
                                                          to_node, failure, ImageNodes())));
}

// ---- What the job's checkpoints want done -------------------------------------------------------

JobOrders SimCoordinator::PerformCheckpoint(JobId id, CheckpointOrders orders) {
  for (const CheckpointOrders::Copy& copy : orders.copies) {
    const auto* host = FindByName(copy.host);
    if (host == nullptr || FindByName(copy.to_node) == nullptr) continue;
    oracle_.Count("copies");
    Order(host->first, [id, copy](SimWorkerPort& port) { port.OnCopy(id, copy); });
  }
  SendKeeps(id, orders.keeps);
  const JobRecord* record = table_.Find(id);
  if (record != nullptr) SendLetGo(id, record->epoch, orders.let_go);
  if (orders.commit) Commit(id, *orders.commit);
  if (orders.numbers) StoreNumbers(id, *orders.numbers);
  return orders.end ? OnCheckpointEnd(id, *orders.end) : JobOrders{};
}

void SimCoordinator::SendKeeps(JobId job, const std::vector<CheckpointOrders::Keep>& keeps) {
  for (const CheckpointOrders::Keep& keep : keeps) {
    const auto* worker = FindByName(keep.node);
    if (worker == nullptr) continue;
    Order(worker->first,
          [job, numbers = keep.checkpoints](SimWorkerPort& port) { port.OnKeep(job, numbers); });
  }
}

void SimCoordinator::SendLetGo(JobId job, Epoch epoch,
                               const std::vector<CheckpointOrders::LetGo>& let_go) {
  for (const CheckpointOrders::LetGo& each : let_go) {
    const auto* worker = FindByName(each.node);
    if (worker == nullptr) continue;
    Order(worker->first, [job, epoch, number = each.checkpoint](SimWorkerPort& port) {
      port.OnLetGo(job, epoch, number);
    });
  }
}

void SimCoordinator::Commit(JobId id, const CheckpointCatalogue& catalogue) {
  const std::uint64_t number = catalogue.checkpoints.back().number;
  const auto apply = [this, id, catalogue] {
    if (journal_.fails && loop_.Chance(10)) return false;
    journal_.checkpoints[id] = catalogue;
    oracle_.OnCommitted(id, catalogue.checkpoints.back());
    return true;
  };
  writer_.Queue(
      {.apply = apply, .done = [this, id, number](bool ok) {
         Saved* job = FindSaved(id);
         if (job == nullptr) return;
         Perform(PerformCheckpoint(id, ok ? job->checkpoints.OnCommitted(number, Now().unix_ms)
                                          : job->checkpoints.OnCommitFailed(number, "disk full")));
       }});
}

void SimCoordinator::StoreNumbers(JobId id, const CheckpointCatalogue& catalogue) {
  writer_.Queue({.apply =
                     [this, id, catalogue] {
                       journal_.checkpoints[id] = catalogue;
                       return true;
                     },
                 .done =
                     [this, id](bool) {
                       if (Saved* job = FindSaved(id)) job->checkpoints.OnNumbersStored();
                     }});
}

JobOrders SimCoordinator::OnCheckpointEnd(JobId id, const CheckpointOrders::End& end) {
  Saved& job = *FindSaved(id);
  const bool committed = end.failure.empty();
  if (!committed) oracle_.Count("checkpoints given up");
  job.policy.OnEnd(
      loop_.now_ns(), end.cost,
      committed ? CheckpointPolicy::Ended::kCommitted : CheckpointPolicy::Ended::kGivenUp);
  JobOrders orders;
  if (committed) orders = table_.OnCheckpointCommitted(id);
  orders.Append(ServeWishes(id, job, end));
  return orders;
}

JobOrders SimCoordinator::ServeWishes(JobId id, Saved& job, const CheckpointOrders::End& end) {
  bool suspends = false;
  bool moves = false;
  for (const Wish& wish : job.wishes) {
    if (wish.number != end.number || !end.failure.empty()) continue;
    suspends = suspends || wish.kind == Wish::Kind::kSuspend;
    moves = moves || wish.kind == Wish::Kind::kMove;
  }
  std::erase_if(job.wishes, [&](const Wish& wish) { return wish.number == end.number; });
  if (!end.failure.empty() || end.hold == Hold::kNo) return {};
  JobOrders orders = suspends ? table_.OnSuspended(id, Now())
                     : moves  ? table_.OnMove(id, Now())
                              : JobOrders{};
  if (moves && !suspends && !orders.ends.empty()) oracle_.Count("moved");
  if (!orders.ends.empty() || suspends) return orders;
  std::vector<CheckpointOrders::LetGo> let_go;
  for (const CheckpointPart& part : job.checkpoints.last()->parts) {
    let_go.push_back({part.host, end.number});
  }
  SendLetGo(id, job.epoch, let_go);
  return orders;
}

// ---- What users want ----------------------------------------------------------------------------

void SimCoordinator::Request(JobId id, Wish::Kind kind) {
  Saved& job = *FindSaved(id);
  job.wishes.push_back({.kind = kind});
  const JobRecord& record = *table_.Find(id);
  if (record.shares.size() == 1 && job.epoch == record.epoch) {
    TakeOfLoneHost(id, running_.at(id).superstep);
  }
}

void SimCoordinator::Checkpoint(JobId id) {
  const JobRecord* record = table_.Find(id);
  if (record == nullptr || record->phase != JobPhase::kRunning) return;
  Request(id, Wish::Kind::kCheckpoint);
}

void SimCoordinator::Suspend(JobId id) {
  const JobRecord* record = table_.Find(id);
  if (record == nullptr || HasEnded(record->phase) || record->phase == JobPhase::kEnding) return;
  if (record->phase == JobPhase::kRunning && FindSaved(id)->epoch == record->epoch) {
    return Request(id, Wish::Kind::kSuspend);
  }
  if (record->phase != JobPhase::kSuspended) Perform(table_.OnSuspended(id, Now()));
}

void SimCoordinator::Resume(JobId id) {
  const JobRecord* record = table_.Find(id);
  if (record == nullptr || record->phase != JobPhase::kSuspended) return;
  oracle_.Count("resumed by users");
  Perform(table_.OnResume(id, Now()));
}

void SimCoordinator::MoveJobsFrom(WorkerId worker) {
  std::vector<JobId> moving;
  const std::vector<JobTable::NodeView> views = table_.nodes();
  for (const JobTable::NodeView& node : views) {
    if (node.node->worker == worker) moving = node.jobs;
  }
  for (const JobId id : moving) {
    Saved* job = FindSaved(id);
    const JobRecord* record = table_.Find(id);
    if (job == nullptr || job->epoch != record->epoch || record->phase != JobPhase::kRunning ||
        !table_.HasRoomElsewhere(id)) {
      continue;
    }
    Request(id, Wish::Kind::kMove);
  }
}

void SimCoordinator::EndCheckpoints(JobId id) {
  const auto found = saved_.find(id);
  if (found == saved_.end()) return;
  const std::vector<CheckpointOrders::Keep> nothing = found->second.checkpoints.Drop();
  saved_.erase(found);
  SendKeeps(id, nothing);
  if (nothing.empty()) return;
  writer_.Queue({.apply =
                     [this, id] {
                       journal_.checkpoints.erase(id);
                       return true;
                     },
                 .done = [](bool) {}});
}

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
  for (const JobId id : starting) Prepare(id);
}

void SimCoordinator::OnHolderLost(const std::string& node) {
  std::vector<JobId> jobs;
  for (const auto& [id, job] : saved_) {
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
  const auto cut = [this, id, words] {
    SimJournal::Log& log = journal_.logs[id];
    for (const auto& [pid, kept] : words) log[pid];
    for (auto& [pid, text] : log) {
      const auto kept = words.find(pid);
      const std::uint64_t bytes = kept == words.end() ? 0 : kept->second;
      if (bytes > text.size()) oracle_.Fail("the log has less than the checkpoint says");
      if (bytes < text.size()) oracle_.Count("logs cut back");
      text.resize(bytes);
    }
    return true;
  };
  const auto cut_then_start = [this, id, epoch, cut] {
    log_writer_.Queue(
        {.apply = cut, .done = [this, id, epoch](bool ok) { OnCutBack(id, epoch, ok); }});
  };
  const auto forgotten = job.checkpoints.GoBackTo(job.resumes_from);
  if (!forgotten) return cut_then_start();
  oracle_.Count("went back further");
  const auto apply = [this, id, catalogue = *forgotten, number = job.resumes_from] {
    if (journal_.fails && loop_.Chance(10)) return false;
    journal_.checkpoints[id] = catalogue;
    oracle_.OnWentBack(id, number);
    return true;
  };
  writer_.Queue({.apply = apply, .done = [this, id, epoch, cut_then_start](bool ok) {
                   ok ? cut_then_start() : OnCutBack(id, epoch, false);
                 }});
}

void SimCoordinator::OnCutBack(JobId id, Epoch epoch, bool ok) {
  Saved* job = FindSaved(id);
  if (job == nullptr || !job->starting || job->starting->epoch != epoch) return;
  job->cutting = false;
  if (!ok) return Perform(table_.OnBroken(id, epoch, "its output could not be cut back", Now()));
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
