// The coordinator's records in SQLite: bytes by kind and key, and what they say at a start. No
// thread of its own.
#ifndef COORDINATOR_JOURNAL_JOB_DATABASE_H_
#define COORDINATOR_JOURNAL_JOB_DATABASE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <utility>

#include "coordinator/core/ports.h"
#include "coordinator/journal/sqlite_database.h"

namespace bspnow::coordinator {

// Kinds of records, as they are stored.
inline constexpr char kJobKind[] = "job";                  ///< By id: JobRecord.
inline constexpr char kCheckpointsKind[] = "checkpoints";  ///< By job: JournalCheckpoints.
inline constexpr char kDrainedKind[] = "drained";          ///< By name of the node: no bytes.
inline constexpr char kParametersKind[] = "parameters";    ///< By p: MachineParameters.

/// Replaces the record of this kind and key.
struct RecordWrite {
  const char* kind;
  std::string key;
  std::optional<std::string> bytes;  ///< None: the record goes.
};

class JobDatabase {
 public:
  /// Makes the tables in a new file. FAILED_PRECONDITION if another version of the coordinator has
  /// laid out the file otherwise.
  static absl::StatusOr<JobDatabase> Open(const std::string& path);

  /// Raises the term, reads all, and forgets jobs that are too old.
  absl::StatusOr<StoredState> Load();

  absl::Status Begin() { return database_.Execute("BEGIN IMMEDIATE"); }
  absl::Status Commit() { return database_.Execute("COMMIT"); }
  absl::Status Rollback() { return database_.Execute("ROLLBACK"); }
  bool InTransaction() const { return database_.InTransaction(); }

  /// All or nothing of this one record.
  absl::Status Perform(const RecordWrite& write);

 private:
  explicit JobDatabase(SqliteDatabase database) : database_(std::move(database)) {}

  absl::Status MakeTables();
  absl::Status ReadCounters(StoredState& state);
  absl::Status ReadRecords(StoredState& state);
  absl::Status ForgetOldJobs(StoredState& state);

  SqliteDatabase database_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_JOURNAL_JOB_DATABASE_H_
