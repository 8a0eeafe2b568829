// Epochs that are lost, suspended or moved: cleared away, and followed by another one.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "coordinator/core/jobs/job_table_event.h"
#include "coordinator/core/jobs/slot_timeline.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kReasonBytesMax = 1000;

/// Why it ends after this loss; empty if it may start again.
std::string WhyNotAgain(const JobRecord& record, const std::string& loss) {
  const std::int32_t restarts_max = RestartsMaxOf(record.job().spec());
  if (restarts_max <= 0) return loss;
  if (record.took_input()) {
    return absl::StrCat(loss,
                        "; it cannot be started again, because pid 0 was sent standard input");
  }
  if (record.restarts_in_row() < static_cast<std::uint32_t>(restarts_max)) return "";
  return absl::StrCat("gave up after ", restarts_max, restarts_max == 1 ? " restart" : " restarts",
                      " without a checkpoint in between; last loss: ", loss);
}

proto::JobLoss& AddLoss(proto::Job& job, const std::string& reason, const Moment& at) {
  auto& losses = *job.mutable_losses();
  if (losses.size() == kLossesMax) losses.DeleteSubrange(0, 1);
  proto::JobLoss& loss = *losses.Add();
  loss.set_unix_ms(at.unix_ms);
  loss.set_reason(reason);
  return loss;
}

}  // namespace

// ---- Losses -------------------------------------------------------------------------------------

void JobTable::Event::Recover(Job& entry, const std::string& reason, Superstep superstep) {
  proto::Job& job = entry.shown();
  AddLoss(job, reason, at_).set_superstep(Value(superstep));
  const std::string end = WhyNotAgain(entry.record, reason);
  Say(entry, end.empty() ? reason : end);
  if (!end.empty()) {
    if (job.reason().empty()) job.set_reason(end);
    return Finish(entry);
  }
  job.set_restarts(job.restarts() + 1);
  entry.record.set_restarts_in_row(entry.record.restarts_in_row() + 1);
  job.set_reason(reason);
  entry.loss_open = true;
  StartOver(entry);
}

/// The epoch is cleared away; then it waits for slots again.
void JobTable::Event::StartOver(Job& entry) {
  entry.attached_before = entry.attached_before || !entry.ends.never_attached();
  entry.ends = ProcessEnds(entry.claim.nprocs);
  entry.shown().set_state(proto::RECOVERING);
  orders_.recovering.push_back(entry.id());
  Store(entry, Due::kNothing);
  Clear(entry);
  if (entry.hosts_left.empty()) AllLeft(entry);
}

void JobTable::Event::LoseHost(Job& entry, WorkerId worker, const std::string& why,
                               Superstep superstep) {
  if (!entry.started) return Unplace(entry);
  if (entry.state() == proto::RUNNING) {
    std::erase(entry.hosts_left, worker);
    std::erase(entry.awaited, worker);
    Perform(entry, entry.ends.OnLost(why, superstep));
    if (entry.started && entry.hosts_left.empty()) AllLeft(entry);
  } else {
    HostLeft(entry, worker);
  }
}

/// Workers that have not returned by now do not count any more.
void JobTable::Event::LoseAwaited(Job& entry) {
  entry.return_ns = kNoEnd;
  const std::vector<WorkerId> gone = std::exchange(entry.awaited, {});
  std::vector<std::string> names;
  for (int i = 0; i < entry.record.hosts_size(); ++i) {
    const WorkerId worker = WorkerOf(entry.record.hosts(i));
    if (std::find(gone.begin(), gone.end(), worker) == gone.end()) continue;
    names.push_back(entry.shown().placement(i).node());
    std::erase(entry.hosts_left, worker);
  }
  if (entry.state() == proto::RUNNING) {
    const std::string why =
        absl::StrCat(names.size() == 1 ? "worker " : "workers ", absl::StrJoin(names, ", "),
                     " did not return after a restart of the coordinator");
    Perform(entry, entry.ends.OnLost(why, Superstep{0}));
  }
  if (entry.started && entry.hosts_left.empty()) AllLeft(entry);
}

// ---- The next epoch -----------------------------------------------------------------------------

void JobTable::Event::Resumed(Job& entry, WorkerId host) {
  if (std::erase(entry.not_resumed, host) == 0 || !entry.not_resumed.empty()) return;
  entry.restores = 0;
  if (!std::exchange(entry.loss_open, false)) return;
  proto::JobLoss& loss = *entry.shown().mutable_losses()->rbegin();
  const ResumePoint& point = entry.resume_point;
  loss.set_resumed(true);
  loss.set_from_start(point.from_start);
  loss.set_from_superstep(Value(point.superstep));
  loss.set_after_ms(
      static_cast<std::uint64_t>(std::max<std::int64_t>(at_.unix_ms - loss.unix_ms(), 0)));
  const std::string from =
      point.from_start ? "the start" : absl::StrCat("superstep ", Value(point.superstep));
  Say(entry, absl::StrFormat("resumed from %s in %.1f s", from,
                             static_cast<double>(loss.after_ms()) / 1000));
  Store(entry, Due::kNothing);
}

void JobTable::Event::RestoreFailed(Job& entry, const std::string& reason) {
  proto::Job& job = entry.shown();
  if (++entry.restores > kRestoresMax) {
    return Perform(
        entry, entry.ends.OnBroken(1, absl::StrCat("gave up after ", kRestoresMax,
                                                   " tries to restore it; the last: ", reason)));
  }
  Say(entry, reason);
  if (!std::exchange(entry.loss_open, true)) {  // It was suspended or moved.
    AddLoss(job, reason, at_);
  } else if (std::string& text = *job.mutable_losses()->rbegin()->mutable_reason();
             text.size() < kReasonBytesMax) {
    absl::StrAppend(&text, "; ", reason);
  }
  job.set_reason(reason);
  StartOver(entry);
}

JobOrders JobTable::OnResumed(JobId job, Epoch epoch, WorkerId host, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.FindRunning(job, epoch);
  if (entry == nullptr) return {};
  event.Resumed(*entry, host);
  return event.Take();
}

JobOrders JobTable::OnRestoreFailed(JobId job, Epoch epoch, const std::string& reason,
                                    const Moment& at) {
  Event event(*this, at);
  Job* entry = event.FindRunning(job, epoch);
  if (entry == nullptr || entry->state() != proto::RUNNING || entry->interrupted) return {};
  event.RestoreFailed(*entry, reason);
  event.Schedule();
  return event.Take();
}

void JobTable::SetResumePoint(JobId job, Epoch epoch, const ResumePoint& point) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.epoch() != epoch) return;
  found->second.resume_point = point;
  if (point.participants != 0) found->second.ends.OnResumed(point.participants);
}

JobOrders JobTable::OnCheckpointCommitted(JobId job) {
  const Moment at{};
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || HasEnded(entry->record)) return {};
  if (entry->record.restarts_in_row() == 0) return {};
  entry->record.clear_restarts_in_row();
  event.Store(*entry, Due::kNothing);
  return event.Take();
}

void JobTable::SetCpuFeatures(JobId job, std::vector<std::string> features) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) found->second.claim.cpu_features = std::move(features);
}

JobOrders JobTable::OnInputSent(JobId job, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || HasEnded(entry->record) || entry->record.took_input()) return {};
  entry->record.set_took_input(true);
  event.Store(*entry, Due::kNothing);
  return event.Take();
}

// ---- Suspended and moved ------------------------------------------------------------------------

void JobTable::Event::Suspend(Job& entry) {
  entry.attached_before = entry.attached_before || !entry.ends.never_attached();
  entry.ends = ProcessEnds(entry.claim.nprocs);
  entry.deadline_ns = kNoEnd;
  entry.loss_open = false;
  orders_.recovering.push_back(entry.id());
  entry.shown().set_state(proto::SUSPENDED);
  entry.shown().set_reason("suspended");
  entry.record.set_suspended_unix_ms(at_.unix_ms);
  if (!entry.started) {
    table_.waiting_.erase(entry.id());
    Vacate(entry);
    return Store(entry, Due::kSuspend);
  }
  Store(entry, Due::kNothing);
  if (!entry.clearing) Clear(entry);
}

JobOrders JobTable::OnSuspended(JobId job, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || !entry->durable || entry->interrupted) return {};
  const proto::JobState state = entry->state();
  if (HasEnded(state) || state == proto::ENDING || state == proto::SUSPENDED) return {};
  event.Suspend(*entry);
  event.Schedule();
  return event.Take();
}

JobOrders JobTable::OnResume(JobId job, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || entry->state() != proto::SUSPENDED) return {};
  JobRecord& record = entry->record;
  record.set_suspended_ms(record.suspended_ms() +
                          std::max<std::int64_t>(at.unix_ms - record.suspended_unix_ms(), 0));
  record.clear_suspended_unix_ms();
  entry->shown().clear_reason();
  entry->shown().set_state(entry->started ? proto::RECOVERING : proto::WAITING);
  if (!entry->started) waiting_.insert(job);  // Else when it has left its nodes.
  event.Store(*entry, Due::kNothing);
  event.Schedule();
  return event.Take();
}

bool JobTable::Ends(JobId job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return true;
  const proto::JobState state = found->second.state();
  return found->second.ends.ends() || state == proto::ENDING || HasEnded(state);
}

bool JobTable::HasRoomElsewhere(JobId job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return false;
  std::vector<const SchedulerNode*> open;
  for (const auto& [worker, node] : nodes_->up())
    if (node->usable && !node->drained) open.push_back(node);
  SlotTimeline taken(open, 0);
  const std::vector<FreeNode> whole = SlotTimeline(open, 0).FreeDuring(0, 1);
  for (const JobId id : running_) {
    const Job& entry = jobs_.at(id);
    if (id != job) taken.Take(SharesOf(entry.record), entry.claim.memory_bytes, 0, 1);
  }
  const SlotClaim& claim = found->second.claim;
  return Place(claim, SlotsNeeded(claim, whole), taken.FreeDuring(0, 1)).has_value();
}

JobOrders JobTable::OnMove(JobId job, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || !entry->started || entry->state() != proto::RUNNING) return {};
  if (entry->interrupted || entry->record.took_input() || !HasRoomElsewhere(job)) return {};
  entry->shown().set_reason("moves to other nodes");
  event.StartOver(*entry);
  event.Schedule();
  return event.Take();
}

}  // namespace bspnow::coordinator
