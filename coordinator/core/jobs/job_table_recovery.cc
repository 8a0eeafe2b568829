// Epochs that are lost, suspended or moved: cleared away, and followed by another one.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "coordinator/core/jobs/job_table_event.h"
#include "coordinator/core/jobs/slot_timeline.h"

namespace bspnow {
namespace {

constexpr std::size_t kReasonBytesMax = 1000;

/// Why it ends behind this loss; empty if it may start again.
std::string WhyNotAgain(const JobRecord& record, std::int32_t restarts_max,
                        const std::string& loss) {
  if (restarts_max <= 0) return loss;
  if (record.took_input) {
    return absl::StrCat(loss,
                        "; it cannot be started again, because pid 0 was sent standard input");
  }
  if (record.restarts_in_row < static_cast<std::uint32_t>(restarts_max)) return "";
  return absl::StrCat("gave up after ", restarts_max, restarts_max == 1 ? " restart" : " restarts",
                      " without a checkpoint in between; last loss: ", loss);
}

void AddLoss(JobRecord& record, const JobLoss& loss) {
  record.losses.push_back(loss);
  if (record.losses.size() > kLossesMax) record.losses.erase(record.losses.begin());
}

}  // namespace

// ---- Losses -------------------------------------------------------------------------------------

void JobTable::Event::Recover(Entry& entry, const std::string& reason, Superstep superstep) {
  JobRecord& record = entry.record;
  AddLoss(record, {.unix_ms = at_.unix_ms, .reason = reason, .superstep = superstep});
  const std::string end = WhyNotAgain(record, entry.request.restarts_max, reason);
  Say(entry, end.empty() ? reason : end);
  if (!end.empty()) {
    if (record.reason.empty()) record.reason = end;
    return Finish(entry);
  }
  record.restarts += 1;
  record.restarts_in_row += 1;
  record.reason = reason;
  entry.loss_open = true;
  StartOver(entry);
}

/// The epoch is cleared away; then it waits for slots again.
void JobTable::Event::StartOver(Entry& entry) {
  entry.attached_before = entry.attached_before || !entry.job.never_attached();
  entry.job = Job(entry.request.claim.nprocs);
  entry.record.phase = JobPhase::kRecovering;
  orders_.recovering.push_back(entry.record.id);
  Store(entry, Due::kNothing);
  Clear(entry);
  if (entry.hosts_left.empty()) AllLeft(entry);
}

void JobTable::Event::LoseHost(Entry& entry, WorkerId worker, const std::string& why,
                               Superstep superstep) {
  if (!entry.started) return Unplace(entry);
  if (entry.record.phase == JobPhase::kRunning) {
    std::erase(entry.hosts_left, worker);
    std::erase(entry.awaited, worker);
    Perform(entry, entry.job.OnLost(why, superstep));
    if (entry.started && entry.hosts_left.empty()) AllLeft(entry);
  } else {
    HostLeft(entry, worker);
  }
}

/// Who has not returned by now does not count any more.
void JobTable::Event::LoseAwaited(Entry& entry) {
  entry.return_ns = kNoEnd;
  const std::vector<WorkerId> gone = std::exchange(entry.awaited, {});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < entry.record.shares.size(); ++i) {
    const WorkerId worker = entry.record.shares[i].worker;
    if (std::find(gone.begin(), gone.end(), worker) == gone.end()) continue;
    names.push_back(entry.record.node_names[i]);
    std::erase(entry.hosts_left, worker);
  }
  if (entry.record.phase == JobPhase::kRunning) {
    const std::string why =
        absl::StrCat(names.size() == 1 ? "worker " : "workers ", absl::StrJoin(names, ", "),
                     " did not return after a restart of the coordinator");
    Perform(entry, entry.job.OnLost(why, Superstep{0}));
  }
  if (entry.started && entry.hosts_left.empty()) AllLeft(entry);
}

// ---- The next epoch -----------------------------------------------------------------------------

void JobTable::Event::Resumed(Entry& entry, WorkerId host) {
  if (std::erase(entry.not_resumed, host) == 0 || !entry.not_resumed.empty()) return;
  entry.restores = 0;
  if (!std::exchange(entry.loss_open, false)) return;
  JobLoss& loss = entry.record.losses.back();
  const ResumePoint& point = entry.resume_point;
  loss.resumed = true;
  loss.from_start = point.from_start;
  loss.from = point.superstep;
  loss.after_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(at_.unix_ms - loss.unix_ms, 0));
  const std::string from =
      point.from_start ? "the start" : absl::StrCat("superstep ", Value(point.superstep));
  Say(entry, absl::StrFormat("resumed from %s in %.1f s", from,
                             static_cast<double>(loss.after_ms) / 1000));
  Store(entry, Due::kNothing);
}

void JobTable::Event::RestoreFailed(Entry& entry, const std::string& reason) {
  JobRecord& record = entry.record;
  if (++entry.restores > kRestoresMax) {
    return Perform(entry,
                   entry.job.OnBroken(1, absl::StrCat("gave up after ", kRestoresMax,
                                                      " tries to restore it; the last: ", reason)));
  }
  Say(entry, reason);
  if (!std::exchange(entry.loss_open, true)) {  // It was suspended or moved.
    AddLoss(record, {.unix_ms = at_.unix_ms, .reason = reason});
  } else if (std::string& text = record.losses.back().reason; text.size() < kReasonBytesMax) {
    absl::StrAppend(&text, "; ", reason);
  }
  record.reason = reason;
  StartOver(entry);
}

JobOrders JobTable::OnResumed(JobId job, Epoch epoch, WorkerId host, const Moment& at) {
  Event event(*this, at);
  Entry* entry = event.FindRunning(job, epoch);
  if (entry == nullptr) return {};
  event.Resumed(*entry, host);
  return event.Take();
}

JobOrders JobTable::OnRestoreFailed(JobId job, Epoch epoch, const std::string& reason,
                                    const Moment& at) {
  Event event(*this, at);
  Entry* entry = event.FindRunning(job, epoch);
  if (entry == nullptr || entry->record.phase != JobPhase::kRunning || entry->interrupted)
    return {};
  event.RestoreFailed(*entry, reason);
  event.Schedule();
  return event.Take();
}

void JobTable::SetResumePoint(JobId job, Epoch epoch, const ResumePoint& point) {
  const auto found = entries_.find(job);
  if (found == entries_.end() || found->second.record.epoch != epoch) return;
  found->second.resume_point = point;
  if (point.participants != 0) found->second.job.OnResumed(point.participants);
}

JobOrders JobTable::OnCheckpointCommitted(JobId job) {
  const Moment at{};
  Event event(*this, at);
  Entry* entry = event.Find(job);
  if (entry == nullptr || HasEnded(entry->record.phase)) return {};
  if (std::exchange(entry->record.restarts_in_row, 0) != 0) event.Store(*entry, Due::kNothing);
  return event.Take();
}

void JobTable::SetCpuFeatures(JobId job, std::vector<std::string> features) {
  const auto found = entries_.find(job);
  if (found != entries_.end()) found->second.request.claim.cpu_features = std::move(features);
}

JobOrders JobTable::OnInputSent(JobId job, const Moment& at) {
  Event event(*this, at);
  Entry* entry = event.Find(job);
  if (entry == nullptr || HasEnded(entry->record.phase)) return {};
  if (!std::exchange(entry->record.took_input, true)) event.Store(*entry, Due::kNothing);
  return event.Take();
}

// ---- Suspended and moved ------------------------------------------------------------------------

void JobTable::Event::Suspend(Entry& entry) {
  JobRecord& record = entry.record;
  entry.attached_before = entry.attached_before || !entry.job.never_attached();
  entry.job = Job(entry.request.claim.nprocs);
  entry.deadline_ns = kNoEnd;
  entry.loss_open = false;
  orders_.recovering.push_back(record.id);
  record.phase = JobPhase::kSuspended;
  record.reason = "suspended";
  record.suspended_unix_ms = at_.unix_ms;
  if (!entry.started) {
    table_.waiting_.erase(record.id);
    Vacate(entry);
    return Store(entry, Due::kSuspend);
  }
  Store(entry, Due::kNothing);
  if (!entry.clearing) Clear(entry);
}

JobOrders JobTable::OnSuspended(JobId job, const Moment& at) {
  Event event(*this, at);
  Entry* entry = event.Find(job);
  if (entry == nullptr || !entry->durable || entry->interrupted) return {};
  const JobPhase phase = entry->record.phase;
  if (HasEnded(phase) || phase == JobPhase::kEnding || phase == JobPhase::kSuspended) return {};
  event.Suspend(*entry);
  event.Schedule();
  return event.Take();
}

JobOrders JobTable::OnResume(JobId job, const Moment& at) {
  Event event(*this, at);
  Entry* entry = event.Find(job);
  if (entry == nullptr || entry->record.phase != JobPhase::kSuspended) return {};
  JobRecord& record = entry->record;
  record.suspended_ms +=
      std::max<std::int64_t>(at.unix_ms - std::exchange(record.suspended_unix_ms, 0), 0);
  record.reason.clear();
  record.phase = entry->started ? JobPhase::kRecovering : JobPhase::kWaiting;
  if (!entry->started) waiting_.insert(job);  // Else when it has left its nodes.
  event.Store(*entry, Due::kNothing);
  event.Schedule();
  return event.Take();
}

bool JobTable::Ends(JobId job) const {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return true;
  const JobPhase phase = found->second.record.phase;
  return found->second.job.ends() || phase == JobPhase::kEnding || HasEnded(phase);
}

bool JobTable::HasRoomElsewhere(JobId job) const {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return false;
  std::vector<const SchedulerNode*> open;
  for (const auto& [worker, node] : nodes_) {
    if (!node.drained) open.push_back(&node);
  }
  SlotTimeline taken(open, 0);
  const std::vector<FreeNode> whole = SlotTimeline(open, 0).FreeDuring(0, 1);
  for (const JobId id : running_) {
    const Entry& entry = entries_.at(id);
    if (id != job) taken.Take(entry.record.shares, entry.request.claim.memory_bytes, 0, 1);
  }
  const SlotClaim& claim = found->second.request.claim;
  return Place(claim, SlotsNeeded(claim, whole), taken.FreeDuring(0, 1)).has_value();
}

JobOrders JobTable::OnMove(JobId job, const Moment& at) {
  Event event(*this, at);
  Entry* entry = event.Find(job);
  if (entry == nullptr || !entry->started || entry->record.phase != JobPhase::kRunning) return {};
  if (entry->interrupted || entry->record.took_input || !HasRoomElsewhere(job)) return {};
  entry->record.reason = "moves to other nodes";
  event.StartOver(*entry);
  event.Schedule();
  return event.Take();
}

}  // namespace bspnow
