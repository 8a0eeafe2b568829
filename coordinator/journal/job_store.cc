#include "coordinator/journal/job_store.h"

#include <absl/strings/str_cat.h>
#include <spdlog/spdlog.h>

#include <algorithm>

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

}  // namespace

absl::StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const std::string& directory,
                                                         PostEvent post) {
  absl::StatusOr<JobDatabase> database = JobDatabase::Open(JournalIn(directory));
  if (!database.ok()) return WithFix(database.status(), directory);
  absl::StatusOr<StoredState> loaded = database->Load();
  if (!loaded.ok()) return WithFix(loaded.status(), directory);
  return std::make_unique<JobStore>(*std::move(database), *std::move(loaded), std::move(post));
}

JobStore::JobStore(JobDatabase database, StoredState loaded, PostEvent post)
    : database_(std::move(database)),
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

void JobStore::WriteJob(JobRecord record, Done done) {
  Queue({.kind = kJobKind,
         .key = absl::StrCat(Value(IdOf(record))),
         .bytes = record.SerializeAsString()},
        std::move(done));
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

void JobStore::Queue(RecordWrite record, Done done) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(record), std::move(done)});
  }
  changed_.notify_one();
}

void JobStore::Run() {
  while (true) {
    std::vector<Write> writes;
    {
      std::unique_lock lock(mutex_);
      const auto something = [this] { return closing_ || !queue_.empty(); };
      if (copied_) {
        changed_.wait(lock, something);
      } else {
        changed_.wait_until(lock, next_copy_, something);
      }
      writes.swap(queue_);
    }
    const bool closing = writes.empty() && closing_;
    if (!copied_ && (closing || Clock::now() >= next_copy_)) Copy();
    if (closing) return;
    if (writes.empty()) continue;
    copied_ = false;
    const std::vector<absl::Status> written = PerformAll(writes);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      post_([done = std::move(writes[i].done), outcome = written[i]] { done(outcome); });
    }
  }
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

// In one transaction, in which a write that fails fails alone. Without the transaction nothing is
// written.
std::vector<absl::Status> JobStore::PerformAll(const std::vector<Write>& writes) {
  const auto all_are = [&writes](const absl::Status& status) {
    return std::vector<absl::Status>(writes.size(), status);
  };
  if (const absl::Status begun = database_.Begin(); !begun.ok()) return all_are(begun);
  std::vector<absl::Status> written;
  for (const Write& write : writes) {
    written.push_back(database_.Perform(write.record));
    if (!database_.InTransaction()) return all_are(written.back());
  }
  if (const absl::Status committed = database_.Commit(); !committed.ok()) {
    if (database_.InTransaction()) database_.Rollback().IgnoreError();
    return all_are(committed);
  }
  return written;
}

}  // namespace bspnow::coordinator
