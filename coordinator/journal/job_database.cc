#include "coordinator/journal/job_database.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <random>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "coordinator/core/jobs/job_record.h"
#include "net/frame_check.h"

namespace bspnow::coordinator {
namespace {

/// Of the tables. Layouts 1 to 3 had a column for each field of a job, layout 4 no checksums.
constexpr std::int64_t kLayout = 5;

// `position` grows with each write, so a record that is replaced comes last. The cluster's id is
// there as soon as anybody can ask for it, and for good.
constexpr char kTables[] = R"(
CREATE TABLE records (
  position INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, bytes BLOB NOT NULL,
  crc32c INTEGER NOT NULL,
  UNIQUE (kind, key));
CREATE TABLE counters (name TEXT PRIMARY KEY, value NOT NULL);
INSERT INTO counters VALUES
  ('term', 0), ('changes', 0), ('forgotten', 0), ('cluster', lower(hex(randomblob(16))));
)";

// The counters once more, in a row of their own: SQLite would not notice a damaged one, nor would
// anybody a term or the number of a job that is too high. Older journals are without it until they
// change.
constexpr char kSealCounters[] = R"(
INSERT OR REPLACE INTO counters SELECT 'seal',
  (SELECT value FROM counters WHERE name = 'cluster') || ' ' ||
  (SELECT value FROM counters WHERE name = 'term') || ' ' ||
  (SELECT value FROM counters WHERE name = 'changes') || ' ' ||
  (SELECT value FROM counters WHERE name = 'forgotten');
)";

/// As kSealCounters has it.
std::string SealOf(const JournalAge& age) {
  return absl::StrCat(age.cluster, " ", age.term, " ", age.changes, " ", age.forgotten);
}

std::string Key(JobId job) { return absl::StrCat(Value(job)); }

/// Of a record, whatever SQLite says of its page.
std::int64_t ChecksumOf(const std::string& kind, const std::string& key, const std::string& bytes) {
  const std::string all = absl::StrCat(kind, "\n", key, "\n", bytes);
  return Crc32c(0, std::as_bytes(std::span(all)));
}

std::uint64_t RandomKey() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;  // 0 is none.
}

/// Nothing was ever written there.
bool IsNew(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error || bytes == 0;
}

bool HasJobs(const std::string& path) {
  std::error_code error;
  const auto jobs = std::filesystem::path(path).parent_path() / "jobs";
  return std::filesystem::exists(jobs, error) && !std::filesystem::is_empty(jobs, error);
}

/// False if the record is damaged.
bool TakeRecord(std::string_view kind, const std::string& key, const std::string& bytes,
                StoredState& state) {
  if (kind == kJobKind) {
    JobRecord& record = state.jobs.emplace_back();
    return record.ParseFromString(bytes) && Key(IdOf(record)) == key &&
           record.hosts_size() == record.job().placement_size();
  }
  if (kind == kCheckpointsKind) {
    std::uint64_t job = 0;
    if (!absl::SimpleAtoi(key, &job)) return false;
    state.checkpoints[JobId{job}] = bytes;
    return true;
  }
  if (kind == kDrainedKind) {
    state.drained_nodes.push_back(key);
    return true;
  }
  state.parameters.push_back(bytes);
  return kind == kParametersKind;
}

}  // namespace

absl::StatusOr<JobDatabase> JobDatabase::Open(const std::string& path) {
  if (IsNew(path) && (std::filesystem::exists(CopyOf(path)) || HasJobs(path)))
    return absl::DataLossError(
        absl::StrCat(path, " is missing, but ",
                     HasJobs(path) ? "there are jobs beside it" : "its copy is there"));
  absl::StatusOr<SqliteDatabase> opened = SqliteDatabase::Open(path);
  if (!opened.ok()) return opened.status();
  JobDatabase database(*std::move(opened));
  const absl::StatusOr<std::int64_t> layout = database.Layout();
  if (!layout.ok()) return layout.status();
  const absl::Status checked = *layout == 0 ? database.MakeTables() : database.CheckLayout();
  if (!checked.ok()) return checked;
  if (absl::Status s = database.CheckAgainstCopy(); !s.ok()) return s;
  return database;
}

absl::StatusOr<JobDatabase> JobDatabase::Make(const std::string& path) {
  absl::StatusOr<SqliteDatabase> opened = SqliteDatabase::Open(path);
  if (!opened.ok()) return opened.status();
  JobDatabase database(*std::move(opened));
  if (absl::Status s = database.MakeTables(); !s.ok()) return s;
  return database;
}

absl::StatusOr<JobDatabase> JobDatabase::OpenCopy(const std::string& path) {
  absl::StatusOr<SqliteDatabase> opened = SqliteDatabase::OpenCopy(path);
  if (!opened.ok()) return opened.status();
  JobDatabase database(*std::move(opened));
  if (absl::Status s = database.CheckLayout(); !s.ok()) return s;
  return database;
}

absl::StatusOr<JobDatabase> JobDatabase::OpenDamaged(const std::string& path) {
  if (IsNew(path)) return absl::NotFoundError(absl::StrCat(path, " is missing"));
  absl::StatusOr<SqliteDatabase> opened = SqliteDatabase::OpenUnchecked(path);
  if (!opened.ok()) return opened.status();
  JobDatabase database(*std::move(opened));
  if (absl::Status s = database.CheckLayout(); !s.ok()) return s;
  return database;
}

absl::StatusOr<std::int64_t> JobDatabase::Layout() {
  SqliteStatement version = database_.Prepare("PRAGMA user_version");
  if (absl::StatusOr<bool> row = version.Step(); !row.ok()) return row.status();
  const std::int64_t layout = version.Integer(0);
  if (absl::Status s = version.Run(); !s.ok()) return s;  // Its end.
  return layout;
}

absl::Status JobDatabase::CheckLayout() {
  const absl::StatusOr<std::int64_t> layout = Layout();
  if (!layout.ok() || *layout == kLayout) return layout.status();
  return absl::FailedPreconditionError(absl::StrCat(
      database_.path(), " is the journal of another version of bsp-coordinator (layout ", *layout,
      "; this one reads layout ", kLayout,
      "): start that version to go on with its jobs, or this one with another --state-dir"));
}

// A copy that cannot be read is replaced by the next one.
absl::Status JobDatabase::CheckAgainstCopy() {
  const absl::StatusOr<JournalAge> age = Age();
  if (!age.ok()) return age.status();
  absl::StatusOr<JobDatabase> copy = OpenCopy(CopyOf(database_.path()));
  if (!copy.ok()) return absl::OkStatus();
  const absl::StatusOr<JournalAge> of_copy = copy->Age();
  if (!of_copy.ok()) return absl::OkStatus();
  if (of_copy->cluster != age->cluster)
    return absl::DataLossError(
        absl::StrCat(database_.path(), " is of another cluster than its copy"));
  if (!age->OlderThan(*of_copy)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      database_.path(), " is older than its copy (term ", age->term, ", change ", age->changes,
      "; the copy has term ", of_copy->term, ", change ", of_copy->changes, ")"));
}

absl::Status JobDatabase::MakeTables() {
  return database_.Execute(
      absl::StrCat("BEGIN;", kTables, "PRAGMA user_version=", kLayout, ";COMMIT"));
}

absl::Status JobDatabase::Commit() {
  return database_.Execute(absl::StrCat(
      "UPDATE counters SET value = value + 1 WHERE name = 'changes';", kSealCounters, "COMMIT"));
}

absl::Status JobDatabase::Raise(const std::string& counter, std::uint64_t value) {
  return database_.Prepare("UPDATE counters SET value = max(value, ?) WHERE name = ?")
      .Bind(static_cast<std::int64_t>(value))
      .BindText(counter)
      .Run();
}

absl::Status JobDatabase::Perform(const RecordWrite& write) {
  if (write.kind == kTermKind) {
    std::uint64_t term = 0;
    if (!absl::SimpleAtoi(write.key, &term)) return absl::InvalidArgumentError("no term");
    return Raise(kTermKind, term);
  }
  if (!write.bytes) {
    return database_.Prepare("DELETE FROM records WHERE kind = ? AND key = ?")
        .BindText(write.kind)
        .BindText(write.key)
        .Run();
  }
  return database_
      .Prepare("INSERT OR REPLACE INTO records (kind, key, bytes, crc32c) VALUES (?, ?, ?, ?)")
      .BindText(write.kind)
      .BindText(write.key)
      .BindBlob(*write.bytes)
      .Bind(ChecksumOf(write.kind, write.key, *write.bytes))
      .Run();
}

// ---- At a start ---------------------------------------------------------------------------------

absl::StatusOr<StoredState> JobDatabase::Load() {
  const absl::Status raised = database_.Execute(
      absl::StrCat("BEGIN IMMEDIATE; UPDATE counters SET value = value + 1 WHERE name = 'term';",
                   kSealCounters, "COMMIT"));
  if (!raised.ok()) return raised;
  return Read();
}

absl::StatusOr<StoredState> JobDatabase::Read() {
  const absl::StatusOr<JournalAge> age = Age();
  if (!age.ok()) return age.status();
  StoredState state{.cluster = age->cluster,
                    .term = age->term,
                    .term_key = RandomKey(),
                    .last_job = JobId{age->forgotten},
                    .forgotten = JobId{age->forgotten}};
  if (absl::Status s = ReadRecords(state); !s.ok()) return s;
  std::sort(state.jobs.begin(), state.jobs.end(),
            [](const JobRecord& a, const JobRecord& b) { return IdOf(a) < IdOf(b); });
  return state;
}

absl::StatusOr<JournalAge> JobDatabase::Age() {
  JournalAge age;
  std::string seal;
  SqliteStatement statement = database_.Prepare("SELECT name, value FROM counters");
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) break;
    const std::string name = statement.Bytes(0);
    const auto value = static_cast<std::uint64_t>(statement.Integer(1));
    if (name == "term") age.term = value;
    if (name == "changes") age.changes = value;
    if (name == "forgotten") age.forgotten = value;
    if (name == "cluster") age.cluster = statement.Bytes(1);
    if (name == "seal") seal = statement.Bytes(1);
  }
  if (age.cluster.empty())
    return absl::DataLossError(absl::StrCat(database_.path(), " has lost its cluster"));
  if (!seal.empty() && seal != SealOf(age))
    return absl::DataLossError(absl::StrCat(database_.path(), " is damaged (its counters)"));
  return age;
}

absl::Status JobDatabase::SetAge(const JournalAge& age) {
  for (const auto& [counter, value] :
       {std::pair{"term", age.term}, {"changes", age.changes}, {"forgotten", age.forgotten}})
    if (absl::Status s = Raise(counter, value); !s.ok()) return s;
  return database_.Prepare("UPDATE counters SET value = ? WHERE name = 'cluster'")
      .BindText(age.cluster)
      .Run();
}

absl::StatusOr<std::size_t> JobDatabase::ForEachSound(
    const std::function<void(StoredRecord)>& visit) {
  std::size_t damaged = 0;
  SqliteStatement statement =
      database_.Prepare("SELECT kind, key, bytes, crc32c FROM records ORDER BY position");
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return damaged;
    StoredRecord record{
        .kind = statement.Bytes(0), .key = statement.Bytes(1), .bytes = statement.Bytes(2)};
    StoredState unused;
    const bool sound = ChecksumOf(record.kind, record.key, record.bytes) == statement.Integer(3) &&
                       TakeRecord(record.kind, record.key, record.bytes, unused);
    sound ? visit(std::move(record)) : void(++damaged);
  }
}

absl::Status JobDatabase::ReadRecords(StoredState& state) {
  SqliteStatement statement =
      database_.Prepare("SELECT kind, key, bytes, crc32c FROM records ORDER BY position");
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    const std::string kind = statement.Bytes(0);
    const std::string key = statement.Bytes(1);
    const std::string bytes = statement.Bytes(2);
    if (ChecksumOf(kind, key, bytes) != statement.Integer(3) ||
        !TakeRecord(kind, key, bytes, state))
      return absl::DataLossError(
          absl::StrCat(database_.path(), " is damaged (record ", kind, " ", key, ")"));
  }
}

// ---- Jobs that ended long ago -------------------------------------------------------------------

absl::StatusOr<std::vector<JobRecord>> JobDatabase::ReadJobs(const std::vector<JobId>& jobs) {
  std::vector<JobRecord> records;
  for (const JobId job : jobs) {
    SqliteStatement statement =
        database_.Prepare("SELECT bytes FROM records WHERE kind = ? AND key = ?");
    statement.BindText(kJobKind).BindText(Key(job));
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (*row && !records.emplace_back().ParseFromString(statement.Bytes(0)))
      return absl::DataLossError(
          absl::StrCat(database_.path(), " is damaged (job ", Value(job), ")"));
  }
  return records;
}

absl::Status JobDatabase::Forget(const std::vector<JobRecord>& jobs) {
  if (absl::Status s = Begin(); !s.ok()) return s;
  const absl::Status forgotten = ForgetAll(jobs);
  const absl::Status ended = forgotten.ok() ? Commit() : forgotten;
  if (!ended.ok() && InTransaction()) Rollback().IgnoreError();
  return ended;
}

absl::Status JobDatabase::ForgetAll(const std::vector<JobRecord>& jobs) {
  for (const JobRecord& job : jobs) {
    for (const char* kind : {kJobKind, kCheckpointsKind})
      if (absl::Status s = Perform({.kind = kind, .key = Key(IdOf(job)), .bytes = {}}); !s.ok())
        return s;
    if (absl::Status s = Raise("forgotten", Value(IdOf(job))); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace bspnow::coordinator
