#include "coordinator/core/jobs/job_table_event.h"

#include <absl/strings/str_cat.h>
#include <signal.h>

#include <algorithm>

#include "base/check.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kGraceNs = 2'000'000'000;  // For programs that clean up; as bsprun alone.
constexpr std::uint64_t kRetryNs = 1'000'000'000;  // Of a start that could not be stored.
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kTimeLimitMaxS = std::uint64_t{1} << 32;

std::uint64_t LimitNs(const JobRequest& request) {
  return std::min(request.time_limit_s, kTimeLimitMaxS) * kSecondNs;
}

}  // namespace

JobTable::Entry* JobTable::Event::FindRunning(JobId job, Epoch epoch) {
  Entry* entry = Find(job);
  if (entry == nullptr || !entry->started || entry->record.epoch != epoch) return nullptr;
  const JobPhase phase = entry->record.phase;
  return phase == JobPhase::kRunning || phase == JobPhase::kEnding ? entry : nullptr;
}

// ---- The journal --------------------------------------------------------------------------------

void JobTable::Event::OnDurable(const Pending& pending) {
  Entry* entry = Find(pending.job);
  if (entry == nullptr) return;  // Its submission was refused.
  const JobPhase phase = entry->record.phase;
  switch (pending.due) {
    case Due::kAccept:
      entry->durable = true;
      if (phase == JobPhase::kWaiting) table_.waiting_.insert(pending.job);
      orders_.accepted.push_back(pending.job);
      break;
    case Due::kStart:
      // It may have been cancelled, or placed elsewhere, since.
      if (phase == JobPhase::kRunning && entry->record.epoch == pending.epoch) StartNow(*entry);
      break;
    case Due::kClear:
      if (phase == JobPhase::kEnding && !entry->clearing) Clear(*entry);
      break;
    case Due::kSuspend:
      if (phase == JobPhase::kSuspended) orders_.suspended.push_back(pending.job);
      break;
    case Due::kEnd:
      orders_.ended.push_back(pending.job);
      Retire(pending.job);
      break;
    case Due::kNothing:
      break;
  }
}

// A submission is refused, a start does not happen, and what was started before is so again later;
// all else is true even if it cannot be written.
void JobTable::Event::OnNotDurable(const Pending& pending, const std::string& why) {
  Entry* entry = Find(pending.job);
  if (entry == nullptr) return;  // Its submission was refused.
  switch (pending.due) {
    case Due::kAccept:
      orders_.refused.push_back(pending.job);
      table_.by_key_.erase(entry->record.submission_key);
      table_.entries_.erase(pending.job);
      break;
    case Due::kStart: {
      const JobRecord& record = entry->record;
      if (record.phase != JobPhase::kRunning || record.epoch != pending.epoch) break;
      Unplace(*entry);
      entry->record.reason = absl::StrCat("its start could not be stored: ", why);
      entry->retry_ns = at_.now_ns + kRetryNs;
      break;
    }
    default:
      OnDurable(pending);
      // Announced all the same; but a restart must not run it again.
      if (HasEnded(entry->record.phase)) {
        table_.unwritten_ends_.insert(pending.job);
        table_.write_ends_ns_ = at_.now_ns + kRetryNs;
      }
      break;
  }
}

void JobTable::Event::WriteEnds() {
  table_.write_ends_ns_ = kNoEnd;
  for (const JobId job : std::exchange(table_.unwritten_ends_, {}))
    if (const Entry* entry = Find(job)) Store(*entry, Due::kNothing);
}

// ---- Placement ----------------------------------------------------------------------------------

WaitingClaim JobTable::Event::ClaimOf(const Entry& entry) const {
  const bool limited = entry.deadline_ns != kNoEnd;
  const std::uint64_t left_ns = entry.deadline_ns > at_.now_ns ? entry.deadline_ns - at_.now_ns : 1;
  return {.job = entry.record.id,
          .claim = entry.request.claim,
          .priority = entry.request.priority,
          .time_limit_ns = limited ? left_ns : LimitNs(entry.request),
          .turn = entry.record.phase == JobPhase::kRecovering ? Turn::kFirst : Turn::kByAge};
}

void JobTable::Event::Schedule() {
  Situation situation{.now_ns = at_.now_ns, .nodes = {}, .running = {}, .waiting = {}};
  for (const JobId id : table_.waiting_) {
    const Entry& entry = table_.entries_.at(id);
    if (entry.retry_ns == 0) situation.waiting.push_back(ClaimOf(entry));
  }
  if (situation.waiting.empty()) return;
  for (const auto& [worker, node] : table_.nodes_) situation.nodes.push_back(node);
  for (const JobId id : table_.running_) {
    const Entry& entry = table_.entries_.at(id);
    const bool runs = entry.record.phase == JobPhase::kRunning;
    situation.running.push_back({.job = id,
                                 .shares = entry.record.shares,
                                 .memory_bytes = entry.request.claim.memory_bytes,
                                 .end_ns = runs ? entry.deadline_ns : at_.now_ns});
  }
  SchedulePlan plan = PlanJobs(situation);
  for (WaitingReason& wait : plan.waits) {
    table_.entries_.at(wait.job).record.reason = std::move(wait.reason);
  }
  for (PlannedStart& start : plan.starts) {
    PlaceAt(table_.entries_.at(start.job), std::move(start.shares));
  }
}

void JobTable::Event::PlaceAt(Entry& entry, std::vector<NodeShare> shares) {
  JobRecord& record = entry.record;
  record.phase = JobPhase::kRunning;
  record.reason.clear();
  record.epoch = Epoch{Value(record.epoch) + 1};
  record.shares = std::move(shares);
  record.node_names.clear();
  entry.hosts_left.clear();
  for (const NodeShare& share : record.shares) {
    record.node_names.push_back(table_.nodes_.at(share.worker).name);
    entry.hosts_left.push_back(share.worker);
  }
  entry.not_resumed = entry.hosts_left;
  entry.resume_point = {};
  if (!entry.ran) record.started_unix_ms = at_.unix_ms;
  SetTimeLimit(entry);
  table_.waiting_.erase(record.id);
  table_.running_.push_back(record.id);
  Store(entry, Due::kStart);
}

// It goes on over recoveries and restarts of the coordinator; only a job that is suspended is left
// alone.
void JobTable::Event::SetTimeLimit(Entry& entry) {
  if (entry.request.time_limit_s == 0 || entry.deadline_ns != kNoEnd) return;
  const JobRecord& record = entry.record;
  const std::int64_t used_ms = at_.unix_ms - record.started_unix_ms - record.suspended_ms;
  const std::uint64_t used_ns = used_ms > 0 ? static_cast<std::uint64_t>(used_ms) * kNsPerMs : 0;
  const std::uint64_t limit_ns = LimitNs(entry.request);
  entry.deadline_ns = at_.now_ns + (limit_ns > used_ns ? limit_ns - used_ns : 0);
}

void JobTable::Event::StartNow(Entry& entry) {
  orders_.starts.push_back({.job = entry.record.id,
                            .epoch = entry.record.epoch,
                            .hosts = entry.record.shares,
                            .resumes = entry.ran});
  entry.started = true;
  entry.ran = true;
}

// Nothing of this epoch has begun: it waits again, in its old place.
void JobTable::Event::Unplace(Entry& entry) {
  Vacate(entry);
  entry.record.phase = entry.ran ? JobPhase::kRecovering : JobPhase::kWaiting;
  if (!entry.ran) {
    entry.record.started_unix_ms = 0;
    entry.deadline_ns = kNoEnd;
  }
  table_.waiting_.insert(entry.record.id);
  Store(entry, Due::kNothing);
}

/// It holds no slots any more.
void JobTable::Event::Vacate(Entry& entry) {
  std::erase(table_.running_, entry.record.id);
  entry.record.shares.clear();
  entry.record.node_names.clear();
  entry.hosts_left.clear();
  entry.not_resumed.clear();
}

// ---- To its end ---------------------------------------------------------------------------------

void JobTable::Event::Say(const Entry& entry, const std::string& text) {
  orders_.lines.push_back({entry.record.id, absl::StrCat("bsprun: ", text, "\n")});
}

void JobTable::Event::Perform(Entry& entry, const Actions& actions) {
  if (actions.lost_at.has_value() && entry.record.phase == JobPhase::kRunning) {
    return Recover(entry, actions.reports.front(), *actions.lost_at);
  }
  for (const std::string& report : actions.reports) {
    Say(entry, report);
    if (entry.record.reason.empty()) entry.record.reason = report;
  }
  if (actions.kill_all || entry.job.finished()) Finish(entry);
}

void JobTable::Event::Exited(Entry& entry, Pid pid, const ProcessEnd& end) {
  const Actions actions = entry.job.OnExited(pid, end);
  const bool tells = actions.reports.empty() && entry.record.reason.empty();
  if (tells && end.exit_status != 0) {
    entry.record.reason =
        absl::StrCat("pid ", Value(pid), " ended with exit status ", end.exit_status);
  }
  Perform(entry, actions);
}

/// As entry.job says, and whether its user wanted it.
void JobTable::Event::Finish(Entry& entry) {
  JobRecord& record = entry.record;
  if (record.phase == JobPhase::kEnding || HasEnded(record.phase)) return;
  entry.deadline_ns = kNoEnd;
  if (!entry.started) return End(entry);
  record.phase = JobPhase::kEnding;
  record.exit_status = entry.job.exit_status();
  record.never_attached = entry.job.never_attached() && !entry.attached_before;
  Store(entry, Due::kClear);
}

void JobTable::Event::Clear(Entry& entry) {
  entry.clearing = true;
  for (const WorkerId worker : entry.hosts_left) EndOn(entry, worker);
}

void JobTable::Event::EndOn(const Entry& entry, WorkerId worker) {
  const bool ends = entry.record.phase == JobPhase::kEnding;
  orders_.ends.push_back({.worker = worker,
                          .job = entry.record.id,
                          .epoch = entry.record.epoch,
                          .keep_files = ends && entry.request.collects_files});
}

void JobTable::Event::HostLeft(Entry& entry, WorkerId worker) {
  std::erase(entry.awaited, worker);
  if (std::erase(entry.hosts_left, worker) != 0 && entry.hosts_left.empty()) AllLeft(entry);
}

void JobTable::Event::AllLeft(Entry& entry) {
  entry.return_ns = kNoEnd;
  const JobPhase phase = entry.record.phase;
  if (phase == JobPhase::kRunning || phase == JobPhase::kEnding) return End(entry);
  orders_.cleared.push_back(entry.record.id);
  entry.started = false;
  entry.clearing = false;
  Vacate(entry);
  if (phase == JobPhase::kSuspended) return Store(entry, Due::kSuspend);
  table_.waiting_.insert(entry.record.id);
  Store(entry, Due::kNothing);
}

void JobTable::Event::End(Entry& entry) {
  JobRecord& record = entry.record;
  std::erase(table_.running_, record.id);
  table_.waiting_.erase(record.id);
  if (entry.started) orders_.cleared.push_back(record.id);
  entry.started = false;
  entry.clearing = false;
  entry.return_ns = kNoEnd;
  entry.deadline_ns = kNoEnd;
  record.exit_status = entry.job.exit_status();
  record.never_attached = entry.job.never_attached() && !entry.attached_before;
  record.ended_unix_ms = at_.unix_ms;
  record.phase = record.cancelled          ? JobPhase::kCancelled
                 : record.exit_status == 0 ? JobPhase::kSucceeded
                                           : JobPhase::kFailed;
  Store(entry, Due::kEnd);
}

void JobTable::Event::Retire(JobId job) {
  table_.ended_.push_back(job);
  if (table_.ended_.size() <= kEndedJobsMax) return;
  const auto oldest = table_.entries_.find(table_.ended_.front());
  table_.ended_.pop_front();
  table_.by_key_.erase(oldest->second.record.submission_key);
  table_.entries_.erase(oldest);
}

void JobTable::Event::Signal(const Entry& entry, int signal) {
  for (const WorkerId worker : entry.hosts_left) {
    orders_.signals.push_back(
        {.worker = worker, .job = entry.record.id, .epoch = entry.record.epoch, .signal = signal});
  }
}

// The first request lets the programs clean up, the second does not wait for that.
void JobTable::Event::Interrupt(Entry& entry, int signal) {
  entry.job.OnInterrupted(signal);  // Its actions come with the grace below.
  const bool runs = entry.started && entry.record.phase == JobPhase::kRunning;
  if (!runs || std::exchange(entry.interrupted, true)) return Finish(entry);
  Signal(entry, signal == SIGPIPE ? SIGTERM : signal);
  entry.deadline_ns = at_.now_ns + kGraceNs;
  if (entry.record.cancelled) Store(entry, Due::kNothing);  // A restart must not forget it.
}

void JobTable::Event::Cancel(Entry& entry, int signal, const std::string& why) {
  const JobPhase phase = entry.record.phase;
  if (HasEnded(phase) || phase == JobPhase::kEnding) return;  // It is over.
  entry.record.cancelled = true;
  entry.job.OnInterrupted(signal);
  if (phase != JobPhase::kRunning || entry.record.reason.empty()) entry.record.reason = why;
  Finish(entry);
}

void JobTable::Event::OnDeadline(Entry& entry) {
  entry.deadline_ns = kNoEnd;
  if (entry.interrupted) return Finish(entry);
  const std::string why =
      absl::StrCat("the time limit of ", entry.request.time_limit_s, " s is reached");
  Say(entry, why);
  if (entry.record.phase != JobPhase::kRunning || entry.record.reason.empty()) {
    entry.record.reason = why;
  }
  Interrupt(entry, SIGTERM);
}

}  // namespace bspnow
