// The coordinator's journal: what must survive a restart, in SQLite (WAL, synchronous). A thread of
// its own writes, so that the loop never waits for the disk; what comes while it does goes into one
// transaction, so that many jobs a second need few syncs. In it a record that fails fails alone.
// Beside it the history of jobs that ended long ago (job_history.h).
#ifndef COORDINATOR_JOURNAL_JOB_STORE_H_
#define COORDINATOR_JOURNAL_JOB_STORE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/histogram.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/core/ports.h"
#include "coordinator/journal/job_database.h"
#include "coordinator/journal/job_history.h"

namespace bspnow::coordinator {

class JobStore final : public Journal {
 public:
  /// Makes DIRECTORY/jobs.sqlite if need be and keeps others out. FAILED_PRECONDITION if another
  /// coordinator has it, DATA_LOSS if it is damaged, lost, or older than its copy.
  static absl::StatusOr<std::unique_ptr<JobStore>> Open(const std::string& directory,
                                                        PostEvent post);

  JobStore(JobDatabase database, JobHistory history, StoredState loaded, PostEvent post);
  ~JobStore() override;  ///< Writes what is queued.

  /// What Open found; once.
  StoredState TakeLoaded() { return std::move(loaded_); }

  /// How long transactions took, the sync of the disk included. From any thread.
  Histogram::Snapshot sync_ns() const { return sync_ns_.Look(); }

  void WriteJobs(std::vector<JobRecord> jobs, Done done) override;
  void WriteCheckpoints(JobId job, std::string catalogue, Done done) override;
  void WriteDrained(std::string node, Done done) override;
  void WriteUndrained(std::string node, Done done) override;
  void WriteParameters(std::uint32_t p, std::string parameters, Done done) override;
  void RaiseTerm(std::uint64_t term, Done done) override;
  void Archive(const std::vector<JobId>& jobs) override;
  void ReadHistory(JobId before, std::size_t count, FoundJobs found) override;

 private:
  static constexpr std::uint64_t kSyncBaseNs = 10'000;

  struct Write {
    std::vector<RecordWrite> records;  ///< All or none of them.
    Done done;
  };
  struct Lookup {
    JobId before;
    std::size_t count;
    FoundJobs found;
  };
  /// What came while the thread was at work.
  struct Work {
    std::vector<Write> writes{};
    std::vector<JobId> archived{};
    std::deque<Lookup> lookups{};

    bool empty() const { return writes.empty() && archived.empty() && lookups.empty(); }
  };

  void Queue(RecordWrite record, Done done);
  void QueueAll(std::vector<RecordWrite> records, Done done);
  void Run();
  /// All of it, but one lookup at most: a write waits for no more of them. With mutex_ held.
  Work TakeWork();
  void PerformWrites(std::vector<Write> writes);
  void PerformArchive(const std::vector<JobId>& jobs);
  /// Moves not_archived_ into the history; the copy of the journal can wait.
  void MoveArchived();
  void PerformLookup(Lookup lookup);
  absl::StatusOr<HistoryPage> ReadBefore(JobId before, std::size_t count);
  void Copy();
  absl::Status PerformTogether(const std::vector<RecordWrite>& records);
  std::vector<absl::Status> PerformAll(const std::vector<Write>& writes);

  JobDatabase database_;  ///< Of the thread, and so is all up to loaded_.
  const std::string history_path_;
  absl::StatusOr<JobHistory> history_;  ///< Why there is none, until the next move into it.
  std::vector<JobId> not_archived_{};   ///< For want of room, say: tried again with each copy.
  bool copied_ = false;                 ///< What is committed.
  std::chrono::steady_clock::time_point next_copy_{};
  std::string move_failure_;  ///< The last; empty: none.
  std::string copy_failure_;  ///< The same.
  Histogram sync_ns_{kSyncBaseNs};
  StoredState loaded_;
  const PostEvent post_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Work work_;             ///< Guarded by mutex_.
  bool closing_ = false;  ///< Guarded by mutex_.
  std::jthread thread_;   ///< Last: it uses all of the above.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_JOURNAL_JOB_STORE_H_
