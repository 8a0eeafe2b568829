// After a restart of the coordinator: what the journal says, until the workers are back and say it,
// too.
#include <absl/strings/str_cat.h>
#include <signal.h>

#include <algorithm>

#include "base/exit_status.h"
#include "coordinator/core/jobs/job_table_event.h"

namespace bspnow::coordinator {

/// Its processes may still be on these nodes.
void JobTable::Event::Await(Job& entry) {
  entry.started = true;
  entry.clearing = entry.state() != proto::RUNNING;
  entry.clearing_since_ns = at_.now_ns;
  entry.shares = SharesOf(entry.record);
  for (const NodeShare& share : entry.shares) entry.hosts_left.push_back(share.worker);
  entry.awaited = entry.hosts_left;
  entry.not_resumed = entry.hosts_left;
  entry.may_have_begun = entry.hosts_left;
  entry.return_ns = at_.now_ns + kReturnNs;
  table_.running_.push_back(entry.id());
}

JobOrders JobTable::Restore(const JobRecord& record, const Moment& at) {
  const JobId id = IdOf(record);
  const proto::Job& job = record.job();
  Event event(*this, at);
  jobs_.emplace(id, record);
  Job& entry = event.At(id);
  if (!record.submission_key().empty()) by_key_[record.submission_key()] = id;
  last_job_ = std::max(last_job_, Value(id));
  entry.durable = true;
  entry.input_stored = record.took_input();
  entry.run_before_ms = job.run_ms();
  entry.ran = job.started_unix_ms() != 0;
  entry.attached_before = entry.ran && !job.never_attached();
  entry.loss_open = !job.losses().empty() && !job.losses().rbegin()->resumed() &&
                    job.state() != proto::SUSPENDED && !record.loss_over();
  if (entry.loss_open) {  // Between two coordinators there is no other clock than that of the wall.
    entry.lost_ns = at.now_ns;
    entry.lost_before_ms = static_cast<std::uint64_t>(
        std::max<std::int64_t>(at.unix_ms - job.losses().rbegin()->unix_ms(), 0));
  }
  if (HasEnded(record)) {
    ended_.push_back(id);
  } else if (!entry.ran) {
    event.AwaitOthers(entry);
    if (entry.state() == proto::WAITING) event.Enqueue(entry);
  } else if (!record.hosts().empty()) {
    if (job.state() == proto::ENDING) {
      entry.ends.OnBroken(job.exit_status(), "");
    } else if (record.cancelled()) {
      entry.ends.OnInterrupted(SIGTERM);
      entry.shown().set_state(proto::ENDING);
    }
    event.Await(entry);
  } else if (job.state() != proto::SUSPENDED) {
    event.Enqueue(entry);
  }
  return event.Take();
}

void JobTable::OnEpochSeen(JobId job, Epoch epoch) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  found->second.epoch_seen = std::max(found->second.epoch_seen, epoch);
}

bool JobTable::Awaits(WorkerId worker) const {
  return std::any_of(running_.begin(), running_.end(), [this, worker](JobId job) {
    const std::vector<WorkerId>& awaited = jobs_.at(job).awaited;
    return std::find(awaited.begin(), awaited.end(), worker) != awaited.end();
  });
}

bool JobTable::WouldMiss(const std::string& node) const {
  return std::any_of(running_.begin(), running_.end(), [&](JobId id) {
    const Job& job = jobs_.at(id);
    if (job.state() != proto::RUNNING && job.state() != proto::ENDING) return false;
    for (int i = 0; i < job.record.hosts_size() && !job.awaited.empty(); ++i) {
      const WorkerId worker = WorkerOf(job.record.hosts(i));
      if (job.shown().placement(i).node() == node &&
          std::find(job.awaited.begin(), job.awaited.end(), worker) != job.awaited.end())
        return true;
    }
    return false;
  });
}

JobTable::Return JobTable::OnHostReturned(WorkerId worker, const std::vector<HeldEpoch>& held,
                                          const Moment& at) {
  const Node& node = *nodes_->Find(worker);
  Event event(*this, at);
  Return result;
  const std::vector<JobId> running = running_;
  for (const JobId id : running) {
    Job& entry = event.At(id);
    if (std::erase(entry.awaited, worker) == 0) continue;
    const auto epoch = std::find_if(held.begin(), held.end(), [&](const HeldEpoch& each) {
      return each.job == id && each.epoch == entry.epoch();
    });
    if (event.Return(entry, node, epoch == held.end() ? nullptr : &*epoch)) {
      result.kept.push_back(id);
    }
  }
  event.OnNodesChanged();
  result.orders = event.Take();
  return result;
}

/// True if the worker keeps it.
bool JobTable::Event::Return(Job& entry, const Node& node, const HeldEpoch* held) {
  if (entry.awaited.empty()) entry.return_ns = kNoEnd;
  switch (entry.state()) {
    case proto::RUNNING:
      return ReturnToRunning(entry, node, held);
    case proto::ENDING:
    case proto::RECOVERING:
    case proto::SUSPENDED:
      if (held == nullptr) break;
      if (entry.clearing) EndOn(entry, node.worker);
      return true;
    default:
      break;
  }
  HostLeft(entry, node.worker);
  return false;
}

bool JobTable::Event::ReturnToRunning(Job& entry, const Node& node, const HeldEpoch* held) {
  const bool never_began = held != nullptr
                               ? held->never_began
                               : WasNeverOrdered(node.registration, entry.id(), entry.epoch());
  if (never_began) std::erase(entry.may_have_begun, node.worker);
  const bool goes_on = held != nullptr && !held->clearing;
  if (!goes_on && (!never_began || entry.idle_node.empty())) entry.idle_node = node.name;
  if (entry.idle_node.empty()) {
    TakeOver(entry, node.worker, *held);
  } else {
    if (held == nullptr) std::erase(entry.hosts_left, node.worker);
    ReturnIdle(entry);
  }
  // They may go on there until it says that it has cleared them away.
  return held != nullptr;
}

// The last coordinator died between the row of the start and the orders, or before it heard that
// one could not be followed. Of a worker that is still awaited nobody knows.
void JobTable::Event::ReturnIdle(Job& entry) {
  const auto is_back = [&entry](WorkerId worker) {
    return std::find(entry.awaited.begin(), entry.awaited.end(), worker) == entry.awaited.end();
  };
  if (entry.epoch_ran ||
      std::any_of(entry.may_have_begun.begin(), entry.may_have_begun.end(), is_back)) {
    const std::string loss =
        absl::StrCat("worker ", entry.idle_node, " is back without its processes");
    Perform(entry, entry.ends.OnLost(loss, Superstep{0}));
  } else if (entry.awaited.empty()) {
    StartFailed(entry, {.node = "",
                        .reason = "the coordinator was restarted before its processes had begun",
                        .exit_status = kFailureStatus});
  } else {
    return;
  }
  if (entry.started && entry.hosts_left.empty()) AllLeft(entry);
}

void JobTable::Event::TakeOver(Job& entry, WorkerId worker, const HeldEpoch& held) {
  const std::uint32_t nprocs = entry.claim.nprocs;
  if (held.participants != 0) entry.ends.OnResumed(held.participants);
  entry.resume_point = {.from_start = held.resumed_from == Superstep{0},
                        .superstep = held.resumed_from,
                        .participants = held.put_back ? held.participants : 0};
  for (const Pid pid : held.begun) {
    if (Value(pid) < nprocs) Perform(entry, entry.ends.OnBegun(pid));
  }
  if (!held.begun.empty() || (held.started && !held.put_back)) Resumed(entry, worker);
  for (const auto& [pid, end] : held.exited) {
    if (Value(pid) < nprocs && entry.state() == proto::RUNNING) Exited(entry, pid, end);
  }
  // Not if these ends are its own: input is kept for the next epoch then.
  if (entry.awaited.empty() && entry.state() == proto::RUNNING)
    orders_.returned.push_back(entry.id());
}

}  // namespace bspnow::coordinator
