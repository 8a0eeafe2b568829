#include "coordinator/core/jobs/job_table_event.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <signal.h>

#include <algorithm>

#include "base/check.h"
#include "base/units.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kGraceNs = 2'000'000'000;  // For programs that clean up; as bsprun alone.
constexpr std::uint64_t kRetryNs = 1'000'000'000;  // Of a start that could not be stored.
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kTimeLimitMaxS = std::uint64_t{1} << 32;

std::uint64_t LimitNs(const proto::JobSpec& spec) {
  return std::min<std::uint64_t>(spec.time_limit_s(), kTimeLimitMaxS) * kSecondNs;
}

}  // namespace

Job* JobTable::Event::FindRunning(JobId job, Epoch epoch) {
  Job* entry = Find(job);
  if (entry == nullptr || !entry->started || entry->epoch() != epoch) return nullptr;
  const proto::JobState state = entry->state();
  return state == proto::RUNNING || state == proto::ENDING ? entry : nullptr;
}

// ---- The journal --------------------------------------------------------------------------------

void JobTable::Event::OnDurable(const Pending& pending) {
  Job* entry = Find(pending.job);
  if (entry == nullptr) return;  // Its submission was refused.
  const proto::JobState state = entry->state();
  switch (pending.due) {
    case Due::kAccept:
      entry->durable = true;
      if (state == proto::WAITING) Enqueue(*entry);
      orders_.accepted.push_back(pending.job);
      break;
    case Due::kStart:
      // It may have been cancelled, or placed elsewhere, since.
      if (state == proto::RUNNING && entry->epoch() == pending.epoch) StartNow(*entry);
      break;
    case Due::kClear:
      if (state == proto::ENDING && !entry->clearing) Clear(*entry);
      break;
    case Due::kSuspend:
      if (state == proto::SUSPENDED) orders_.suspended.push_back(pending.job);
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
  Job* entry = Find(pending.job);
  if (entry == nullptr) return;  // Its submission was refused.
  switch (pending.due) {
    case Due::kAccept:
      orders_.refused.push_back(pending.job);
      Forget(*entry);
      break;
    case Due::kStart:
      if (entry->state() != proto::RUNNING || entry->epoch() != pending.epoch) break;
      entry->retry_ns = at_.now_ns + kRetryNs;
      Unplace(*entry);
      entry->shown().set_reason(absl::StrCat("its start could not be stored: ", why));
      break;
    default:
      OnDurable(pending);
      // Announced all the same; but a restart must not run it again.
      if (HasEnded(entry->record)) {
        table_.unwritten_ends_.insert(pending.job);
        table_.write_ends_ns_ = at_.now_ns + kRetryNs;
      }
      break;
  }
}

void JobTable::Event::WriteEnds() {
  table_.write_ends_ns_ = kNoEnd;
  for (const JobId job : std::exchange(table_.unwritten_ends_, {}))
    if (Job* entry = Find(job)) Store(*entry, Due::kNothing);
}

// ---- Placement ----------------------------------------------------------------------------------

/// Of its time limit; 0: it has none.
std::uint64_t JobTable::Event::LeftNs(const Job& entry) const {
  const std::uint64_t limit_ns = LimitNs(entry.spec());
  if (limit_ns == 0) return 0;
  const std::uint64_t run_ns = entry.RunMs(at_.now_ns) * kNsPerMs;
  return limit_ns > run_ns ? limit_ns - run_ns : 1;
}

/// It may be placed; not before retry_ns.
void JobTable::Event::Enqueue(Job& entry) {
  Dequeue(entry);
  if (entry.retry_ns != 0) return;
  entry.place = {.priority = entry.spec().priority(),
                 .turn = entry.state() == proto::RECOVERING ? Turn::kFirst : Turn::kByAge,
                 .job = entry.id()};
  table_.queue_.insert(*entry.place);
  if (!table_.stopped_at_ || *entry.place < *table_.stopped_at_) table_.pass_due_ = true;
}

void JobTable::Event::Dequeue(Job& entry) {
  if (!entry.place) return;
  table_.queue_.erase(*entry.place);
  table_.never_.erase(*entry.place);
  entry.place.reset();
}

void JobTable::Event::OnNodesChanged() {
  table_.nodes_changed_ = true;
  table_.pass_due_ = true;
  table_.NoteRests();
}

WaitingClaim JobTable::Event::ClaimOf(const Job& entry) const {
  SlotClaim claim = entry.claim;
  for (const auto& [node, refused] : entry.refused_by)
    if (refused.avoid_until_ns > at_.now_ns) claim.avoids.insert(node);
  return {.place = *entry.place, .claim = std::move(claim), .time_limit_ns = LeftNs(entry)};
}

Situation JobTable::Event::SituationNow() {
  Situation situation{.now_ns = at_.now_ns, .nodes = {}, .running = {}};
  for (const auto& [worker, node] : table_.nodes_->up())
    if (node->usable()) situation.nodes.push_back(node);
  for (const JobId id : table_.running_) {
    const Job& entry = table_.jobs_.at(id);
    const std::uint64_t left_ns = LeftNs(entry);
    std::uint64_t end_ns = left_ns == 0 ? kNoEnd : at_.now_ns + left_ns;
    if (entry.state() != proto::RUNNING) end_ns = at_.now_ns;
    situation.running.push_back({.job = id,
                                 .shares = &entry.shares,
                                 .memory_bytes = entry.claim.memory_bytes,
                                 .end_ns = end_ns});
  }
  return situation;
}

// Not of each event: with 10,000 jobs in the queue there are many, and one pass serves them all.
void JobTable::Event::Schedule() {
  table_.pass_due_ = false;
  std::set<QueuePlace>& queue = table_.queue_;
  if (std::exchange(table_.nodes_changed_, false)) queue.merge(table_.never_);
  for (const JobId id : std::exchange(table_.considered_, {}))
    if (Job* entry = Find(id); entry != nullptr && entry->place) entry->shown().clear_reason();
  table_.stopped_at_.reset();
  if (queue.empty()) return;
  Scheduler scheduler(SituationNow());
  auto next = queue.begin();
  while (next != queue.end() && !scheduler.full()) {
    const QueuePlace place = *next++;
    Job& entry = At(place.job);
    Verdict verdict = scheduler.Consider(ClaimOf(entry));
    if (verdict.kind == Verdict::Kind::kStarts) {
      PlaceAt(entry, verdict.shares);
      continue;
    }
    if (verdict.kind == Verdict::Kind::kNever) {
      table_.never_.insert(queue.extract(place));
    } else {
      table_.considered_.push_back(entry.id());
    }
    SetWaits(entry, std::move(verdict.reason));
  }
  if (next != queue.end()) table_.stopped_at_ = *next;
  table_.pass_due_ = scheduler.tired();
}

void JobTable::Event::SetWaits(Job& entry, std::string reason) {
  // One that has run is not submitted anew.
  if (entry.shown().epoch() > 0) reason = std::string(absl::StripSuffix(reason, kOrOversubscribe));
  entry.shown().set_reason(std::move(reason));
}

void JobTable::Event::PlaceAt(Job& entry, const std::vector<NodeShare>& shares) {
  proto::Job& job = entry.shown();
  job.set_state(proto::RUNNING);
  job.clear_reason();
  job.set_epoch(std::max(job.epoch(), Value(entry.epoch_seen)) + 1);
  job.clear_placement();
  entry.record.clear_hosts();
  entry.hosts_left.clear();
  for (const NodeShare& share : shares) {
    proto::Placement& placement = *job.add_placement();
    placement.set_node(table_.nodes_->Find(share.worker)->name);
    for (const Pid pid : share.pids) placement.add_pids(Value(pid));
    proto::JobHost& host = *entry.record.add_hosts();
    host.set_worker(Value(share.worker));
    host.set_slots(share.slots);
    entry.hosts_left.push_back(share.worker);
  }
  entry.shares = shares;
  entry.not_resumed = entry.hosts_left;
  entry.epoch_ran = false;
  entry.start_by_ns = kNoEnd;
  entry.resume_point = {};
  if (!entry.ran) job.set_started_unix_ms(at_.unix_ms);
  Dequeue(entry);
  table_.running_.push_back(entry.id());
  Store(entry, Due::kStart);
}

// All its processes run. A time limit is of running time, by a clock that nobody sets.
void JobTable::Event::StartClock(Job& entry) {
  if (entry.runs_since_ns != kNoEnd || entry.interrupted) return;
  if (const std::uint64_t left_ns = LeftNs(entry); left_ns != 0)
    entry.deadline_ns = at_.now_ns + left_ns;
  entry.runs_since_ns = at_.now_ns;
}

void JobTable::Event::StopClock(Job& entry) {
  entry.run_before_ms = entry.RunMs(at_.now_ns);
  entry.runs_since_ns = kNoEnd;
  entry.deadline_ns = kNoEnd;
}

void JobTable::Event::StartNow(Job& entry) {
  orders_.starts.push_back(
      {.job = entry.id(), .epoch = entry.epoch(), .hosts = entry.shares, .resumes = entry.ran});
  entry.started = true;
  entry.ran = true;
}

// Nothing of this epoch has begun: it waits again, in its old place.
void JobTable::Event::Unplace(Job& entry) {
  Vacate(entry);
  entry.shown().set_state(entry.ran ? proto::RECOVERING : proto::WAITING);
  if (!entry.ran) entry.shown().clear_started_unix_ms();
  Enqueue(entry);
  Store(entry, Due::kNothing);
}

/// It holds no slots any more.
void JobTable::Event::Vacate(Job& entry) {
  std::erase(table_.running_, entry.id());
  table_.pass_due_ = true;
  entry.start_by_ns = kNoEnd;
  entry.record.clear_hosts();
  entry.shown().clear_placement();
  entry.shares.clear();
  entry.hosts_left.clear();
  entry.not_resumed.clear();
}

// ---- To its end ---------------------------------------------------------------------------------

void JobTable::Event::Say(const Job& entry, const std::string& text) {
  orders_.lines.push_back({entry.id(), absl::StrCat(text, "\n")});
}

void JobTable::Event::Perform(Job& entry, const Actions& actions) {
  if (actions.lost_at.has_value() && entry.state() == proto::RUNNING) {
    return Recover(entry, actions.reports.front(), *actions.lost_at);
  }
  for (const std::string& report : actions.reports) {
    Say(entry, report);
    if (entry.shown().reason().empty()) entry.shown().set_reason(report);
  }
  if (actions.kill_all) return Finish(entry);
  // Its end counts once all that it printed is durable: nobody could print it again.
  if (!entry.ends.finished() || entry.state() != proto::RUNNING) return;
  entry.shown().set_state(proto::ENDING);  // From now on no loss concerns it.
  entry.syncing = true;
  StopClock(entry);
  orders_.finished.push_back({entry.id(), entry.epoch(), entry.ends.printed()});
}

/// Of a process that was killed: the same happened last time, and nobody but the program does that.
bool JobTable::Event::IsOwnFault(Job& entry, const ProcessEnd& end) {
  constexpr int kOwnFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  if (std::find(std::begin(kOwnFaults), std::end(kOwnFaults), end.signal) == std::end(kOwnFaults))
    return false;
  const std::uint64_t superstep = end.reached == Reached::kRunning ? Value(end.superstep) : 0;
  JobRecord& record = entry.record;
  const bool again = record.killed_by() == end.signal && record.killed_in() == superstep;
  record.set_killed_by(end.signal);
  record.set_killed_in(superstep);
  return again;
}

void JobTable::Event::Exited(Job& entry, Pid pid, const ProcessEnd& end) {
  entry.epoch_ran = true;
  const Actions actions = entry.ends.OnExited(pid, end);
  if (actions.lost_at.has_value() && IsOwnFault(entry, end)) {
    const std::string reason =
        absl::StrCat(actions.reports.front(), ", as before: it is the program that fails there");
    Say(entry, reason);
    if (entry.shown().reason().empty()) entry.shown().set_reason(reason);
    return Finish(entry);
  }
  const bool tells = actions.reports.empty() && entry.shown().reason().empty();
  if (tells && end.exit_status != 0) {
    entry.shown().set_reason(
        absl::StrCat("pid ", Value(pid), " ended with exit status ", end.exit_status));
  }
  Perform(entry, actions);
}

void JobTable::Event::OutputDurable(Job& entry, const absl::Status& synced) {
  const std::string why(synced.message());
  entry.syncing = false;
  entry.shown().set_state(proto::RUNNING);
  if (absl::IsFailedPrecondition(synced)) {
    return Perform(entry, entry.ends.OnLost(why, Superstep{0}));
  }
  if (!synced.ok()) {
    Say(entry, absl::StrCat("a loss of power may take some of its output: ", why));
  }
  entry.hosts_left.empty() ? End(entry) : Finish(entry);
}

/// As entry.ends says, and whether its user wanted it.
void JobTable::Event::Finish(Job& entry) {
  proto::Job& job = entry.shown();
  if (job.state() == proto::ENDING || HasEnded(job.state())) return;
  StopClock(entry);
  if (!entry.started) return End(entry);
  job.set_state(proto::ENDING);
  job.set_exit_status(entry.ends.exit_status());
  job.set_never_attached(entry.ends.never_attached() && !entry.attached_before);
  Store(entry, Due::kClear);
}

void JobTable::Event::Clear(Job& entry) {
  entry.clearing = true;
  for (const WorkerId worker : entry.hosts_left) EndOn(entry, worker);
}

void JobTable::Event::EndOn(Job& entry, WorkerId worker) {
  const bool keep_files = entry.state() == proto::ENDING && !entry.spec().attached();
  entry.clear_by_ns = at_.now_ns + (keep_files ? kClearWithFilesNs : kClearNs);
  orders_.ends.push_back(
      {.worker = worker, .job = entry.id(), .epoch = entry.epoch(), .keep_files = keep_files});
}

void JobTable::Event::HostLeft(Job& entry, WorkerId worker) {
  std::erase(entry.awaited, worker);
  if (std::erase(entry.hosts_left, worker) != 0 && entry.hosts_left.empty()) AllLeft(entry);
}

void JobTable::Event::AllLeft(Job& entry) {
  entry.return_ns = kNoEnd;
  entry.clear_by_ns = kNoEnd;
  if (entry.syncing) return;
  const proto::JobState state = entry.state();
  if (state == proto::RUNNING || state == proto::ENDING) return End(entry);
  orders_.cleared.push_back(entry.id());
  entry.started = false;
  entry.clearing = false;
  Vacate(entry);
  if (state == proto::SUSPENDED) return Store(entry, Due::kSuspend);
  Enqueue(entry);
  Store(entry, Due::kNothing);
}

void JobTable::Event::End(Job& entry) {
  std::erase(table_.running_, entry.id());
  table_.pass_due_ = true;
  Dequeue(entry);
  entry.shares.clear();
  entry.start_by_ns = kNoEnd;
  entry.retry_ns = 0;
  entry.refused_by.clear();
  if (entry.started) orders_.cleared.push_back(entry.id());
  entry.started = false;
  entry.clearing = false;
  entry.return_ns = kNoEnd;
  StopClock(entry);
  proto::Job& job = entry.shown();
  job.set_exit_status(entry.ends.exit_status());
  job.set_never_attached(entry.ends.never_attached() && !entry.attached_before);
  job.set_ended_unix_ms(at_.unix_ms);
  job.set_state(entry.record.cancelled() ? proto::CANCELLED
                : job.exit_status() == 0 ? proto::SUCCEEDED
                                         : proto::FAILED);
  Store(entry, Due::kEnd);
}

void JobTable::Event::Retire(JobId job) {
  table_.ended_.push_back(job);
  if (table_.ended_.size() <= kEndedJobsMax) return;
  table_.OnForgotten(table_.ended_.front());
  Forget(At(table_.ended_.front()));
  table_.ended_.pop_front();
}

void JobTable::Event::Forget(Job& entry) {
  Dequeue(entry);
  table_.due_.erase({entry.due_ns, entry.id()});
  table_.by_key_.erase(entry.record.submission_key());
  table_.jobs_.erase(entry.id());
}

void JobTable::Event::Signal(const Job& entry, int signal) {
  for (const WorkerId worker : entry.hosts_left) {
    orders_.signals.push_back(
        {.worker = worker, .job = entry.id(), .epoch = entry.epoch(), .signal = signal});
  }
}

// The first request lets the programs clean up, the second does not wait for that.
void JobTable::Event::Interrupt(Job& entry, int signal) {
  entry.ends.OnInterrupted(signal);  // Its actions come with the grace below.
  const bool runs = entry.started && entry.state() == proto::RUNNING;
  if (!runs || std::exchange(entry.interrupted, true)) return Finish(entry);
  Signal(entry, signal == SIGPIPE ? SIGTERM : signal);
  entry.deadline_ns = at_.now_ns + kGraceNs;
  if (entry.record.cancelled()) Store(entry, Due::kNothing);  // A restart must not forget it.
}

void JobTable::Event::Cancel(Job& entry, int signal, const std::string& why) {
  proto::Job& job = entry.shown();
  if (HasEnded(job.state()) || job.state() == proto::ENDING) return;  // It is over.
  entry.record.set_cancelled(true);
  entry.ends.OnInterrupted(signal);
  if (job.state() != proto::RUNNING || job.reason().empty()) job.set_reason(why);
  Finish(entry);
}

void JobTable::Event::OnDeadline(Job& entry) {
  entry.deadline_ns = kNoEnd;
  if (entry.interrupted) return Finish(entry);
  const std::string why =
      absl::StrCat("the time limit of ", entry.spec().time_limit_s(), " s is reached");
  Say(entry, why);
  if (entry.state() != proto::RUNNING || entry.shown().reason().empty())
    entry.shown().set_reason(why);
  Interrupt(entry, SIGTERM);
}

}  // namespace bspnow::coordinator
