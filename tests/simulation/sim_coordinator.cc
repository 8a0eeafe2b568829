#include "tests/simulation/sim_coordinator.h"

#include <algorithm>
#include <utility>

#include "coordinator/placement.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kTickNs = 100 * kMillisecond;
constexpr std::uint32_t kWorkersPerTerm = 1 << 20;

}  // namespace

SimCoordinator::SimCoordinator(SimLoop& loop, SimOracle& oracle, SimJournal& journal)
    : loop_(loop), oracle_(oracle), journal_(journal), table_(JobId{journal.next_job}) {
  journal_.term += 1;
  last_worker_ = journal_.term * kWorkersPerTerm;
  const std::map<JobId, JobRecord> stored = journal_.jobs;
  JobOrders orders;
  for (const auto& [id, record] : stored) {
    if (HasEnded(record.phase)) oracle_.OnEndStored(id, record.phase, record.exit_status);
    orders.Append(table_.Restore(record, RequestOf(record), Now()));
  }
  Perform(std::move(orders));
  Tick();
}

// Writes are done in order; those that were under way may all, partly or not have been done.
void SimCoordinator::Die() {
  dead_ = true;
  for (const JobTransition& transition : writing_) {
    if (loop_.Chance(50)) break;
    journal_.jobs[transition.record.id] = transition.record;
    journal_.next_job = std::max(journal_.next_job, Value(transition.record.id) + 1);
  }
  for (auto& [id, worker] : workers_) {
    worker.control->Close(SimLink::kCalled);
    if (worker.frames) worker.frames->Close(SimLink::kCalled);
  }
}

// ---- What the table decides ---------------------------------------------------------------------

void SimCoordinator::Submit(const JobRequest& request, const std::string& key, OnJob acknowledged) {
  JobTable::Submission submission = table_.OnSubmit(request, key, Now());
  if (submission.accepted) {
    acknowledged(submission.job);
  } else {
    submissions_.emplace(submission.job, std::move(acknowledged));
  }
  Perform(std::move(submission.orders));
}

void SimCoordinator::Perform(JobOrders orders) {
  for (JobTransition& transition : orders.store) Write(std::move(transition));
  for (const StartOrder& order : orders.starts) Start(order);
  for (const SignalOrder& order : orders.signals) {
    Control(order.worker, [](SimWorkerPort&) {});  // These programs clean up for ever.
  }
  for (const EndOrder& order : orders.ends) {
    Control(order.worker, [order](SimWorkerPort& port) { port.OnEnd(order); });
  }
  for (const JobId job : orders.accepted) {
    const auto [first, last] = submissions_.equal_range(job);
    for (auto it = first; it != last; ++it) it->second(job);
    submissions_.erase(first, last);
  }
  for (const JobId job : orders.refused) submissions_.erase(job);
  for (const JobId job : orders.cleared) running_.erase(job);
  for (const JobId job : orders.ended) {
    const JobRecord& record = *table_.Find(job);
    oracle_.OnEnded(job, record.phase, record.exit_status);
  }
  oracle_.CheckTable(table_);
}

void SimCoordinator::Start(const StartOrder& order) {
  oracle_.OnStartOrdered(order.job);
  std::vector<BarrierHost> hosts;
  std::uint32_t nprocs = 0;
  for (const NodeShare& share : order.hosts) {
    hosts.push_back({.worker = share.worker, .pids = share.pids});
    nprocs += static_cast<std::uint32_t>(share.pids.size());
  }
  running_.insert_or_assign(
      order.job, Running{.epoch = order.epoch, .barrier = Barrier(nprocs, std::move(hosts))});
  for (const NodeShare& share : order.hosts) {
    Control(share.worker, [order, spec = table_.Find(order.job)->spec](SimWorkerPort& port) {
      port.OnStart(order, spec);
    });
  }
}

void SimCoordinator::Write(JobTransition transition) {
  if (transition.record.phase == JobPhase::kRunning) CheckOrder(transition.record);
  writing_.push_back(std::move(transition));
  loop_.After(kMillisecond + loop_.Below(20 * kMillisecond), [this] {
    if (!dead_) OnWritten();
  });
}

void SimCoordinator::OnWritten() {
  const JobTransition transition = std::move(writing_.front());
  writing_.pop_front();
  if (journal_.fails && loop_.Chance(10)) {
    return Perform(table_.OnStoreFailed(transition.sequence, "disk full", Now()));
  }
  journal_.jobs[transition.record.id] = transition.record;
  journal_.next_job = std::max(journal_.next_job, Value(transition.record.id) + 1);
  Perform(table_.OnStored(transition.sequence, Now()));
}

// First come, first served: a job that was placed has taken nothing from one before it that waits.
void SimCoordinator::CheckOrder(const JobRecord& placed) const {
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
    // Without a reason: it is not durable yet.
    if (record->phase != JobPhase::kWaiting || record->reason.empty()) continue;
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

// ---- Workers ------------------------------------------------------------------------------------

WorkerId SimCoordinator::Register(const std::string& name, std::uint32_t slots,
                                  std::uint64_t incarnation, SimWorkerPort& port,
                                  const Link& control) {
  for (const auto& [id, worker] : workers_) {
    if (worker.name != name) continue;
    Lose(id, "it was started anew");
    break;
  }
  const WorkerId id{++last_worker_};
  workers_[id] = Worker{.name = name,
                        .incarnation = incarnation,
                        .port = &port,
                        .control = control,
                        .frames = nullptr};
  leases_.Admit(id, loop_.now_ns());
  Perform(table_.OnNodeUp({.worker = id,
                           .name = name,
                           .slots = slots,
                           .memory_bytes = 0,
                           .load = 0,
                           .labels = {},
                           .drained = false},
                          Now()));
  return id;
}

void SimCoordinator::Lose(WorkerId id, const std::string& reason) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  found->second.control->Close(SimLink::kCalled);
  if (found->second.frames) found->second.frames->Close(SimLink::kCalled);
  leases_.Forget(id);
  workers_.erase(found);
  Perform(table_.OnNodeLost(id, reason, {}, Now()));
}

void SimCoordinator::Tick() {
  if (dead_) return;
  for (const LostLease& lost : leases_.TakeLost(loop_.now_ns())) Lose(lost.worker, lost.reason);
  if (table_.next_deadline_ns() <= loop_.now_ns()) Perform(table_.OnTime(Now()));
  loop_.After(kTickNs, [this] { Tick(); });
}

void SimCoordinator::Control(WorkerId worker, std::function<void(SimWorkerPort&)> say) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  found->second.control->Send(SimLink::kCalled,
                              [port = found->second.port, say = std::move(say)] { say(*port); });
}

void SimCoordinator::Frames(WorkerId worker, std::function<void(SimWorkerPort&)> say) {
  const auto found = workers_.find(worker);
  if (found == workers_.end() || !found->second.frames) return;
  found->second.frames->Send(SimLink::kCalled,
                             [port = found->second.port, say = std::move(say)] { say(*port); });
}

// ---- Frames, as BarrierServer takes them --------------------------------------------------------

void SimCoordinator::OnHello(WorkerId id, std::uint64_t incarnation, const Link& link) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || found->second.incarnation != incarnation) {
    return link->Close(SimLink::kCalled);
  }
  if (found->second.frames) found->second.frames->Close(SimLink::kCalled);
  found->second.frames = link;
  link->OnBroken(SimLink::kCalled, [this, id](const Link& broken) {
    const auto worker = workers_.find(id);
    if (!dead_ && worker != workers_.end() && worker->second.frames == broken) {
      leases_.OnBroken(id, loop_.now_ns());
    }
  });
  leases_.OnConnected(id, loop_.now_ns());
  Frames(id, [link](SimWorkerPort& port) { port.OnWelcome(link); });
  for (const auto& [job, running] : running_) {
    const std::uint32_t p = running.barrier.processes();
    if (p == 0 || running.barrier.HostOf(id) == running.barrier.hosts()) continue;
    Frames(id, [job = job, epoch = running.epoch, p](SimWorkerPort& port) {
      port.OnBegin(job, epoch, p);
    });
  }
}

SimCoordinator::Running* SimCoordinator::Lookup(JobId job, Epoch epoch) {
  const auto found = running_.find(job);
  return found == running_.end() || found->second.epoch != epoch ? nullptr : &found->second;
}

void SimCoordinator::OnBeginFrame(WorkerId worker, JobId job, Epoch epoch,
                                  std::uint32_t processes) {
  Running* running = Lookup(job, epoch);
  if (running == nullptr) return;
  const BarrierVerdict verdict = running->barrier.OnBegin(worker, processes);
  if (verdict == BarrierVerdict::kRefused) oracle_.Fail(running->barrier.refusal());
  if (verdict != BarrierVerdict::kTellBegin) return;
  for (std::size_t i = 0; i < running->barrier.hosts(); ++i) {
    if (running->barrier.worker(i) == worker) continue;
    Frames(running->barrier.worker(i),
           [job, epoch, processes](SimWorkerPort& port) { port.OnBegin(job, epoch, processes); });
  }
}

void SimCoordinator::OnArrive(WorkerId worker, JobId job, Epoch epoch,
                              const std::vector<std::byte>& payload) {
  Running* running = Lookup(job, epoch);
  if (running == nullptr) return;
  Barrier& barrier = running->barrier;
  switch (barrier.OnArrive(worker, *ArriveView::Decode(payload))) {
    case BarrierVerdict::kRelease:
      for (std::size_t i = 0; i < barrier.hosts(); ++i) {
        if (barrier.takes_part(i)) SendRelease(job, *running, i);
      }
      break;
    case BarrierVerdict::kRepeat:
      SendRelease(job, *running, barrier.HostOf(worker));
      break;
    case BarrierVerdict::kRefused:
      oracle_.Fail(barrier.refusal());
      break;
    default:
      break;
  }
}

void SimCoordinator::SendRelease(JobId job, const Running& running, std::size_t host) {
  const std::span<const std::byte> bytes = running.barrier.release(host);
  Frames(running.barrier.worker(host),
         [job, epoch = running.epoch, release = std::vector<std::byte>(bytes.begin(), bytes.end())](
             SimWorkerPort& port) { port.OnRelease(job, epoch, release); });
}

}  // namespace bspnow
