#include "tests/simulation/sim_coordinator.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/jobs/placement.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kTickNs = 100 * kMillisecond;
constexpr std::uint64_t kDeafNs = 500 * kMillisecond;
constexpr std::uint64_t kJournalNs = 20 * kMillisecond;
constexpr std::uint64_t kLogNs = 200 * kMicrosecond;
constexpr std::uint32_t kWorkersPerTerm = 1 << 20;

}  // namespace

SimCoordinator::SimCoordinator(SimLoop& loop, SimOracle& oracle, SimJournal& journal,
                               IsLeft is_left)
    : loop_(loop),
      oracle_(oracle),
      journal_(journal),
      is_left_(std::move(is_left)),
      term_(++journal.term),
      table_(JobId{journal.next_job}),
      writer_(
          loop, actor_, [this] { return !superseded(); }, kJournalNs),
      log_writer_(
          loop, actor_, [this] { return !superseded(); }, kLogNs),
      drained_(journal.drained),
      last_worker_(term_ * kWorkersPerTerm),
      started_ns_(loop.now_ns()),
      last_tick_ns_(loop.now_ns()) {
  Restore();
  Tick();
}

void SimCoordinator::Die() {
  dead_ = true;
  writer_.Die();
  log_writer_.Die();
  CutConnections();
}

void SimCoordinator::CutConnections() {
  for (auto& [id, worker] : workers_) {
    for (const Link& link : {worker.control, worker.frames}) {
      if (!link) continue;
      dead_ ? link->Close(SimLink::kCalled) : link->Break();
    }
  }
}

// As Cluster::Restore and AdoptJobs.
void SimCoordinator::Restore() {
  const std::map<JobId, JobRecord> stored = journal_.jobs;
  JobOrders orders;
  for (const auto& [id, record] : stored) {
    if (HasEnded(record.phase)) oracle_.OnEndStored(record);
    orders.Append(table_.Restore(record, RequestOf(record), Now()));
    const auto catalogue = journal_.checkpoints.find(id);
    if (HasEnded(record.phase)) {
      if (catalogue != journal_.checkpoints.end()) journal_.checkpoints.erase(catalogue);
      continue;
    }
    const bool has_any = catalogue != journal_.checkpoints.end();
    AddSaved(id, record.spec)
        .checkpoints.Restore(has_any ? catalogue->second : CheckpointCatalogue{});
  }
  Perform(std::move(orders));
  for (const JobRecord* record : table_.records()) {
    if (record->phase != JobPhase::kRunning) continue;
    std::vector<BarrierHost> hosts;
    for (const NodeShare& share : record->shares) {
      hosts.push_back({.worker = share.worker, .pids = share.pids});
    }
    const std::uint32_t nprocs = RequestOf(*record).claim.nprocs;
    running_.insert_or_assign(record->id,
                              Running{.epoch = record->epoch,
                                      .barrier = Barrier({.nprocs = nprocs,
                                                          .hosts = std::move(hosts),
                                                          .participants = 0,
                                                          .origin = EpochOrigin::kAdopted}),
                                      .first_superstep = 0,
                                      .superstep = 0});
    awaits_hosts_ = true;
  }
}

// ---- What the table decides ---------------------------------------------------------------------

void SimCoordinator::Submit(const JobRequest& request, const std::string& key, OnJob acknowledged) {
  JobTable::Submission submission = table_.OnSubmit(request, key, Now());
  if (!submission.known) AddSaved(submission.job, request.spec);
  if (submission.accepted) {
    acknowledged(submission.job);
  } else {
    submissions_.emplace(submission.job, std::move(acknowledged));
  }
  Perform(std::move(submission.orders));
}

void SimCoordinator::Trace(const JobOrders& orders) const {
  const auto say = [this](const char* what, JobId job, const std::string& more) {
    oracle_.Trace("term " + std::to_string(term_) + " " + what + " job " +
                  std::to_string(Value(job)) + " " + more);
  };
  for (const JobTransition& each : orders.store) {
    const JobRecord& record = each.record;
    say("stores", record.id,
        "epoch " + std::to_string(Value(record.epoch)) + " phase " +
            std::to_string(static_cast<std::uint32_t>(record.phase)) + " " + record.reason);
  }
  for (const StartOrder& each : orders.starts) {
    say("starts", each.job, "epoch " + std::to_string(Value(each.epoch)));
  }
  for (const EndOrder& each : orders.ends) {
    say("ends", each.job, "on worker " + std::to_string(Value(each.worker)));
  }
  for (const LauncherLine& each : orders.lines) say("says", each.job, each.text);
  for (const JobId job : orders.recovering) say("recovering", job, "");
  for (const JobId job : orders.returned) say("returned", job, "");
  for (const JobId job : orders.cleared) say("cleared", job, "");
  for (const JobId job : orders.suspended) say("suspended", job, "");
  for (const JobId job : orders.ended) say("ended", job, "");
}

// As Cluster::Perform.
void SimCoordinator::Perform(JobOrders orders) {
  if (oracle_.traces()) Trace(orders);
  for (JobTransition& transition : orders.store) Store(std::move(transition));
  for (const StartOrder& order : orders.starts) Start(order);
  for (const SignalOrder& order : orders.signals) {
    Order(order.worker, [](SimWorkerPort&) {});  // These programs clean up for ever.
  }
  for (const JobId job : orders.recovering) {
    oracle_.Count("epochs over");
    AbandonEpoch(job);
  }
  for (const JobId job : orders.returned) OnReturned(job);
  for (const EndOrder& order : orders.ends) {
    AbandonEpoch(order.job);
    if (EndsUnstarted(order)) continue;
    Order(order.worker, [order](SimWorkerPort& port) { port.OnEnd(order); });
  }
  for (const JobId job : orders.accepted) {
    const auto [first, last] = submissions_.equal_range(job);
    for (auto it = first; it != last; ++it) it->second(job);
    submissions_.erase(first, last);
  }
  for (const JobId job : orders.refused) {
    submissions_.erase(job);
    saved_.erase(job);
  }
  for (const JobId job : orders.cleared) Clear(job);
  for (const JobId job : orders.suspended) {
    oracle_.Count("suspended");
    CheckNothingLeft(job);
  }
  for (const JobId job : orders.ended) OnEnded(job);
  SetDeadline();
  if (!superseded()) oracle_.CheckTable(table_);
}

void SimCoordinator::CheckNothingLeft(JobId job) const {
  std::vector<WorkerId> workers;
  for (const auto& [id, worker] : workers_) workers.push_back(id);
  if (is_left_(job, workers)) {
    oracle_.Fail("job " + std::to_string(Value(job)) + " has left its nodes, but is still there");
  }
}

void SimCoordinator::OnEnded(JobId job) {
  if (!superseded()) {
    CheckNothingLeft(job);
    oracle_.OnEnded(*table_.Find(job));
  }
  EndCheckpoints(job);
}

void SimCoordinator::Start(const StartOrder& order) {
  Saved& job = *FindSaved(order.job);
  if (!order.resumes) return Launch(order, nullptr);
  job.starting = order;
  job.cutting = false;
  Prepare(order.job);
}

void SimCoordinator::Clear(JobId job) {
  AbandonEpoch(job);
  if (Saved* left = FindSaved(job)) left->starting.reset();
  running_.erase(job);
}

// ---- The journal --------------------------------------------------------------------------------

void SimCoordinator::Store(JobTransition transition) {
  if (transition.record.phase == JobPhase::kRunning) CheckOrder(transition.record);
  const auto apply = [this, record = transition.record] {
    if (journal_.fails && loop_.Chance(10)) return Written::kNo;
    journal_.jobs[record.id] = record;
    journal_.next_job = std::max(journal_.next_job, Value(record.id) + 1);
    return Written::kYes;
  };
  writer_.Queue({.apply = apply, .done = [this, sequence = transition.sequence](Written written) {
                   Perform(written == Written::kYes
                               ? table_.OnStored(sequence, Now())
                               : table_.OnStoreFailed(sequence, "disk full", Now()));
                 }});
}

// First come, first served: a job that was placed has taken nothing from one before it that waits.
void SimCoordinator::CheckOrder(const JobRecord& placed) const {
  if (placed.epoch != Epoch{1} || placed.cancelled || !placed.losses.empty()) return;
  std::vector<FreeNode> free;
  const std::vector<JobTable::NodeView> views = table_.nodes();
  for (const JobTable::NodeView& view : views) {
    if (view.node->drained) continue;
    std::uint32_t slots = view.node->slots - view.slots_used;
    for (const NodeShare& share : placed.shares) {
      if (share.worker == view.node->worker) slots += share.slots;
    }
    free.push_back({.node = view.node, .slots = slots, .memory_bytes = 0});
  }
  const JobRecord* first = nullptr;
  for (const JobRecord* record : table_.records()) {
    // What leaves its nodes holds their slots until it has left all of them.
    if (record->phase == JobPhase::kRecovering || record->phase == JobPhase::kSuspended ||
        record->phase == JobPhase::kEnding) {
      return;
    }
    // Without a reason: it is not durable yet. Or the journal did not take its start just now.
    if (record->phase != JobPhase::kWaiting || record->reason.empty() ||
        record->reason.starts_with("its start could not be stored")) {
      continue;
    }
    if (first == nullptr || RequestOf(*record).priority > RequestOf(*first).priority) {
      first = record;
    }
  }
  if (first == nullptr) return;
  const JobRequest& request = RequestOf(*first);
  const std::int32_t priority = RequestOf(placed).priority;
  if (request.priority < priority || (request.priority == priority && placed.id < first->id))
    return;
  if (Place(request.claim, request.claim.nprocs, free).has_value()) {
    oracle_.Fail("job " + std::to_string(Value(placed.id)) + " is placed where job " +
                 std::to_string(Value(first->id)) + ", which comes first, would fit");
  }
}

// ---- Time ---------------------------------------------------------------------------------------

// As BarrierServer::Tick.
void SimCoordinator::Tick() {
  if (dead_) return;
  const std::uint64_t now_ns = loop_.now_ns();
  if (now_ns - last_tick_ns_ > kDeafNs) leases_.OnPaused(now_ns - last_tick_ns_, now_ns);
  last_tick_ns_ = now_ns;
  for (const LostLease& lost : leases_.TakeLost(now_ns)) {
    oracle_.Count("leases lost");
    Lose(lost.worker, lost.reason);
  }
  std::vector<JobId> waiting;
  for (const auto& [id, job] : saved_) {
    if (job.starting && job.waits_since_ns != 0) waiting.push_back(id);
  }
  for (const JobId id : waiting) Prepare(id);
  loop_.On(actor_, kTickNs, [this] { Tick(); });
}

void SimCoordinator::SetDeadline() {
  const std::uint64_t due_ns = table_.next_deadline_ns();
  if (due_ns == deadline_ns_) return;
  deadline_ns_ = due_ns;
  if (due_ns == kNoEnd) return;
  const std::uint64_t now_ns = loop_.now_ns();
  loop_.On(actor_, due_ns > now_ns ? due_ns - now_ns : 0, [this, due_ns] { OnDeadline(due_ns); });
}

void SimCoordinator::OnDeadline(std::uint64_t due_ns) {
  if (dead_ || deadline_ns_ != due_ns) return;
  deadline_ns_ = kNoEnd;
  Perform(table_.OnTime(Now()));
}

}  // namespace bspnow
