// Checkpoints of the simulated coordinator, as coordinator/core/cluster_checkpoints.cc takes them.
#include <algorithm>
#include <utility>

#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
namespace {

constexpr CheckpointLimits kLimits{
    .mtbf_ns = 10 * kSecond, .overhead_max = 0.5, .renewal_ns_min = 20 * kMillisecond};

}  // namespace

bool SimCoordinator::Saved::HasPendingWish() const {
  return std::any_of(wishes.begin(), wishes.end(),
                     [](const Wish& wish) { return wish.number == 0; });
}

void SimCoordinator::Saved::CountCopies(const LiveNodes& live) {
  policy.OnCopies(checkpoints.LacksCopies(live) ? CheckpointPolicy::Copies::kTooFew
                                                : CheckpointPolicy::Copies::kEnough);
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
  if (job.checkpoints.LacksCopies(ImageNodes())) oracle_.Count("lost copies renewed");
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
    if (journal_.fails && loop_.Chance(10)) return Written::kNo;
    journal_.checkpoints[id] = catalogue;
    oracle_.OnCommitted(id, catalogue.checkpoints.back());
    return Written::kYes;
  };
  writer_.Queue(
      {.apply = apply, .done = [this, id, number](Written written) {
         Saved* job = FindSaved(id);
         if (job == nullptr) return;
         Perform(PerformCheckpoint(id, written == Written::kYes
                                           ? job->checkpoints.OnCommitted(number, Now().unix_ms)
                                           : job->checkpoints.OnCommitFailed(number, "disk full")));
       }});
}

void SimCoordinator::StoreNumbers(JobId id, const CheckpointCatalogue& catalogue) {
  writer_.Queue({.apply =
                     [this, id, catalogue] {
                       journal_.checkpoints[id] = catalogue;
                       return Written::kYes;
                     },
                 .done =
                     [this, id](Written) {
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
  if (committed) {
    job.CountCopies(ImageNodes());
    orders = table_.OnCheckpointCommitted(id);
  }
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
  const bool journaled = found->second.checkpoints.count() != 0;
  saved_.erase(found);
  SendKeeps(id, nothing);
  if (nothing.empty() && !journaled) return;
  writer_.Queue({.apply =
                     [this, id] {
                       journal_.checkpoints.erase(id);
                       return Written::kYes;
                     },
                 .done = [](Written) {}});
}

}  // namespace bspnow
