#include "coordinator/journal/job_store.h"

#include <absl/strings/str_cat.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "coordinator/core/jobs/job_table.h"
#include "coordinator/journal/sqlite_database.h"

namespace bspnow::coordinator {

namespace {

using Clock = std::chrono::steady_clock;

/// Between two copies: a second, or so much longer than one took.
constexpr Clock::duration kCopyPause = std::chrono::seconds(1);
constexpr int kCopyPauses = 20;

absl::Status WithFix(const absl::Status& status, const std::string& directory) {
  if (!absl::IsDataLoss(status)) return status;
  return absl::DataLossError(
      absl::StrCat(status.message(), "; `bsp-coordinator --rebuild --state-dir ", directory,
                   "` makes a journal of what is left, `--check` says what is wrong"));
}

/// No job needs a damaged one. It is not open.
absl::StatusOr<JobHistory> BeginAnew(const std::string& path, const absl::Status& damage) {
  const absl::StatusOr<std::string> aside = SetAside(path);
  if (!aside.ok()) return aside.status();
  spdlog::error("event=history_set_aside as={} error=\"{}\"", *aside, damage.ToString());
  return JobHistory::Open(path);
}

absl::StatusOr<JobHistory> OpenHistory(const std::string& path) {
  absl::StatusOr<JobHistory> history = JobHistory::Open(path);
  if (!absl::IsDataLoss(history.status())) return history;
  return BeginAnew(path, history.status());
}

/// All that ended but the newest.
std::vector<JobId> OldestEnded(const StoredState& state) {
  std::vector<JobId> oldest;
  std::size_t ended = 0;
  for (auto record = state.jobs.rbegin(); record != state.jobs.rend(); ++record)
    if (HasEnded(*record) && ++ended > kEndedJobsMax) oldest.push_back(IdOf(*record));
  return oldest;
}

/// To a history that has turned out to be damaged where a first look did not see it, too.
absl::Status Add(const std::vector<JobRecord>& jobs, absl::StatusOr<JobHistory>& history) {
  const absl::Status added = history->Add(jobs);
  if (!absl::IsDataLoss(added)) return added;
  const std::string path = history->path();
  history = added;  // Closes it.
  history = BeginAnew(path, added);
  return history.ok() ? history->Add(jobs) : history.status();
}

/// First into the history, then out of the journal: whatever happens between, they are known.
absl::Status Move(const std::vector<JobId>& jobs, JobDatabase& journal,
                  absl::StatusOr<JobHistory>& history) {
  const absl::StatusOr<std::vector<JobRecord>> records = journal.ReadJobs(jobs);
  if (!records.ok()) return records.status();
  if (absl::Status s = Add(*records, history); !s.ok()) return s;
  return journal.Forget(*records);
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const std::string& directory,
                                                         PostEvent post) {
  absl::StatusOr<JobDatabase> database = JobDatabase::Open(JournalIn(directory));
  if (!database.ok()) return WithFix(database.status(), directory);
  absl::StatusOr<JobHistory> history = OpenHistory(HistoryIn(directory));
  if (!history.ok()) return history.status();
  absl::StatusOr<StoredState> loaded = database->Load();
  if (!loaded.ok()) return WithFix(loaded.status(), directory);
  if (const std::vector<JobId> oldest = OldestEnded(*loaded); !oldest.empty()) {
    if (absl::Status s = Move(oldest, *database, history); !s.ok()) return s;
    loaded = database->Read();
    if (!loaded.ok()) return WithFix(loaded.status(), directory);
  }
  return std::make_unique<JobStore>(*std::move(database), *std::move(history), *std::move(loaded),
                                    std::move(post));
}

JobStore::JobStore(JobDatabase database, JobHistory history, StoredState loaded, PostEvent post)
    : database_(std::move(database)),
      history_path_(history.path()),
      history_(std::move(history)),
      loaded_(std::move(loaded)),
      post_(std::move(post)),
      thread_([this] { Run(); }) {}

JobStore::~JobStore() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void JobStore::WriteJobs(std::vector<JobRecord> jobs, Done done) {
  std::vector<RecordWrite> records;
  for (const JobRecord& job : jobs)
    records.push_back({.kind = kJobKind,
                       .key = absl::StrCat(Value(IdOf(job))),
                       .bytes = job.SerializeAsString()});
  QueueAll(std::move(records), std::move(done));
}

void JobStore::WriteCheckpoints(JobId job, std::string catalogue, Done done) {
  RecordWrite record{.kind = kCheckpointsKind, .key = absl::StrCat(Value(job)), .bytes = {}};
  if (!catalogue.empty()) record.bytes = std::move(catalogue);
  Queue(std::move(record), std::move(done));
}

void JobStore::WriteDrained(std::string node, Done done) {
  Queue({.kind = kDrainedKind, .key = std::move(node), .bytes = ""}, std::move(done));
}

void JobStore::WriteUndrained(std::string node, Done done) {
  Queue({.kind = kDrainedKind, .key = std::move(node), .bytes = {}}, std::move(done));
}

void JobStore::WriteParameters(std::uint32_t p, std::string parameters, Done done) {
  Queue({.kind = kParametersKind, .key = absl::StrCat(p), .bytes = std::move(parameters)},
        std::move(done));
}

void JobStore::RaiseTerm(std::uint64_t term, Done done) {
  Queue({.kind = kTermKind, .key = absl::StrCat(term), .bytes = {}}, std::move(done));
}

void JobStore::Archive(const std::vector<JobId>& jobs) {
  {
    const std::lock_guard lock(mutex_);
    work_.archived.insert(work_.archived.end(), jobs.begin(), jobs.end());
  }
  changed_.notify_one();
}

void JobStore::ReadHistory(JobId before, std::size_t count, FoundJobs found) {
  {
    const std::lock_guard lock(mutex_);
    work_.lookups.push_back({before, count, std::move(found)});
  }
  changed_.notify_one();
}

void JobStore::Queue(RecordWrite record, Done done) {
  QueueAll({std::move(record)}, std::move(done));
}

void JobStore::QueueAll(std::vector<RecordWrite> records, Done done) {
  {
    const std::lock_guard lock(mutex_);
    work_.writes.push_back({std::move(records), std::move(done)});
  }
  changed_.notify_one();
}

void JobStore::Run() {
  while (true) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      const auto something = [this] { return closing_ || !work_.empty(); };
      if (copied_ && not_archived_.empty()) {
        changed_.wait(lock, something);
      } else {
        changed_.wait_until(lock, next_copy_, something);
      }
      work = TakeWork();
    }
    const bool closing = work.empty() && closing_;
    const bool due = closing || Clock::now() >= next_copy_;
    if (due && !not_archived_.empty()) MoveArchived();
    if (due && !copied_) Copy();
    if (closing) return;
    if (!work.writes.empty()) PerformWrites(std::move(work.writes));
    if (!work.archived.empty()) PerformArchive(work.archived);
    for (Lookup& lookup : work.lookups) PerformLookup(std::move(lookup));
  }
}

JobStore::Work JobStore::TakeWork() {
  Work taken{.writes = std::exchange(work_.writes, {}),
             .archived = std::exchange(work_.archived, {})};
  if (!work_.lookups.empty()) {
    taken.lookups.push_back(std::move(work_.lookups.front()));
    work_.lookups.pop_front();
  }
  return taken;
}

void JobStore::PerformWrites(std::vector<Write> writes) {
  copied_ = false;
  const Clock::time_point begun = Clock::now();
  const std::vector<absl::Status> written = PerformAll(writes);
  const std::chrono::nanoseconds took = Clock::now() - begun;
  sync_ns_.Record(static_cast<std::uint64_t>(took.count()), 1);
  for (std::size_t i = 0; i < writes.size(); ++i)
    post_([done = std::move(writes[i].done), outcome = written[i]] { done(outcome); });
}

void JobStore::PerformArchive(const std::vector<JobId>& jobs) {
  not_archived_.insert(not_archived_.end(), jobs.begin(), jobs.end());
  MoveArchived();
}

void JobStore::MoveArchived() {
  if (!history_.ok()) history_ = OpenHistory(history_path_);
  const absl::Status moved =
      history_.ok() ? Move(not_archived_, database_, history_) : history_.status();
  if (moved.ok()) {
    not_archived_.clear();
    copied_ = false;
  } else {
    next_copy_ = std::max(next_copy_, Clock::now() + kCopyPause);
  }
  if (moved.message() == move_failure_) return;
  move_failure_ = std::string(moved.message());
  if (!moved.ok())
    spdlog::error("event=history_not_written jobs={} error=\"{}\"", not_archived_.size(),
                  moved.ToString());
}

void JobStore::PerformLookup(Lookup lookup) {
  post_([found = std::move(lookup.found),
         page = ReadBefore(lookup.before, lookup.count)]() mutable { found(std::move(page)); });
}

// What was to be moved into the history and could not be is still in the journal, or in both.
absl::StatusOr<HistoryPage> JobStore::ReadBefore(JobId before, std::size_t count) {
  if (!history_.ok()) return history_.status();
  absl::StatusOr<HistoryPage> page = history_->ReadBefore(before, count);
  std::vector<JobId> waiting;
  for (const JobId job : not_archived_)
    if (job < before) waiting.push_back(job);
  if (!page.ok() || waiting.empty()) return page;
  std::sort(waiting.begin(), waiting.end(), std::greater<>());
  waiting.resize(std::min(waiting.size(), count));
  absl::StatusOr<std::vector<JobRecord>> more = database_.ReadJobs(waiting);
  if (!more.ok()) return more.status();
  std::map<JobId, std::optional<JobRecord>, std::greater<>> newest_first;  // Without: damaged.
  for (std::vector<JobRecord>* each : {&page->records, &*more})
    for (JobRecord& record : *each) newest_first.try_emplace(IdOf(record), std::move(record));
  for (const JobId job : page->damaged) newest_first.try_emplace(job, std::nullopt);
  HistoryPage both;
  for (auto& [id, record] : newest_first) {
    if (both.size() == count) break;
    if (record) {
      both.records.push_back(*std::move(record));
    } else {
      both.damaged.push_back(id);
    }
  }
  return both;
}

/// Of all that is committed.
void JobStore::Copy() {
  const Clock::time_point begun = Clock::now();
  const absl::Status written = database_.WriteCopy();
  const Clock::duration took = Clock::now() - begun;
  next_copy_ = Clock::now() + std::max<Clock::duration>(kCopyPause, kCopyPauses * took);
  copied_ = written.ok();
  if (written.message() == copy_failure_) return;
  copy_failure_ = std::string(written.message());
  if (!written.ok()) spdlog::error("event=journal_not_copied error=\"{}\"", written.ToString());
}

absl::Status JobStore::PerformTogether(const std::vector<RecordWrite>& records) {
  if (records.size() == 1) return database_.Perform(records.front());
  if (absl::Status s = database_.Mark(); !s.ok()) return s;
  absl::Status written;
  for (const RecordWrite& record : records)
    if (written.ok()) written = database_.Perform(record);
  if (!written.ok() && !database_.InTransaction()) return written;
  const absl::Status ended = written.ok() ? database_.Unmark() : database_.BackToMark();
  return written.ok() ? ended : written;
}

// In one transaction, in which a write that fails fails alone. Without the transaction nothing is
// written.
std::vector<absl::Status> JobStore::PerformAll(const std::vector<Write>& writes) {
  const auto all_are = [&writes](const absl::Status& status) {
    return std::vector<absl::Status>(writes.size(), status);
  };
  if (const absl::Status begun = database_.Begin(); !begun.ok()) return all_are(begun);
  std::vector<absl::Status> written;
  for (const Write& write : writes) {
    written.push_back(PerformTogether(write.records));
    if (!database_.InTransaction()) return all_are(written.back());
  }
  if (const absl::Status committed = database_.Commit(); !committed.ok()) {
    if (database_.InTransaction()) database_.Rollback().IgnoreError();
    return all_are(committed);
  }
  return written;
}

}  // namespace bspnow::coordinator
