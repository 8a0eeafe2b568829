#include "coordinator/core/jobs/job_table_event.h"

#include <absl/strings/str_cat.h>
#include <signal.h>

#include <algorithm>

#include "base/exit_status.h"
#include "coordinator/core/jobs/job_spec.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kGraceNs = 2'000'000'000;  // For programs that clean up; as bsprun alone.
constexpr std::uint64_t kRetryNs = 1'000'000'000;  // Of a start that could not be stored.

}  // namespace

Job* JobTable::Event::FindRunning(JobId job, Epoch epoch) {
  Job* entry = Find(job);
  if (entry == nullptr || !entry->started || entry->epoch() != epoch) return nullptr;
  const proto::JobState state = entry->state();
  return state == proto::RUNNING || state == proto::ENDING ? entry : nullptr;
}

Job& JobTable::Event::Add(const proto::JobSpec& spec, const std::string& submission_key) {
  const JobId id{++table_.last_job_};
  JobRecord record;
  record.set_submission_key(submission_key);
  proto::Job& shown = *record.mutable_job();
  shown.set_job(Value(id));
  *shown.mutable_spec() = spec;
  shown.set_state(proto::WAITING);
  shown.set_submitted_unix_ms(at_.unix_ms);
  if (!submission_key.empty()) table_.by_key_[submission_key] = id;
  return table_.jobs_.emplace(id, std::move(record)).first->second;
}

// ---- The journal --------------------------------------------------------------------------------

void JobTable::Event::OnDurable(const Pending& pending) {
  Job* entry = Find(pending.job);
  if (entry == nullptr) return;  // Its submission was refused.
  const proto::JobState state = entry->state();
  switch (pending.due) {
    case Due::kAccept:
      for (std::uint64_t i = 0; i < pending.jobs; ++i) {
        Job& element = At(JobId{Value(pending.job) + i});
        element.durable = true;
        if (element.state() == proto::WAITING) Enqueue(element);
        if (element.changed) StoreChanged(element);
      }
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
      if (state == proto::SUSPENDED && !table_.StoresSuspension(pending.job))
        orders_.suspended.push_back(pending.job);
      break;
    case Due::kInput:
      entry->input_stored = true;
      orders_.inputs.push_back(pending.job);
      break;
    case Due::kEnd:
      orders_.ended.push_back(pending.job);
      TellDependents(pending.job, state);
      Retire(pending.job);
      break;
    case Due::kStays:
    case Due::kNothing:
      break;
  }
}

// A submission is refused, a start does not happen, and what was started before is so again later;
// all else is true even if it cannot be written. But a restart must not run again what has ended or
// was suspended, nor hold what was resumed.
void JobTable::Event::OnNotDurable(const Pending& pending, const std::string& why) {
  Job* entry = Find(pending.job);
  if (entry == nullptr) return;  // Its submission was refused.
  switch (pending.due) {
    case Due::kAccept:
      for (std::uint64_t i = 0; i < pending.jobs; ++i) {
        const JobId element{Value(pending.job) + i};
        orders_.refused.push_back(element);
        Forget(At(element));
        TellDependents(element, proto::JOB_STATE_UNSPECIFIED);
      }
      break;
    case Due::kStart:
      if (entry->state() != proto::RUNNING || entry->epoch() != pending.epoch) break;
      entry->retry_ns = at_.now_ns + kRetryNs;
      Unplace(*entry);
      entry->shown().set_reason(absl::StrCat("its start could not be stored: ", why));
      break;
    case Due::kNothing:
      break;
    default:
      table_.unwritten_.insert(pending.job);
      table_.write_again_ns_ = at_.now_ns + kRetryNs;
      if (pending.due != Due::kInput) OnDurable(pending);  // Input waits where it is.
      break;
  }
}

/// The job did not run: it was cancelled or suspended before it was accepted.
void JobTable::Event::StoreChanged(Job& entry) {
  if (HasEnded(entry.record)) return Store(entry, Due::kEnd);
  Store(entry, entry.state() == proto::SUSPENDED ? Due::kSuspend : Due::kNothing);
}

void JobTable::Event::WriteAgain() {
  table_.write_again_ns_ = kNoEnd;
  for (const JobId job : std::exchange(table_.unwritten_, {})) {
    Job* entry = Find(job);
    if (entry == nullptr) continue;
    const bool awaits_input = entry->record.took_input() && !entry->input_stored;
    Store(*entry, awaits_input && !HasEnded(entry->record) ? Due::kInput : Due::kStays);
  }
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

/// "OS pid 4711 on w2", as far as that is known.
std::string JobTable::Event::WhereIs(const Job& entry, Pid pid) const {
  for (const proto::Placement& place : entry.shown().placement()) {
    const auto found = std::find(place.pids().begin(), place.pids().end(), Value(pid));
    if (found == place.pids().end()) continue;
    const auto index = static_cast<int>(found - place.pids().begin());
    const std::uint32_t os_pid = index < place.os_pids_size() ? place.os_pids(index) : 0;
    const std::string node = absl::StrCat("on ", place.node());
    return os_pid == 0 ? node : absl::StrCat("OS pid ", os_pid, " ", node);
  }
  return "";
}

void JobTable::Event::Exited(Job& entry, Pid pid, const ProcessEnd& told) {
  entry.epoch_ran = true;
  ProcessEnd end = told;
  end.where = WhereIs(entry, pid);
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
        absl::StrCat(NameOf(pid, end), " ended with exit status ", end.exit_status));
  }
  Perform(entry, actions);
}

void JobTable::Event::OutputDurable(Job& entry, const absl::Status& synced) {
  const std::string why(synced.message());
  const bool lost = absl::IsFailedPrecondition(synced);
  if (lost && entry.client_left) Cancel(entry, SIGTERM, kClientLeft);
  entry.syncing = false;
  entry.shown().set_state(proto::RUNNING);
  const Actions actions = lost ? entry.ends.OnLost(why, Superstep{0}) : Actions{};
  if (actions.kill_all) {  // Else it has been interrupted, and is not to run again.
    Perform(entry, actions);
    if (entry.started && entry.hosts_left.empty()) AllLeft(entry);
    return;
  }
  if (!synced.ok()) {
    const char* what =
        lost ? "some of its output is lost: " : "a loss of power may take some of its output: ";
    Say(entry, absl::StrCat(what, why));
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
  entry.clearing_since_ns = at_.now_ns;
  for (const WorkerId worker : entry.hosts_left) EndOn(entry, worker);
}

bool JobTable::Event::KeepsFiles(const Job& entry) const {
  const bool wanted = !entry.spec().attached() || entry.spec().core();
  return wanted && entry.state() == proto::ENDING;
}

std::uint64_t JobTable::Event::ClearNs(const Job& entry) const {
  return KeepsFiles(entry) ? kClearWithFilesNs : kClearNs;
}

void JobTable::Event::EndOn(Job& entry, WorkerId worker) {
  const bool ends = entry.state() == proto::ENDING;
  entry.clear_by_ns = at_.now_ns + ClearNs(entry);
  orders_.ends.push_back({.worker = worker,
                          .job = entry.id(),
                          .epoch = entry.epoch(),
                          .keep_files = KeepsFiles(entry),
                          .keep_profile = ends});
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
  if (!entry.begun_on.empty()) return EndBegun(entry);
  orders_.cleared.push_back(entry.id());
  entry.started = false;
  entry.clearing = false;
  Vacate(entry);
  if (state == proto::SUSPENDED) return Store(entry, Due::kSuspend);
  Enqueue(entry);
  Store(entry, Due::kNothing);
}

/// A node had begun before it heard that another one could not.
void JobTable::Event::EndBegun(Job& entry) {
  const std::string why = absl::StrCat("its processes had begun on node ", entry.begun_on,
                                       ", and it is not to run again");
  Say(entry, why);
  entry.shown().set_reason(absl::StrCat(entry.shown().reason(), "; ", why));
  entry.ends.OnBroken(kFailureStatus, "");
  End(entry);
}

void JobTable::Event::End(Job& entry) {
  std::erase(table_.running_, entry.id());
  table_.pass_due_ = true;
  Dequeue(entry);
  entry.shares.clear();
  entry.start_by_ns = kNoEnd;
  entry.retry_ns = 0;
  entry.refused_by.clear();
  entry.awaits.clear();
  if (entry.started) orders_.cleared.push_back(entry.id());
  entry.started = false;
  if (!entry.ran) entry.shown().clear_started_unix_ms();  // It was placed, at most.
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
  Abridge(*job.mutable_spec());
  Store(entry, Due::kEnd);
}

void JobTable::Event::Retire(JobId job) {
  table_.ended_.push_back(job);
  if (table_.ended_.size() < kEndedJobsMax + kArchivedAtOnce) return;
  for (std::size_t i = 0; i < kArchivedAtOnce; ++i) {
    const JobId oldest = table_.ended_.front();
    table_.ended_.pop_front();
    table_.OnForgotten(oldest);
    Forget(At(oldest));
    orders_.archived.push_back(oldest);
  }
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
  if (entry.record.cancelled()) Store(entry, Due::kStays);
}

void JobTable::Event::Cancel(Job& entry, int signal, const std::string& why) {
  proto::Job& job = entry.shown();
  const bool over = job.state() == proto::ENDING && !entry.syncing;
  const bool again = entry.syncing && entry.record.cancelled();  // It is noted already.
  if (HasEnded(job.state()) || over || again) return;
  entry.record.set_cancelled(true);
  entry.ends.OnInterrupted(signal);
  const bool ran = job.state() == proto::RUNNING || entry.syncing;
  const bool has_reason = ran && !job.reason().empty();
  job.set_reason(has_reason ? absl::StrCat(job.reason(), "; ", why) : why);
  if (!entry.syncing) return Finish(entry);
  job.set_exit_status(entry.ends.exit_status());  // A restart must not run it again either.
  Store(entry, Due::kStays);
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

// Its end is stored with them.
bool JobTable::AddUsage(JobId job, Epoch epoch, WorkerId worker, const proto::JobCleared& used) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || !found->second.started || found->second.epoch() != epoch)
    return false;
  const std::vector<WorkerId>& left = found->second.hosts_left;
  if (std::find(left.begin(), left.end(), worker) == left.end()) return false;
  if (const Node* node = nodes_->Find(worker);
      node != nullptr && used.began() && found->second.only_unbegun)
    found->second.begun_on = node->name;
  proto::Job& shown = found->second.shown();
  shown.set_cpu_ns(shown.cpu_ns() + used.cpu_ns());
  shown.set_peak_memory_bytes(std::max(shown.peak_memory_bytes(), used.peak_memory_bytes()));
  if (used.files_lost().empty()) return true;
  AddFilesLost(used.files_lost(), shown);
  if (shown.reason().empty())
    shown.set_reason(absl::StrCat("files that it left are lost: ", used.files_lost()));
  return true;
}

}  // namespace bspnow::coordinator
