#include "coordinator/journal/job_store.h"

#include <absl/strings/str_cat.h>

namespace bspnow::coordinator {

absl::StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const std::string& directory,
                                                         PostEvent post) {
  absl::StatusOr<JobDatabase> database = JobDatabase::Open(absl::StrCat(directory, "/jobs.sqlite"));
  if (!database.ok()) return database.status();
  absl::StatusOr<StoredState> loaded = database->Load();
  if (!loaded.ok()) return loaded.status();
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
      changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      writes.swap(queue_);
    }
    if (writes.empty()) return;
    const std::vector<absl::Status> written = PerformAll(writes);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      post_([done = std::move(writes[i].done), outcome = written[i]] { done(outcome); });
    }
  }
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
