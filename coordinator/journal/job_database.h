// The coordinator's records in SQLite: bytes by kind and key, and what they say at a start. No
// thread of its own.
#ifndef COORDINATOR_JOURNAL_JOB_DATABASE_H_
#define COORDINATOR_JOURNAL_JOB_DATABASE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/ports.h"
#include "coordinator/journal/sqlite_database.h"

namespace bspnow::coordinator {

// Kinds of records, as they are stored.
inline constexpr char kJobKind[] = "job";                  ///< By id: JobRecord.
inline constexpr char kCheckpointsKind[] = "checkpoints";  ///< By job: JournalCheckpoints.
inline constexpr char kDrainedKind[] = "drained";          ///< By name of the node: no bytes.
inline constexpr char kParametersKind[] = "parameters";    ///< By p: MachineParameters.
/// No record: raises the counter of this name, to a number as text.
inline constexpr char kTermKind[] = "term";

inline std::string JournalIn(const std::string& directory) { return directory + "/jobs.sqlite"; }
/// The copy beside a journal, which follows it by seconds.
inline std::string CopyOf(const std::string& journal) { return journal + ".copy"; }

/// How new a journal or copy is. Of one cluster, the one with the higher term is the newer, then
/// the one with more changes.
struct JournalAge {
  std::string cluster{};
  std::uint64_t term = 0;
  std::uint64_t changes = 0;    ///< Transactions since it was made.
  std::uint64_t forgotten = 0;  ///< StoredState::forgotten.

  bool OlderThan(const JournalAge& other) const {
    return std::pair(term, changes) < std::pair(other.term, other.changes);
  }
};

/// Replaces the record of this kind and key.
struct RecordWrite {
  const char* kind;
  std::string key;
  std::optional<std::string> bytes;  ///< None: the record goes.
};

/// As it lies there.
struct StoredRecord {
  std::string kind;
  std::string key;
  std::string bytes;
};

class JobDatabase {
 public:
  /// Makes the tables in a new file. FAILED_PRECONDITION if another version of the coordinator has
  /// laid out the file otherwise, DATA_LOSS if it is damaged, lost or older than its copy.
  static absl::StatusOr<JobDatabase> Open(const std::string& path);
  /// A new one, where nothing is.
  static absl::StatusOr<JobDatabase> Make(const std::string& path);
  /// Whatever is wrong with it: a copy, or a damaged one.
  static absl::StatusOr<JobDatabase> OpenCopy(const std::string& path);
  static absl::StatusOr<JobDatabase> OpenDamaged(const std::string& path);

  /// Raises the term and reads all.
  absl::StatusOr<StoredState> Load();
  /// The same, but nothing changes.
  absl::StatusOr<StoredState> Read();

  /// Those of them that are there.
  absl::StatusOr<std::vector<JobRecord>> ReadJobs(const std::vector<JobId>& jobs);
  /// All or nothing of them.
  absl::Status Forget(const std::vector<JobRecord>& jobs);

  absl::StatusOr<JournalAge> Age();
  /// Of one without records, in a transaction of the caller's.
  absl::Status SetAge(const JournalAge& age);
  /// Hands out each record whose checksum is right, as far as the file can be read; returns how
  /// many are damaged, or why there may be more.
  absl::StatusOr<std::size_t> ForEachSound(const std::function<void(StoredRecord)>& visit);

  /// All that is committed lies in the file itself then, and it may be moved alone.
  absl::Status Settle() { return database_.EmptyLog(); }

  /// Beside it, as CopyOf says.
  absl::Status WriteCopy() { return database_.CopyTo(CopyOf(database_.path())); }

  absl::Status Begin() { return database_.Execute("BEGIN IMMEDIATE"); }
  absl::Status Commit();
  absl::Status Rollback() { return database_.Execute("ROLLBACK"); }
  /// Within a transaction, what comes after the mark can be undone alone.
  absl::Status Mark() { return database_.Execute("SAVEPOINT mark"); }
  absl::Status Unmark() { return database_.Execute("RELEASE mark"); }
  absl::Status BackToMark() { return database_.Execute("ROLLBACK TO mark; RELEASE mark"); }
  bool InTransaction() const { return database_.InTransaction(); }

  /// All or nothing of this one record.
  absl::Status Perform(const RecordWrite& write);

 private:
  explicit JobDatabase(SqliteDatabase database) : database_(std::move(database)) {}

  absl::StatusOr<std::int64_t> Layout();
  absl::Status CheckLayout();
  absl::Status CheckAgainstCopy();
  absl::Status MakeTables();
  absl::Status Raise(const std::string& counter, std::uint64_t value);
  absl::Status ReadRecords(StoredState& state);
  absl::Status ForgetAll(const std::vector<JobRecord>& jobs);

  SqliteDatabase database_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_JOURNAL_JOB_DATABASE_H_
