#include "coordinator/journal/job_database.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/core/jobs/job_table.h"

namespace bspnow::coordinator {
namespace {

/// Of the tables. Layouts 1 to 3 had a column for each field of a job.
constexpr std::int64_t kLayout = 4;

// `position` grows with each write, so a record that is replaced comes last. The cluster's id is
// there as soon as anybody can ask for it, and for good.
constexpr char kTables[] = R"(
CREATE TABLE records (
  position INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, bytes BLOB NOT NULL,
  UNIQUE (kind, key));
CREATE TABLE counters (name TEXT PRIMARY KEY, value NOT NULL);
INSERT INTO counters VALUES ('term', 0), ('cluster', lower(hex(randomblob(16))));
)";

std::string Key(JobId job) { return absl::StrCat(Value(job)); }

/// False if the record is damaged.
bool Read(std::string_view kind, const std::string& key, const std::string& bytes,
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
  absl::StatusOr<SqliteDatabase> opened = SqliteDatabase::Open(path);
  if (!opened.ok()) return opened.status();
  JobDatabase database(*std::move(opened));
  SqliteStatement version = database.database_.Prepare("PRAGMA user_version");
  if (absl::StatusOr<bool> row = version.Step(); !row.ok()) return row.status();
  const std::int64_t layout = version.Integer(0);
  if (absl::Status s = version.Run(); !s.ok()) return s;  // Its end.
  if (layout == kLayout) return database;
  if (layout != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is the journal of another version of bsp-coordinator (layout ", layout,
        "; this one reads layout ", kLayout,
        "): start that version to go on with its jobs, or this one with another --state-dir"));
  }
  if (absl::Status s = database.MakeTables(); !s.ok()) return s;
  return database;
}

absl::Status JobDatabase::MakeTables() {
  return database_.Execute(
      absl::StrCat("BEGIN;", kTables, "PRAGMA user_version=", kLayout, ";COMMIT"));
}

absl::Status JobDatabase::Perform(const RecordWrite& write) {
  if (!write.bytes) {
    return database_.Prepare("DELETE FROM records WHERE kind = ? AND key = ?")
        .BindText(write.kind)
        .BindText(write.key)
        .Run();
  }
  return database_.Prepare("INSERT OR REPLACE INTO records (kind, key, bytes) VALUES (?, ?, ?)")
      .BindText(write.kind)
      .BindText(write.key)
      .BindBlob(*write.bytes)
      .Run();
}

// ---- At a start ---------------------------------------------------------------------------------

absl::StatusOr<StoredState> JobDatabase::Load() {
  StoredState state;
  if (absl::Status s =
          database_.Execute("UPDATE counters SET value = value + 1 WHERE name = 'term'");
      !s.ok()) {
    return s;
  }
  if (absl::Status s = ReadCounters(state); !s.ok()) return s;
  if (absl::Status s = ReadRecords(state); !s.ok()) return s;
  if (state.term == 0 || state.cluster.empty())
    return absl::DataLossError(absl::StrCat(database_.path(), " has lost its term or its cluster"));
  std::sort(state.jobs.begin(), state.jobs.end(),
            [](const JobRecord& a, const JobRecord& b) { return IdOf(a) < IdOf(b); });
  if (absl::Status s = ForgetOldJobs(state); !s.ok()) return s;
  return state;
}

absl::Status JobDatabase::ReadCounters(StoredState& state) {
  SqliteStatement statement = database_.Prepare("SELECT name, value FROM counters");
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    if (statement.Bytes(0) == "term") state.term = static_cast<std::uint64_t>(statement.Integer(1));
    if (statement.Bytes(0) == "cluster") state.cluster = statement.Bytes(1);
  }
}

absl::Status JobDatabase::ReadRecords(StoredState& state) {
  SqliteStatement statement =
      database_.Prepare("SELECT kind, key, bytes FROM records ORDER BY position");
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    const std::string kind = statement.Bytes(0);
    const std::string key = statement.Bytes(1);
    if (!Read(kind, key, statement.Bytes(2), state))
      return absl::DataLossError(absl::StrCat(database_.path(), " is damaged (record ", kind, " ",
                                              key, "); move it away, or put a copy of it back"));
  }
}

absl::Status JobDatabase::ForgetOldJobs(StoredState& state) {
  std::size_t ended = 0;
  std::set<JobId> old;
  for (auto record = state.jobs.rbegin(); record != state.jobs.rend(); ++record)
    if (HasEnded(*record) && ++ended > kEndedJobsMax) old.insert(IdOf(*record));
  if (old.empty()) return absl::OkStatus();
  if (absl::Status s = Begin(); !s.ok()) return s;
  for (const JobId job : old) {
    state.checkpoints.erase(job);
    for (const char* kind : {kJobKind, kCheckpointsKind}) {
      if (absl::Status s = Perform({.kind = kind, .key = Key(job), .bytes = {}}); !s.ok()) return s;
    }
  }
  std::erase_if(state.jobs, [&old](const JobRecord& each) { return old.contains(IdOf(each)); });
  return Commit();
}

}  // namespace bspnow::coordinator
