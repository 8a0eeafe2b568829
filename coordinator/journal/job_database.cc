#include "coordinator/journal/job_database.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace bspnow {
namespace {

constexpr std::int64_t kSchema = 3;

// Raised counters are kept apart from the jobs: old jobs are forgotten, their ids are not used
// again.
constexpr char kTables[] = R"(
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS jobs (
  id INTEGER PRIMARY KEY, submission_key TEXT NOT NULL UNIQUE, spec BLOB NOT NULL,
  phase INTEGER NOT NULL, reason TEXT NOT NULL, exit_status INTEGER NOT NULL,
  epoch INTEGER NOT NULL, submitted_unix_ms INTEGER NOT NULL, started_unix_ms INTEGER NOT NULL,
  ended_unix_ms INTEGER NOT NULL, never_attached INTEGER NOT NULL, totals BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS shares (
  job INTEGER NOT NULL, ordinal INTEGER NOT NULL, worker INTEGER NOT NULL, node TEXT NOT NULL,
  first_pid INTEGER NOT NULL, pids INTEGER NOT NULL, slots INTEGER NOT NULL,
  PRIMARY KEY (job, ordinal)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS drained (node TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS parameters (
  id INTEGER PRIMARY KEY AUTOINCREMENT, p INTEGER NOT NULL UNIQUE, parameters BLOB NOT NULL);
)";

// What schema 2 adds to schema 1; new files go the same way.
constexpr char kFrom1To2[] = R"(
ALTER TABLE jobs ADD COLUMN cancelled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN restarts_in_row INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN took_input INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN suspended_unix_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN suspended_ms INTEGER NOT NULL DEFAULT 0;
CREATE TABLE losses (
  job INTEGER NOT NULL, ordinal INTEGER NOT NULL, unix_ms INTEGER NOT NULL, reason TEXT NOT NULL,
  superstep INTEGER NOT NULL, resumed INTEGER NOT NULL, from_start INTEGER NOT NULL,
  from_superstep INTEGER NOT NULL, after_ms INTEGER NOT NULL,
  PRIMARY KEY (job, ordinal)) WITHOUT ROWID;
CREATE TABLE checkpoints (job INTEGER PRIMARY KEY, catalogue BLOB NOT NULL);
)";

// The id is there as soon as anybody can ask for it, and for good.
constexpr char kFrom2To3[] = R"(
CREATE TABLE cluster (id TEXT NOT NULL);
INSERT INTO cluster VALUES (lower(hex(randomblob(16))));
)";

// Not INSERT OR REPLACE: that would remove another job that has the same submission key.
constexpr char kWriteJob[] = R"(
INSERT INTO jobs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET
  phase = excluded.phase, reason = excluded.reason, exit_status = excluded.exit_status,
  epoch = excluded.epoch, started_unix_ms = excluded.started_unix_ms,
  ended_unix_ms = excluded.ended_unix_ms, never_attached = excluded.never_attached,
  totals = excluded.totals, cancelled = excluded.cancelled, restarts = excluded.restarts,
  restarts_in_row = excluded.restarts_in_row, took_input = excluded.took_input,
  suspended_unix_ms = excluded.suspended_unix_ms, suspended_ms = excluded.suspended_ms)";

std::int64_t Stored(JobPhase phase) { return static_cast<std::int64_t>(phase); }
std::int64_t Stored(JobId job) { return static_cast<std::int64_t>(Value(job)); }

}  // namespace

absl::StatusOr<JobDatabase> JobDatabase::Open(const std::string& path) {
  absl::StatusOr<SqliteDatabase> opened = SqliteDatabase::Open(path);
  if (!opened.ok()) return opened.status();
  JobDatabase database(*std::move(opened));
  SqliteStatement version = database.database_.Prepare("PRAGMA user_version");
  if (absl::StatusOr<bool> row = version.Step(); !row.ok()) return row.status();
  const std::int64_t schema = version.Integer(0);
  if (schema < 0 || schema > kSchema) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " has schema ", schema, ", and this coordinator knows ", kSchema));
  }
  if (absl::Status s = version.Run(); !s.ok()) return s;  // Its end.
  if (schema == kSchema) return database;
  if (absl::Status s = database.database_.Execute(
          absl::StrCat("BEGIN;", kTables, schema < 2 ? kFrom1To2 : "", kFrom2To3,
                       "PRAGMA user_version=", kSchema, ";COMMIT"));
      !s.ok()) {
    return s;
  }
  return database;
}

// ---- Writing ------------------------------------------------------------------------------------

absl::Status JobDatabase::WriteJob(const JobRecord& record) {
  if (absl::Status s = database_
                           .Prepare("INSERT INTO counters VALUES ('next_job', ?) "
                                    "ON CONFLICT DO UPDATE SET value = max(value, excluded.value)")
                           .Bind(Stored(record.id) + 1)
                           .Run();
      !s.ok()) {
    return s;
  }
  if (absl::Status s = database_.Prepare(kWriteJob)
                           .Bind(Stored(record.id))
                           .BindText(record.submission_key)
                           .BindBlob(record.spec)
                           .Bind(Stored(record.phase))
                           .BindText(record.reason)
                           .Bind(record.exit_status)
                           .Bind(static_cast<std::int64_t>(Value(record.epoch)))
                           .Bind(record.submitted_unix_ms)
                           .Bind(record.started_unix_ms)
                           .Bind(record.ended_unix_ms)
                           .Bind(record.never_attached ? 1 : 0)
                           .BindBlob(record.totals)
                           .Bind(record.cancelled ? 1 : 0)
                           .Bind(record.restarts)
                           .Bind(record.restarts_in_row)
                           .Bind(record.took_input ? 1 : 0)
                           .Bind(record.suspended_unix_ms)
                           .Bind(record.suspended_ms)
                           .Run();
      !s.ok()) {
    return s;
  }
  if (absl::Status s = WriteLosses(record); !s.ok()) return s;
  return WriteShares(record);
}

absl::Status JobDatabase::WriteLosses(const JobRecord& record) {
  if (absl::Status s =
          database_.Prepare("DELETE FROM losses WHERE job = ?").Bind(Stored(record.id)).Run();
      !s.ok()) {
    return s;
  }
  for (std::size_t i = 0; i < record.losses.size(); ++i) {
    const JobLoss& loss = record.losses[i];
    if (absl::Status s = database_.Prepare("INSERT INTO losses VALUES (?,?,?,?,?,?,?,?,?)")
                             .Bind(Stored(record.id))
                             .Bind(static_cast<std::int64_t>(i))
                             .Bind(loss.unix_ms)
                             .BindText(loss.reason)
                             .Bind(static_cast<std::int64_t>(Value(loss.superstep)))
                             .Bind(loss.resumed ? 1 : 0)
                             .Bind(loss.from_start ? 1 : 0)
                             .Bind(static_cast<std::int64_t>(Value(loss.from)))
                             .Bind(static_cast<std::int64_t>(loss.after_ms))
                             .Run();
        !s.ok()) {
      return s;
    }
  }
  return absl::OkStatus();
}

absl::Status JobDatabase::WriteCheckpoints(JobId job, const std::string& catalogue) {
  if (catalogue.empty()) {
    return database_.Prepare("DELETE FROM checkpoints WHERE job = ?").Bind(Stored(job)).Run();
  }
  return database_.Prepare("INSERT OR REPLACE INTO checkpoints VALUES (?, ?)")
      .Bind(Stored(job))
      .BindBlob(catalogue)
      .Run();
}

absl::Status JobDatabase::WriteShares(const JobRecord& record) {
  const std::int64_t job = Stored(record.id);
  if (absl::Status s = database_.Prepare("DELETE FROM shares WHERE job = ?").Bind(job).Run();
      !s.ok()) {
    return s;
  }
  for (std::size_t i = 0; i < record.shares.size(); ++i) {
    const NodeShare& share = record.shares[i];
    if (absl::Status s = database_.Prepare("INSERT INTO shares VALUES (?,?,?,?,?,?,?)")
                             .Bind(job)
                             .Bind(static_cast<std::int64_t>(i))
                             .Bind(Value(share.worker))
                             .BindText(record.node_names[i])
                             .Bind(Value(share.pids.front()))
                             .Bind(static_cast<std::int64_t>(share.pids.size()))
                             .Bind(share.slots)
                             .Run();
        !s.ok()) {
      return s;
    }
  }
  return absl::OkStatus();
}

absl::Status JobDatabase::WriteDrained(const std::string& node) {
  return database_.Prepare("INSERT OR REPLACE INTO drained VALUES (?)").BindText(node).Run();
}

absl::Status JobDatabase::WriteUndrained(const std::string& node) {
  return database_.Prepare("DELETE FROM drained WHERE node = ?").BindText(node).Run();
}

absl::Status JobDatabase::WriteParameters(std::uint32_t p, const std::string& parameters) {
  return database_.Prepare("INSERT OR REPLACE INTO parameters (p, parameters) VALUES (?, ?)")
      .Bind(p)
      .BindBlob(parameters)
      .Run();
}

// ---- At a start ---------------------------------------------------------------------------------

absl::StatusOr<StoredState> JobDatabase::Load() {
  StoredState state;
  if (absl::Status s = RaiseTerm(); !s.ok()) return s;
  if (absl::Status s = ForgetOldJobs(); !s.ok()) return s;
  const absl::StatusOr<std::int64_t> term = Counter("term");
  const absl::StatusOr<std::int64_t> next_job = Counter("next_job");
  if (!term.ok()) return term.status();
  if (!next_job.ok()) return next_job.status();
  state.term = static_cast<std::uint64_t>(*term);
  state.next_job = JobId{*next_job == 0 ? 1 : static_cast<std::uint64_t>(*next_job)};
  if (absl::Status s = ReadJobs(state); !s.ok()) return s;
  if (absl::Status s = ReadCheckpoints(state); !s.ok()) return s;
  const absl::StatusOr<std::vector<std::string>> cluster = ReadColumn("SELECT id FROM cluster");
  absl::StatusOr<std::vector<std::string>> drained = ReadColumn("SELECT node FROM drained");
  absl::StatusOr<std::vector<std::string>> parameters =
      ReadColumn("SELECT parameters FROM parameters ORDER BY id");
  if (!drained.ok()) return drained.status();
  if (!parameters.ok()) return parameters.status();
  if (!cluster.ok()) return cluster.status();
  if (cluster->size() != 1) return absl::DataLossError("the journal has no id of its cluster");
  state.cluster = cluster->front();
  state.drained_nodes = *std::move(drained);
  state.parameters = *std::move(parameters);
  return state;
}

absl::Status JobDatabase::RaiseTerm() {
  return database_
      .Prepare(
          "INSERT INTO counters VALUES ('term', 1) "
          "ON CONFLICT DO UPDATE SET value = value + 1")
      .Run();
}

absl::Status JobDatabase::ForgetOldJobs() {
  const std::string ended =
      absl::StrCat("SELECT id FROM jobs WHERE phase IN (", Stored(JobPhase::kSucceeded), ",",
                   Stored(JobPhase::kFailed), ",", Stored(JobPhase::kCancelled),
                   ") ORDER BY id DESC LIMIT -1 OFFSET ", kEndedJobsMax);
  std::string forget = "BEGIN;";
  for (const char* table : {"shares", "losses", "checkpoints"}) {
    absl::StrAppend(&forget, "DELETE FROM ", table, " WHERE job IN (", ended, ");");
  }
  return database_.Execute(
      absl::StrCat(forget, "DELETE FROM jobs WHERE id IN (", ended, ");COMMIT"));
}

absl::StatusOr<std::int64_t> JobDatabase::Counter(const std::string& name) {
  SqliteStatement statement = database_.Prepare("SELECT value FROM counters WHERE name = ?");
  const absl::StatusOr<bool> row = statement.BindText(name).Step();
  if (!row.ok()) return row.status();
  return *row ? statement.Integer(0) : 0;
}

absl::Status JobDatabase::ReadJobs(StoredState& state) {
  SqliteStatement statement = database_.Prepare(
      "SELECT id, submission_key, spec, phase, reason, exit_status, epoch, submitted_unix_ms, "
      "started_unix_ms, ended_unix_ms, never_attached, cancelled, totals, restarts, "
      "restarts_in_row, took_input, suspended_unix_ms, suspended_ms FROM jobs ORDER BY id");
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    JobRecord record{.id = JobId{static_cast<std::uint64_t>(statement.Integer(0))},
                     .submission_key = statement.Bytes(1),
                     .spec = statement.Bytes(2),
                     .phase = JobPhase{static_cast<std::uint32_t>(statement.Integer(3))},
                     .reason = statement.Bytes(4),
                     .exit_status = static_cast<int>(statement.Integer(5)),
                     .epoch = Epoch{static_cast<std::uint64_t>(statement.Integer(6))},
                     .submitted_unix_ms = statement.Integer(7),
                     .started_unix_ms = statement.Integer(8),
                     .ended_unix_ms = statement.Integer(9),
                     .never_attached = statement.Integer(10) != 0,
                     .cancelled = statement.Integer(11) != 0,
                     .totals = statement.Bytes(12),
                     .restarts = static_cast<std::uint32_t>(statement.Integer(13)),
                     .restarts_in_row = static_cast<std::uint32_t>(statement.Integer(14)),
                     .took_input = statement.Integer(15) != 0,
                     .suspended_unix_ms = statement.Integer(16),
                     .suspended_ms = statement.Integer(17)};
    if (absl::Status s = ReadShares(record); !s.ok()) return s;
    if (absl::Status s = ReadLosses(record); !s.ok()) return s;
    state.jobs.push_back(std::move(record));
  }
}

absl::Status JobDatabase::ReadLosses(JobRecord& record) {
  SqliteStatement statement = database_.Prepare(
      "SELECT unix_ms, reason, superstep, resumed, from_start, from_superstep, after_ms "
      "FROM losses WHERE job = ? ORDER BY ordinal");
  statement.Bind(Stored(record.id));
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    record.losses.push_back(
        {.unix_ms = statement.Integer(0),
         .reason = statement.Bytes(1),
         .superstep = Superstep{static_cast<std::uint64_t>(statement.Integer(2))},
         .resumed = statement.Integer(3) != 0,
         .from_start = statement.Integer(4) != 0,
         .from = Superstep{static_cast<std::uint64_t>(statement.Integer(5))},
         .after_ms = static_cast<std::uint64_t>(statement.Integer(6))});
  }
}

absl::Status JobDatabase::ReadCheckpoints(StoredState& state) {
  SqliteStatement statement = database_.Prepare("SELECT job, catalogue FROM checkpoints");
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    state.checkpoints[JobId{static_cast<std::uint64_t>(statement.Integer(0))}] = statement.Bytes(1);
  }
}

absl::Status JobDatabase::ReadShares(JobRecord& record) {
  SqliteStatement statement = database_.Prepare(
      "SELECT worker, node, first_pid, pids, slots FROM shares WHERE job = ? ORDER BY ordinal");
  statement.Bind(Stored(record.id));
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    NodeShare share{.worker = WorkerId{static_cast<std::uint32_t>(statement.Integer(0))},
                    .pids = {},
                    .slots = static_cast<std::uint32_t>(statement.Integer(4))};
    const auto first = static_cast<std::uint32_t>(statement.Integer(2));
    const auto pids = static_cast<std::uint32_t>(statement.Integer(3));
    for (std::uint32_t i = 0; i < pids; ++i) share.pids.push_back(Pid{first + i});
    record.shares.push_back(std::move(share));
    record.node_names.push_back(statement.Bytes(1));
  }
}

absl::StatusOr<std::vector<std::string>> JobDatabase::ReadColumn(const std::string& sql) {
  std::vector<std::string> values;
  SqliteStatement statement = database_.Prepare(sql);
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return values;
    values.push_back(statement.Bytes(0));
  }
}

}  // namespace bspnow
