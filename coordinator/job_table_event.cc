#include "coordinator/job_table_event.h"

#include <absl/strings/str_cat.h>
#include <signal.h>

#include <algorithm>

#include "base/check.h"

namespace bspnow {
namespace {

constexpr int kFailureStatus = 1;
constexpr std::uint64_t kGraceNs = 2'000'000'000;  // For programs that clean up; as bsprun alone.
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kTimeLimitMaxS = std::uint64_t{1} << 32;

std::uint64_t LimitNs(const JobRequest& request) {
  return std::min(request.time_limit_s, kTimeLimitMaxS) * kSecondNs;
}

}  // namespace

void JobTable::Event::OnDurable(const Pending& pending) {
  Entry* entry = Find(pending.job);
  if (entry == nullptr) return;  // Its submission was refused.
  switch (pending.due) {
    case Due::kAccept:
      entry->durable = true;
      if (entry->record.phase == JobPhase::kWaiting) table_.waiting_.insert(pending.job);
      orders_.accepted.push_back(pending.job);
      break;
    case Due::kStart:
      // It may have been cancelled, or placed elsewhere, since.
      if (entry->record.phase == JobPhase::kRunning && entry->record.epoch == pending.epoch) {
        StartNow(*entry);
      }
      break;
    case Due::kEnd:
      orders_.ended.push_back(pending.job);
      Retire(pending.job);
      break;
    case Due::kNothing:
      break;
  }
}

void JobTable::Event::OnNotDurable(const Pending& pending, const std::string& why) {
  Entry* entry = Find(pending.job);
  if (entry == nullptr) return;  // Its submission was refused.
  switch (pending.due) {
    case Due::kAccept:
      orders_.refused.push_back(pending.job);
      table_.by_key_.erase(entry->record.submission_key);
      table_.entries_.erase(pending.job);
      break;
    case Due::kStart:
      if (entry->record.phase != JobPhase::kRunning || entry->record.epoch != pending.epoch) break;
      Perform(*entry, entry->job.OnBroken(kFailureStatus,
                                          absl::StrCat("its start could not be stored: ", why)));
      break;
    case Due::kEnd:
    case Due::kNothing:
      OnDurable(pending);
      break;
  }
}

void JobTable::Event::Schedule() {
  if (table_.waiting_.empty()) return;
  Situation situation{.now_ns = at_.now_ns, .nodes = {}, .running = {}, .waiting = {}};
  for (const auto& [worker, node] : table_.nodes_) situation.nodes.push_back(node);
  for (const JobId id : table_.running_) {
    const Entry& entry = table_.entries_.at(id);
    const bool ending = entry.record.phase == JobPhase::kEnding;
    situation.running.push_back({.job = id,
                                 .shares = entry.record.shares,
                                 .memory_bytes = entry.request.claim.memory_bytes,
                                 .end_ns = ending ? at_.now_ns : entry.deadline_ns});
  }
  for (const JobId id : table_.waiting_) {
    const Entry& entry = table_.entries_.at(id);
    situation.waiting.push_back({.job = id,
                                 .claim = entry.request.claim,
                                 .priority = entry.request.priority,
                                 .time_limit_ns = LimitNs(entry.request)});
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
  if (entry.request.time_limit_s != 0) entry.deadline_ns = at_.now_ns + LimitNs(entry.request);
  record.started_unix_ms = at_.unix_ms;
  table_.waiting_.erase(record.id);
  table_.running_.push_back(record.id);
  Store(entry, Due::kStart);
}

void JobTable::Event::StartNow(Entry& entry) {
  entry.started = true;
  orders_.starts.push_back({entry.record.id, entry.record.epoch, entry.record.shares});
}

void JobTable::Event::Perform(Entry& entry, const Actions& actions) {
  for (const std::string& report : actions.reports) {
    orders_.lines.push_back({entry.record.id, absl::StrCat("bsprun: ", report, "\n")});
    if (entry.record.reason.empty()) entry.record.reason = report;
  }
  if (actions.kill_all || entry.job.finished()) BeginEnding(entry);
}

void JobTable::Event::BeginEnding(Entry& entry) {
  if (entry.record.phase != JobPhase::kRunning) return;
  entry.record.phase = JobPhase::kEnding;
  entry.deadline_ns = kNoEnd;
  if (!entry.started) return End(entry);
  for (const WorkerId worker : entry.hosts_left) {
    orders_.ends.push_back({.worker = worker,
                            .job = entry.record.id,
                            .epoch = entry.record.epoch,
                            .keep_files = entry.request.collects_files});
  }
}

void JobTable::Event::HostLeft(Entry& entry, WorkerId worker) {
  if (std::erase(entry.hosts_left, worker) == 0) return;
  if (entry.hosts_left.empty()) End(entry);
}

void JobTable::Event::End(Entry& entry) {
  JobRecord& record = entry.record;
  std::erase(table_.running_, record.id);
  table_.waiting_.erase(record.id);
  if (entry.started) orders_.cleared.push_back(record.id);
  entry.started = false;
  record.exit_status = entry.job.exit_status();
  record.never_attached = entry.job.never_attached();
  record.ended_unix_ms = at_.unix_ms;
  record.phase = entry.cancelled           ? JobPhase::kCancelled
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

void JobTable::Event::Interrupt(Entry& entry, int signal) {
  entry.job.OnInterrupted(signal);  // Its actions come with the grace below.
  if (std::exchange(entry.interrupted, true) || !entry.started) return BeginEnding(entry);
  Signal(entry, signal == SIGPIPE ? SIGTERM : signal);
  entry.deadline_ns = at_.now_ns + kGraceNs;
}

void JobTable::Event::Cancel(Entry& entry, int signal, const std::string& why) {
  if (entry.record.phase > JobPhase::kRunning) return;  // It is over.
  entry.cancelled = true;
  entry.job.OnInterrupted(signal);
  const bool waits = entry.record.phase == JobPhase::kWaiting;
  if (waits || entry.record.reason.empty()) entry.record.reason = why;
  if (waits) return End(entry);
  BeginEnding(entry);
}

void JobTable::Event::LoseHost(Entry& entry, WorkerId worker, const std::string& why) {
  if (!entry.started) return Unplace(entry);
  if (entry.record.phase == JobPhase::kEnding) return HostLeft(entry, worker);
  Perform(entry, entry.job.OnBroken(kFailureStatus, why));
  HostLeft(entry, worker);
}

void JobTable::Event::Unplace(Entry& entry) {
  std::erase(table_.running_, entry.record.id);
  entry.record.phase = JobPhase::kWaiting;
  entry.record.shares.clear();
  entry.record.node_names.clear();
  entry.record.started_unix_ms = 0;
  entry.deadline_ns = kNoEnd;
  table_.waiting_.insert(entry.record.id);
  Store(entry, Due::kNothing);
}

void JobTable::Event::OnDeadline(Entry& entry) {
  entry.deadline_ns = kNoEnd;
  if (entry.interrupted) return BeginEnding(entry);
  const std::string why =
      absl::StrCat("the time limit of ", entry.request.time_limit_s, " s is reached");
  Perform(entry, Actions{.reports = {why}, .kill_all = false});
  Interrupt(entry, SIGTERM);
}

}  // namespace bspnow
