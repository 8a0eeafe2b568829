// Jobs that ended long ago, in an SQLite file of their own: without a limit, never changed, and not
// part of what a start reads or the journal's copy repeats. No job needs it to go on: a damaged one
// is no reason not to start. No thread of its own.
#ifndef COORDINATOR_JOURNAL_JOB_HISTORY_H_
#define COORDINATOR_JOURNAL_JOB_HISTORY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/core/ports.h"
#include "coordinator/journal/sqlite_database.h"

namespace bspnow::coordinator {

inline std::string HistoryIn(const std::string& directory) { return directory + "/history.sqlite"; }

class JobHistory {
 public:
  /// Makes it if need be. DATA_LOSS if it is damaged, as far as a first look can tell.
  static absl::StatusOr<JobHistory> Open(const std::string& path);

  const std::string& path() const { return database_.path(); }
  /// All or none of them; durable. One that is there already is replaced.
  absl::Status Add(const std::vector<JobRecord>& jobs);
  /// Up to `count` jobs with smaller ids.
  absl::StatusOr<HistoryPage> ReadBefore(JobId before, std::size_t count);
  struct Count {
    std::size_t sound = 0;
    std::size_t damaged = 0;
    JobId last_damaged{0};
  };
  /// Reads all of it.
  absl::StatusOr<Count> Check();

 private:
  explicit JobHistory(SqliteDatabase database) : database_(std::move(database)) {}

  absl::Status AddAll(const std::vector<JobRecord>& jobs);

  SqliteDatabase database_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_JOURNAL_JOB_HISTORY_H_
