// Time and disk of the simulated coordinator, which its core uses through ports.
#include <algorithm>
#include <utility>

#include <absl/strings/match.h>
#include "tests/simulation/sim_coordinator.h"

namespace bspnow {

using coordinator::StreamOf;

namespace {

constexpr std::int64_t kSomeDayMs = 1'700'000'000'000;
constexpr std::uint64_t kAppendsPerRefusedOne = 500;
constexpr std::uint64_t kLogNs = 200 * kMicrosecond;

}  // namespace

// ---- Time ---------------------------------------------------------------------------------------

Moment SimCoordinator::Now() const {
  return {.now_ns = loop_.now_ns(),
          .unix_ms = kSomeDayMs + static_cast<std::int64_t>(loop_.now_ns() / kMillisecond) +
                     journal_.clock_ms};
}

void SimCoordinator::Post(Event event) {
  loop_.On(actor_, 0, [this, event = std::move(event)] { Turn(event); });
}

CoreTimer SimCoordinator::AddTimer(std::uint64_t after_ms, Event event) {
  const CoreTimer timer{++last_timer_};
  timers_.insert(timer);
  loop_.On(actor_, after_ms * kMillisecond, [this, timer, event = std::move(event)] {
    if (timers_.erase(timer) != 0) Turn(event);
  });
  return timer;
}

// ---- The journal --------------------------------------------------------------------------------

void SimCoordinator::WriteJobs(std::vector<JobRecord> records, Journal::Done done) {
  const JobRecord& record = records.front();  // Only of a new array there are others.
  const proto::Job& job = record.job();
  if (job.state() == proto::RUNNING && cluster_ && placed_.emplace(job.job(), job.epoch()).second) {
    CheckOrder(record);
    CheckAtOnce(record);
    CheckQuota(record);
    CheckReach(record);
    if (rules()) oracle_.promises().OnPlaced(record);
  }
  if (HasEnded(record) && cluster_) CheckOutputBefore(record);
  if (rules()) oracle_.promises().OnWritten(record);
  if (job.state() == proto::RECOVERING &&
      (job.losses().empty() || job.losses().rbegin()->resumed()))
    oracle_.Count("moved");
  if (job.state() == proto::RECOVERING && job.reason().ends_with("before its processes had begun"))
    oracle_.Count("starts found unbegun");
  CheckTimes(job);
  writer_.Queue(
      {.apply =
           [this, records = std::move(records)] {
             const auto row = [this, records] {
               for (const JobRecord& record : records) journal_.jobs[IdOf(record)] = record;
             };
             // An end that is not stored would be another one after a restart: there is none where
             // the journal fails.
             const bool may_fail = journal_.fails || !HasEnded(records.front());
             return may_fail ? WriteRow(row) : StoreRow(row);
           },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

bool SimCoordinator::RefusesRow() {
  const bool is_full = loop_.now_ns() < journal_.full_until_ns;
  const bool refuses =
      is_full || (journal_.fails ? loop_.Chance(10) : journal_.disturbed && loop_.Chance(1));
  if (refuses) oracle_.Count("rows refused");
  return refuses;
}

absl::Status SimCoordinator::StoreRow(const Row& row) {
  row();
  journal_.failed_row = nullptr;
  return absl::OkStatus();
}

absl::Status SimCoordinator::RefuseRow(const Row& row) {
  journal_.failed_row = nullptr;
  if (loop_.Chance(50))
    journal_.failed_row = [this, row] {
      oracle_.Count("rows found though their write failed");
      row();
    };
  return absl::ResourceExhaustedError("disk full");
}

void SimCoordinator::WriteCheckpoints(JobId job, std::string catalogue, Journal::Done done) {
  if (!superseded()) {  // What it writes reaches nobody.
    CheckGivenUp(job, catalogue);
    CheckCopies(job, catalogue);
  }
  writer_.Queue(
      {.apply =
           [this, job, catalogue = std::move(catalogue)] {
             const auto row = [this, job, catalogue] {
               WatchCatalogue(job, catalogue);
               if (catalogue.empty()) {
                 journal_.checkpoints.erase(job);
               } else {
                 journal_.checkpoints[job] = catalogue;
               }
             };
             if (!catalogue.empty() && RefusesRow()) return RefuseRow(row);
             CheckCatalogue(job, catalogue);
             return StoreRow(row);
           },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

void SimCoordinator::WriteDrained(std::string node, Journal::Done done) {
  writer_.Queue(
      {.apply =
           [this, node = std::move(node)] {
             return WriteRow([this, node] { journal_.drained.insert(node); });
           },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

void SimCoordinator::WriteUndrained(std::string node, Journal::Done done) {
  writer_.Queue(
      {.apply =
           [this, node = std::move(node)] {
             return WriteRow([this, node] { journal_.drained.erase(node); });
           },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

void SimCoordinator::WriteParameters(std::uint32_t, std::string, Journal::Done) {
  oracle_.Fail("nobody measures this cluster");
}

void SimCoordinator::RaiseTerm(std::uint64_t term, Journal::Done done) {
  if (!journal_.put_back && !superseded())
    oracle_.Fail("a worker knows a later coordinator than this one");
  writer_.Queue(
      {.apply =
           [this, term] {
             return WriteRow([this, term] {
               oracle_.Count("terms raised");
               journal_.term = std::max(journal_.term, term);
             });
           },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

// ---- The logs -----------------------------------------------------------------------------------

SimWriter& SimCoordinator::LogWriterOf(JobId job) {
  return log_writers_
      .try_emplace(
          job, loop_, journal_, actor_, [this] { return !superseded() && !logs_hang_; }, kLogNs)
      .first->second;
}

void SimCoordinator::Append(JobId job, LogRecord record, OutputLogs::Done done) {
  if (record.origin == LogOrigin::kLauncher) {
    if (absl::StrContains(record.text, "waits for a node")) oracle_.Count("waits for holders");
    return Post([done] { done(absl::OkStatus()); });
  }
  unlogged_[arriving_.first].emplace(arriving_.second, job);
  LogWriterOf(job).Queue(
      {.apply = [this, job, record = std::move(record)] { return AppendTo(job, record); },
       .done =
           [this, done, event = arriving_](const absl::Status& written) {
             unlogged_[event.first].erase(event.second);
             Turn([&] { done(written); });
           }});
}

absl::Status SimCoordinator::AppendTo(JobId job, const LogRecord& record) {
  if (journal_.disturbed && loop_.Below(kAppendsPerRefusedOne) == 0) {
    oracle_.Count("output refused");
    journal_.logs[job].lossy = true;
    return absl::DataLossError("input/output error");
  }
  std::string& text = journal_.logs[job].texts[StreamOf(record)];
  if (record.offset > text.size()) {
    oracle_.Count("gaps in output");
    CheckLossy(job);
    return absl::FailedPreconditionError(kOutputGap);
  }
  const std::size_t known = std::min(text.size() - record.offset, record.text.size());
  if (known != 0) oracle_.Count("repeated output");
  if (text.compare(record.offset, known, record.text, 0, known) != 0)
    oracle_.Fail("output is repeated otherwise");
  text.append(record.text, known);
  return absl::OkStatus();
}

// What a worker says of output comes once the log has that output.
void SimCoordinator::CheckLossy(JobId job) const {
  const SimLog& log = journal_.logs[job];
  if (!log.lossy && !log.damaged && !journal_.put_back)
    oracle_.Fail("output of job " + std::to_string(Value(job)) + " is missed, and nothing lost it");
}

void SimCoordinator::Cut(JobId job, const std::vector<LogPosition>& positions, CutDone done) {
  const auto cut = std::make_shared<absl::StatusOr<LogCut>>();
  LogWriterOf(job).Queue(
      {.apply =
           [this, job, positions, cut] {
             *cut = CutLog(job, positions);
             return cut->status();
           },
       .done = [this, done, cut](const absl::Status&) { Turn([&] { done(*cut); }); }});
}

absl::StatusOr<LogCut> SimCoordinator::CutLog(JobId job,
                                              const std::vector<LogPosition>& positions) {
  if (loop_.Chance(2)) {
    oracle_.Count("failed cuts of logs");
    return absl::DataLossError("input/output error");
  }
  LogCut cut;
  SimLog& log = journal_.logs[job];
  StreamEnds keep;
  for (const LogPosition& at : positions) {
    const std::uint64_t has = log.texts[{at.pid, LogOrigin::kStdout}].size();
    cut.missing_bytes += at.stdout_bytes - std::min(at.stdout_bytes, has);
    keep[{at.pid, LogOrigin::kStdout}] = at.left ? has : at.stdout_bytes;
  }
  if (cut.missing_bytes != 0) {
    if (!log.damaged) oracle_.Fail("the log has less than the checkpoint says");
    oracle_.Count("checkpoints that a log does not cover");
    return cut;
  }
  for (auto& [stream, text] : log.texts) {
    const std::uint64_t end = keep.contains(stream) ? keep[stream] : 0;
    if (end >= text.size()) continue;
    cut.dropped_bytes += text.size() - end;
    text.resize(end);
    log.synced[stream] = std::min<std::uint64_t>(log.synced[stream], end);
  }
  if (cut.dropped_bytes != 0) oracle_.Count("logs cut back");
  return cut;
}

// Before it ends the job may be started again.
void SimCoordinator::Sync(JobId job, const std::vector<LogPosition>& reach, OutputLogs::Done done) {
  const bool outlasts_epoch = journal_.disturbed && loop_.Chance(2);
  if (outlasts_epoch) {
    oracle_.Count("syncs of logs that outlast their epoch");
    nodes_.kill_one_of(job);
  }
  LogWriterOf(job).Queue(
      {.apply =
           [this, job, reach] {
             journal_.logs[job].sync_failed = loop_.Chance(2);
             if (journal_.logs[job].sync_failed) {
               oracle_.Count("failed syncs of logs");
               return absl::DataLossError("input/output error");
             }
             SimLog& log = journal_.logs[job];
             for (const LogPosition& at : reach) {
               const std::size_t has = log.texts[{at.pid, LogOrigin::kStdout}].size();
               if (at.stdout_bytes <= has) continue;
               oracle_.Count("lost output found");
               CheckLossy(job);
               return absl::FailedPreconditionError(kOutputGap);
             }
             for (const auto& [stream, text] : log.texts) log.synced[stream] = text.size();
             return absl::OkStatus();
           },
       .done = [this, done](const absl::Status& synced) { Turn([&] { done(synced); }); },
       .longer_ns = outlasts_epoch ? loop_.Below(kSecond) : 0});
}

}  // namespace bspnow
