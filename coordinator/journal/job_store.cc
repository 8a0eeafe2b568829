#include "coordinator/journal/job_store.h"

#include <absl/strings/str_cat.h>

namespace bspnow {

absl::StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const std::string& directory) {
  absl::StatusOr<JobDatabase> database = JobDatabase::Open(absl::StrCat(directory, "/jobs.sqlite"));
  if (!database.ok()) return database.status();
  absl::StatusOr<StoredState> loaded = database->Load();
  if (!loaded.ok()) return loaded.status();
  return std::make_unique<JobStore>(*std::move(database), *std::move(loaded));
}

JobStore::JobStore(JobDatabase database, StoredState loaded)
    : database_(std::move(database)), loaded_(std::move(loaded)), thread_([this] { Run(); }) {}

JobStore::~JobStore() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void JobStore::WriteJob(JobRecord record, Done done) {
  Queue({[record = std::move(record)](JobDatabase& database) { return database.WriteJob(record); },
         std::move(done)});
}

void JobStore::WriteCheckpoints(JobId job, std::string catalogue, Done done) {
  Queue({[job, catalogue = std::move(catalogue)](JobDatabase& database) {
           return database.WriteCheckpoints(job, catalogue);
         },
         std::move(done)});
}

void JobStore::WriteDrained(std::string node, Done done) {
  Queue({[node = std::move(node)](JobDatabase& database) { return database.WriteDrained(node); },
         std::move(done)});
}

void JobStore::WriteUndrained(std::string node, Done done) {
  Queue({[node = std::move(node)](JobDatabase& database) { return database.WriteUndrained(node); },
         std::move(done)});
}

void JobStore::WriteParameters(std::uint32_t p, std::string parameters, Done done) {
  Queue({[p, parameters = std::move(parameters)](JobDatabase& database) {
           return database.WriteParameters(p, parameters);
         },
         std::move(done)});
}

void JobStore::Queue(Write write) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(write));
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
    const absl::Status written = PerformAll(writes);
    for (const Write& write : writes) {
      if (write.done) write.done(written);
    }
  }
}

// All or nothing: what failed for one is not known of the others.
absl::Status JobStore::PerformAll(const std::vector<Write>& writes) {
  absl::Status status = database_.Begin();
  if (!status.ok()) return status;
  for (const Write& write : writes) {
    if (status.ok()) status = write.perform(database_);
  }
  if (status.ok()) status = database_.Commit();
  if (!status.ok()) database_.Rollback().IgnoreError();  // The first error is what counts.
  return status;
}

}  // namespace bspnow
