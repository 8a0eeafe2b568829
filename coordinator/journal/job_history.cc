#include "coordinator/journal/job_history.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "net/frame_check.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kCheckedAtOnce = 1000;

// The layout is told by the table's name: another one would have another.
constexpr char kTable[] =
    "CREATE TABLE IF NOT EXISTS jobs1 (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL, crc32c INTEGER "
    "NOT NULL)";

std::int64_t ChecksumOf(std::int64_t id, const std::string& bytes) {
  const std::string all = absl::StrCat(id, "\n", bytes);
  return Crc32c(0, std::as_bytes(std::span(all)));
}

}  // namespace

absl::StatusOr<JobHistory> JobHistory::Open(const std::string& path) {
  absl::StatusOr<SqliteDatabase> database = SqliteDatabase::OpenUnchecked(path);
  if (!database.ok()) return database.status();
  if (absl::Status s = database->Execute(kTable); !s.ok()) return s;
  return JobHistory(*std::move(database));
}

absl::Status JobHistory::Add(const std::vector<JobRecord>& jobs) {
  if (absl::Status s = database_.Execute("BEGIN IMMEDIATE"); !s.ok()) return s;
  const absl::Status added = AddAll(jobs);
  const absl::Status ended = added.ok() ? database_.Execute("COMMIT") : added;
  if (!ended.ok() && database_.InTransaction()) database_.Execute("ROLLBACK").IgnoreError();
  return ended;
}

absl::Status JobHistory::AddAll(const std::vector<JobRecord>& jobs) {
  for (const JobRecord& job : jobs) {
    const auto id = static_cast<std::int64_t>(Value(IdOf(job)));
    const std::string bytes = job.SerializeAsString();
    if (absl::Status s =
            database_.Prepare("INSERT OR REPLACE INTO jobs1 (id, bytes, crc32c) VALUES (?, ?, ?)")
                .Bind(id)
                .BindBlob(bytes)
                .Bind(ChecksumOf(id, bytes))
                .Run();
        !s.ok())
      return s;
  }
  return absl::OkStatus();
}

// One bad record is no reason to keep the others from whoever lists them. But an id is damaged if
// it is not below the one before: who lists page by page would come to no end.
absl::StatusOr<HistoryPage> JobHistory::ReadBefore(JobId before, std::size_t count) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  SqliteStatement statement = database_.Prepare(
      "SELECT id, bytes, crc32c FROM jobs1 WHERE id < ? ORDER BY id DESC LIMIT ?");
  statement.Bind(static_cast<std::int64_t>(std::min(Value(before), kLast)))
      .Bind(static_cast<std::int64_t>(count));
  HistoryPage page;
  while (true) {
    const absl::StatusOr<bool> row = statement.Step();
    if (!row.ok()) return row.status();
    if (!*row) return page;
    const std::int64_t id = statement.Integer(0);
    if (id <= 0 || JobId{static_cast<std::uint64_t>(id)} >= before)
      return absl::DataLossError(absl::StrCat("the id of a job, ", id, ", is damaged"));
    before = JobId{static_cast<std::uint64_t>(id)};
    const std::string bytes = statement.Bytes(1);
    JobRecord record;
    if (ChecksumOf(id, bytes) == statement.Integer(2) && record.ParseFromString(bytes)) {
      page.records.push_back(std::move(record));
    } else {
      page.damaged.push_back(JobId{static_cast<std::uint64_t>(id)});
    }
  }
}

absl::StatusOr<JobHistory::Count> JobHistory::Check() {
  Count count;
  JobId before{std::numeric_limits<std::int64_t>::max()};
  while (true) {
    const absl::StatusOr<HistoryPage> page = ReadBefore(before, kCheckedAtOnce);
    if (!page.ok()) return page.status();
    if (page->size() == 0) return count;
    count.sound += page->records.size();
    count.damaged += page->damaged.size();
    if (count.last_damaged == JobId{0} && !page->damaged.empty())
      count.last_damaged = page->damaged.front();
    before = page->oldest();
  }
}

}  // namespace bspnow::coordinator
