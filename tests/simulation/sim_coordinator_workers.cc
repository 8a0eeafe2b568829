// The workers' side of the simulated coordinator, as cluster_workers.cc, WorkerRoster
// and BarrierServer do it.
#include <algorithm>
#include <utility>

#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kLeaseNs = kSecond;

}  // namespace

// ---- Coming and going ---------------------------------------------------------------------------

SimCoordinator::Worker* SimCoordinator::FindWorker(WorkerId id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

std::pair<const WorkerId, SimCoordinator::Worker>* SimCoordinator::FindByName(
    const std::string& name) {
  for (auto& each : workers_) {
    if (each.second.name == name) return &each;
  }
  return nullptr;
}

std::string SimCoordinator::CheckPredecessor(const Worker* earlier, WorkerId id) const {
  const std::uint64_t now_ns = loop_.now_ns();
  const std::uint64_t age_ns = earlier != nullptr ? leases_.AgeNs(id, now_ns)
                               : awaits_hosts_    ? now_ns - started_ns_
                                                  : kLeaseNs;
  return age_ns >= kLeaseNs ? "" : "the lease of a worker that was here before still holds";
}

SchedulerNode SimCoordinator::NodeOf(WorkerId id, const Worker& worker) const {
  return {.worker = id,
          .name = worker.name,
          .slots = worker.slots,
          .memory_bytes = 0,
          .load = 0,
          .labels = {},
          .drained = drained_.contains(worker.name),
          .cpu_features = {}};
}

SimRegistered SimCoordinator::Register(const SimRegistration& request) {
  const bool returns = table_.Awaits(request.previous);
  auto* earlier = FindByName(request.name);
  if (earlier != nullptr) {
    const Worker& worker = earlier->second;
    const bool same = worker.incarnation == request.incarnation;
    if (same && !worker.attached) return worker.reply;
    const auto open = [](const Link& link) { return link && !link->broken(SimLink::kCalled); };
    if (!same && (open(worker.control) || open(worker.frames))) {
      return {.refusal = "a worker of this name lives"};
    }
  }
  if (earlier != nullptr || !returns) {
    const std::string refusal = CheckPredecessor(earlier == nullptr ? nullptr : &earlier->second,
                                                 earlier == nullptr ? WorkerId{0} : earlier->first);
    if (!refusal.empty()) return {.refusal = refusal};
  }
  if (earlier != nullptr) Lose(earlier->first, "it was started anew");
  const WorkerId id = returns ? request.previous : WorkerId{++last_worker_};
  Worker& worker = workers_[id];
  worker = Worker{.name = request.name,
                  .slots = request.slots,
                  .incarnation = request.incarnation,
                  .port = request.port,
                  .reply = {.refusal = "", .worker = id, .term = term_},
                  .attached = false,
                  .control = nullptr,
                  .frames = nullptr};
  leases_.Admit(id, loop_.now_ns());
  JobOrders orders;
  if (returns) {
    for (const HeldEpoch& held : request.held) {
      Running* running = Lookup(held.job, held.epoch);
      if (running == nullptr) continue;
      running->first_superstep = held.first_superstep;
      running->superstep = std::max(running->superstep, held.first_superstep);
    }
    JobTable::Return returned = table_.OnHostReturned(NodeOf(id, worker), request.held, Now());
    worker.reply.keep = returned.kept;
    orders = std::move(returned.orders);
  } else {
    oracle_.Count("registrations");
  }
  const SimRegistered reply = worker.reply;  // What is performed may lose it.
  const SchedulerNode node = NodeOf(id, worker);
  OnStoredJobs(request.name, request.stored);
  Perform(returns ? std::move(orders) : table_.OnNodeUp(node, Now()));
  return reply;
}

void SimCoordinator::Lose(WorkerId id, const std::string& reason) {
  Worker* worker = FindWorker(id);
  if (worker == nullptr) return;
  std::map<JobId, Superstep> superstep_of;
  for (const auto& [job, running] : running_) superstep_of[job] = Superstep{running.superstep};
  leases_.Forget(id);
  if (worker->frames) worker->frames->Close(SimLink::kCalled);
  if (worker->control) {
    worker->control->Send(SimLink::kCalled, [port = worker->port, link = worker->control] {
      port->OnForgotten(link);
    });
    worker->control->Close(SimLink::kCalled);
  }
  const std::string name = worker->name;
  workers_.erase(id);
  OnHolderLost(name);
  Perform(table_.OnNodeLost(id, reason, superstep_of, Now()));
}

void SimCoordinator::SetDrained(const std::string& node, Turn turn) {
  const bool drained = turn == Turn::kAway;
  drained ? static_cast<void>(drained_.insert(node)) : static_cast<void>(drained_.erase(node));
  writer_.Queue({.apply =
                     [this, node, drained] {
                       if (drained) {
                         journal_.drained.insert(node);
                       } else {
                         journal_.drained.erase(node);
                       }
                       return Written::kYes;
                     },
                 .done = [](Written) {}});
  auto* worker = FindByName(node);
  if (worker == nullptr) return;
  const WorkerId id = worker->first;
  Perform(drained ? table_.OnDrained(id, Now()) : table_.OnUndrained(id, Now()));
  if (drained) MoveJobsFrom(id);
}

// ---- The control stream -------------------------------------------------------------------------

void SimCoordinator::AttachWorker(WorkerId id, std::uint64_t incarnation, std::uint32_t term,
                                  std::uint64_t orders_taken, const Link& control,
                                  SimWorkerPort& port) {
  Worker* worker = FindWorker(id);
  if (worker == nullptr || worker->incarnation != incarnation || term != term_) {
    if (term != term_) oracle_.Count("refused old terms");
    control->Send(SimLink::kCalled, [&port, control] { port.OnForgotten(control); });
    return control->Close(SimLink::kCalled);
  }
  worker->attached = true;
  if (worker->control) worker->control->Close(SimLink::kCalled);
  worker->control = control;
  while (!worker->untaken.empty() && worker->last_order - worker->untaken.size() < orders_taken) {
    worker->untaken.pop_front();
  }
  std::uint64_t sequence = worker->last_order - worker->untaken.size();
  for (const SimOrder& order : worker->untaken) SendOrder(*worker, ++sequence, order);
  Acknowledge(*worker);
}

void SimCoordinator::OnEvent(WorkerId id, const Link& control, std::uint64_t sequence,
                             std::uint64_t orders_taken, const SimEvent& event) {
  Worker* worker = FindWorker(id);
  if (worker == nullptr || worker->control != control) return;
  while (!worker->untaken.empty() && worker->last_order - worker->untaken.size() < orders_taken) {
    worker->untaken.pop_front();
  }
  if (sequence > worker->last_event + 1) return oracle_.Fail("an event of a worker is missing");
  if (sequence == worker->last_event + 1) {
    worker->last_event = sequence;
    if (event.output || worker->in_log.empty()) {
      event.act(*this, id);
      worker = FindWorker(id);  // It may have been lost.
    } else {
      worker->in_log.emplace_back(sequence, event);
    }
  }
  if (worker != nullptr) Acknowledge(*worker);
}

void SimCoordinator::Acknowledge(const Worker& worker) {
  if (!worker.control) return;
  const std::uint64_t sequence =
      worker.in_log.empty() ? worker.last_event : worker.in_log.front().first - 1;
  worker.control->Send(SimLink::kCalled, [port = worker.port, link = worker.control, sequence] {
    port->OnAcknowledge(link, sequence);
  });
}

void SimCoordinator::Order(WorkerId id, SimOrder order) {
  Worker* worker = FindWorker(id);
  if (worker == nullptr) return;
  worker->untaken.push_back(std::move(order));
  SendOrder(*worker, ++worker->last_order, worker->untaken.back());
}

void SimCoordinator::SendOrder(const Worker& worker, std::uint64_t sequence,
                               const SimOrder& order) {
  if (!worker.control) return;
  worker.control->Send(SimLink::kCalled, [port = worker.port, link = worker.control, sequence,
                                          order] { port->OnOrder(link, sequence, order); });
}

// It counts as acted upon when it is in the log.
void SimCoordinator::OnOutput(WorkerId id, JobId job, Epoch epoch, const SimOutput& output) {
  const JobRecord* record = table_.Find(job);
  if (record == nullptr || HasEnded(record->phase) || record->epoch != epoch) {
    oracle_.Count("output of old epochs");
    return;
  }
  FindWorker(id)->in_log.emplace_back(FindWorker(id)->last_event, std::nullopt);
  const auto append = [this, job, output] {
    std::vector<std::uint64_t>& log = journal_.logs[job][output.pid];
    if (output.offset > log.size()) return Written::kNo;
    if (output.offset < log.size()) {
      oracle_.Count("repeated output");
      if (log[output.offset] != output.word) oracle_.Fail("output is repeated otherwise");
      return Written::kYes;
    }
    log.push_back(output.word);
    return Written::kYes;
  };
  log_writer_.Queue({.apply = append, .done = [this, id, job, epoch](Written written) {
                       OnLogged(id);
                       if (written == Written::kYes) return;
                       oracle_.Count("gaps in output");
                       Perform(table_.OnBroken(job, epoch, "a gap in its output", Now()));
                     }});
}

// What came behind output counts when that is written.
void SimCoordinator::OnLogged(WorkerId id) {
  Worker* worker = FindWorker(id);
  if (worker == nullptr) return;
  worker->in_log.pop_front();
  while (worker != nullptr && !worker->in_log.empty() && worker->in_log.front().second) {
    const SimEvent event = *std::move(worker->in_log.front().second);
    worker->in_log.pop_front();
    event.act(*this, id);
    worker = FindWorker(id);
  }
  if (worker != nullptr) Acknowledge(*worker);
}

// ---- Frames, as BarrierServer takes them --------------------------------------------------------

void SimCoordinator::Frames(WorkerId worker, std::function<void(SimWorkerPort&)> say) {
  const auto found = workers_.find(worker);
  if (found == workers_.end() || !found->second.frames) return;
  found->second.frames->Send(SimLink::kCalled,
                             [port = found->second.port, say = std::move(say)] { say(*port); });
}

void SimCoordinator::OnHello(WorkerId id, std::uint64_t incarnation, std::uint32_t term,
                             const Link& link) {
  // Who has lost the journal's lock gives no leases: its address is another's.
  if (superseded()) return link->Break();
  Worker* worker = FindWorker(id);
  if (worker == nullptr || worker->incarnation != incarnation || term != term_) {
    if (term != term_) oracle_.Count("refused old terms");
    return link->Close(SimLink::kCalled);
  }
  if (worker->frames) worker->frames->Close(SimLink::kCalled);
  worker->frames = link;
  link->OnBroken(SimLink::kCalled, [this, id](const Link& broken) {
    const Worker* of_link = FindWorker(id);
    if (!dead_ && of_link != nullptr && of_link->frames == broken) {
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

void SimCoordinator::OnHeartbeat(WorkerId id, const Link& link, std::uint64_t sent_ns) {
  const Worker* worker = FindWorker(id);
  if (worker == nullptr || worker->frames != link) return;
  leases_.OnRenewed(id, loop_.now_ns());
  Frames(id, [link, sent_ns](SimWorkerPort& port) { port.OnLease(link, sent_ns); });
}

SimCoordinator::Running* SimCoordinator::Lookup(JobId job, Epoch epoch) {
  const auto found = running_.find(job);
  return found == running_.end() || found->second.epoch != epoch ? nullptr : &found->second;
}

void SimCoordinator::OnBeginFrame(WorkerId worker, JobId job, Epoch epoch,
                                  std::uint32_t processes) {
  Running* running = Lookup(job, epoch);
  if (running == nullptr || FindWorker(worker) == nullptr) return;
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
  if (running == nullptr || FindWorker(worker) == nullptr) return;
  Barrier& barrier = running->barrier;
  const ArriveView arrive = *ArriveView::Decode(payload);
  switch (barrier.OnArrive(worker, arrive)) {
    case BarrierVerdict::kRelease:
      OnSuperstepOver(job, *running, arrive.body().sums.superstep);
      for (std::size_t i = 0; i < barrier.hosts(); ++i) {
        if (barrier.takes_part(i)) SendRelease(job, *running, i);
      }
      break;
    case BarrierVerdict::kRepeat:
      oracle_.Count("repeated releases");
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
