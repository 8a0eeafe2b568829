// The coordinator's tables in SQLite: how a JobRecord lies in rows. No thread of its own.
#ifndef COORDINATOR_JOURNAL_JOB_DATABASE_H_
#define COORDINATOR_JOURNAL_JOB_DATABASE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinator/core/jobs/job_table.h"
#include "coordinator/core/ports.h"
#include "coordinator/journal/sqlite_database.h"

namespace bspnow {

class JobDatabase {
 public:
  /// Makes the tables if need be, and brings older ones up to date.
  static absl::StatusOr<JobDatabase> Open(const std::string& path);

  /// Raises the term, forgets what is too old, and reads the rest.
  absl::StatusOr<StoredState> Load();

  absl::Status Begin() { return database_.Execute("BEGIN IMMEDIATE"); }
  absl::Status Commit() { return database_.Execute("COMMIT"); }
  absl::Status Rollback() { return database_.Execute("ROLLBACK"); }
  bool InTransaction() const { return database_.InTransaction(); }

  /// A part of the transaction that can be undone alone.
  absl::Status BeginPart() { return database_.Execute("SAVEPOINT part"); }
  absl::Status EndPart() { return database_.Execute("RELEASE part"); }
  absl::Status UndoPart() { return database_.Execute("ROLLBACK TO part; RELEASE part"); }

  absl::Status WriteJob(const JobRecord& record);
  /// All that is known of a job's checkpoints, in place of what was; empty: none.
  absl::Status WriteCheckpoints(JobId job, const std::string& catalogue);
  absl::Status WriteDrained(const std::string& node);
  absl::Status WriteUndrained(const std::string& node);
  absl::Status WriteParameters(std::uint32_t p, const std::string& parameters);

 private:
  explicit JobDatabase(SqliteDatabase database) : database_(std::move(database)) {}

  absl::Status WriteShares(const JobRecord& record);
  absl::Status WriteLosses(const JobRecord& record);
  absl::Status RaiseTerm();
  absl::Status ForgetOldJobs();
  absl::StatusOr<std::int64_t> Counter(const std::string& name);
  absl::Status ReadJobs(StoredState& state);
  absl::Status ReadShares(JobRecord& record);
  absl::Status ReadLosses(JobRecord& record);
  absl::Status ReadCheckpoints(StoredState& state);
  absl::StatusOr<std::vector<std::string>> ReadColumn(const std::string& sql);

  SqliteDatabase database_;
};

}  // namespace bspnow

#endif  // COORDINATOR_JOURNAL_JOB_DATABASE_H_
