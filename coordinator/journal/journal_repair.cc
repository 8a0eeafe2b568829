#include "coordinator/journal/journal_repair.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/durable_file.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/journal/job_database.h"
#include "coordinator/journal/job_history.h"
#include "coordinator/journal/sqlite_database.h"

namespace bspnow::coordinator {
namespace {

using RecordKey = std::pair<std::string, std::string>;

/// What could be read of one file.
struct Salvaged {
  std::optional<JournalAge> age{};
  std::map<RecordKey, std::string> records{};
};

std::string AgeText(const JournalAge& age) {
  return absl::StrCat("cluster ", age.cluster, ", term ", age.term, ", change ", age.changes);
}

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

/// Jobs with output or files of which no journal says anything.
void NameUnknown(const StateDirectory& state, const std::set<JobId>& known, JobId forgotten,
                 RepairReport& report) {
  std::vector<JobId> jobs = state.jobs();
  std::sort(jobs.begin(), jobs.end());
  for (const JobId job : jobs)
    if (job > forgotten && !known.contains(job))
      report.push_back(absl::StrCat("job ", Value(job), " has a directory, ", state.job(job),
                                    ", but no record: it does not go on, its number is not used"));
}

/// No job needs it, so it is no reason not to start.
void NameHistory(const std::string& path, RepairReport& report) {
  if (!std::filesystem::exists(path)) return;
  absl::StatusOr<JobHistory> history = JobHistory::Open(path);
  const absl::StatusOr<JobHistory::Count> count =
      history.ok() ? history->Check() : absl::StatusOr<JobHistory::Count>(history.status());
  if (!count.ok()) return report.push_back(absl::StrCat("history: ", MessageOf(count.status())));
  std::string line = absl::StrCat("history: ", count->sound, " jobs that ended before those");
  if (count->damaged != 0)
    absl::StrAppend(&line, "; ", count->damaged, " records are damaged, the last of job ",
                    Value(count->last_damaged), ": these are not listed");
  report.push_back(std::move(line));
}

/// As much as the damage leaves.
Salvaged Salvage(JobDatabase& database, const std::string& path, RepairReport& report) {
  Salvaged salvaged;
  if (const absl::StatusOr<JournalAge> age = database.Age(); age.ok()) salvaged.age = *age;
  const absl::StatusOr<std::size_t> damaged = database.ForEachSound([&](StoredRecord record) {
    salvaged.records[{record.kind, record.key}] = std::move(record.bytes);
  });
  report.push_back(absl::StrCat(
      path, ": ", salvaged.age ? AgeText(*salvaged.age) : "without its counters", "; ",
      salvaged.records.size(), " sound records, ",
      damaged.ok() ? absl::StrCat(*damaged, " damaged") : MessageOf(damaged.status())));
  return salvaged;
}

absl::Status WriteAll(const std::string& path, const JournalAge& age,
                      const std::map<RecordKey, std::string>& records) {
  for (const char* part : {"-wal", "-shm", ""}) std::filesystem::remove(path + part);
  // Root may do this for the service. SQLite gives what it makes beside a file the file's owner.
  if (absl::Status s = ReplaceFile(path, ""); !s.ok()) return s;
  absl::StatusOr<JobDatabase> database = JobDatabase::Make(path);
  if (!database.ok()) return database.status();
  if (absl::Status s = database->Begin(); !s.ok()) return s;
  if (absl::Status s = database->SetAge(age); !s.ok()) return s;
  for (const auto& [key, bytes] : records) {
    const RecordWrite write{.kind = key.first.c_str(), .key = key.second, .bytes = bytes};
    if (absl::Status s = database->Perform(write); !s.ok()) return s;
  }
  if (absl::Status s = database->Commit(); !s.ok()) return s;
  // The file is renamed, and what is beside it is not: a close that finds no room says nothing.
  return database->Settle();
}

/// The newer one's records count, and of the older one those that the newer one has lost.
absl::StatusOr<Salvaged> Merge(Salvaged journal, Salvaged copy) {
  if (journal.age && copy.age && journal.age->cluster != copy.age->cluster)
    return absl::FailedPreconditionError(
        absl::StrCat("journal and copy are of two clusters, ", journal.age->cluster, " and ",
                     copy.age->cluster, ": move the wrong one away"));
  if (journal.age && copy.age && journal.age->OlderThan(*copy.age)) std::swap(journal, copy);
  journal.records.merge(copy.records);
  if (!journal.age) journal.age = copy.age;
  if (!copy.age) return journal;
  journal.age->term = std::max(journal.age->term, copy.age->term);
  journal.age->changes = std::max(journal.age->changes, copy.age->changes);
  journal.age->forgotten = std::max(journal.age->forgotten, copy.age->forgotten);
  return journal;
}

}  // namespace

JournalFindings CheckJournal(const StateDirectory& state) {
  const std::string path = JournalIn(state.path());
  JournalFindings findings;
  absl::StatusOr<JobDatabase> copy = JobDatabase::OpenCopy(CopyOf(path));
  const absl::StatusOr<JournalAge> of_copy =
      copy.ok() ? copy->Age() : absl::StatusOr<JournalAge>(copy.status());
  findings.report.push_back(
      absl::StrCat("copy: ", of_copy.ok() ? AgeText(*of_copy) : MessageOf(of_copy.status())));
  if (!std::filesystem::exists(path)) {
    findings.sound = absl::NotFoundError(absl::StrCat(path, " is missing"));
    return findings;
  }
  absl::StatusOr<JobDatabase> database = JobDatabase::Open(path);
  if (!database.ok()) {
    findings.sound = database.status();
    return findings;
  }
  const absl::StatusOr<StoredState> stored = database->Read();
  if (!stored.ok()) {
    findings.sound = stored.status();
    return findings;
  }
  std::set<JobId> known;
  std::size_t alive = 0;
  for (const JobRecord& record : stored->jobs) {
    known.insert(IdOf(record));
    alive += HasEnded(record) ? 0 : 1;
  }
  findings.report.push_back(absl::StrCat("journal: cluster ", stored->cluster, ", term ",
                                         stored->term, ", ", known.size(), " jobs, of which ",
                                         alive, " have not ended"));
  NameUnknown(state, known, stored->forgotten, findings.report);
  NameHistory(HistoryIn(state.path()), findings.report);
  return findings;
}

absl::StatusOr<RepairReport> RebuildJournal(const StateDirectory& state,
                                            const std::string& cluster) {
  const std::string path = JournalIn(state.path());
  const JournalFindings findings = CheckJournal(state);
  if (findings.sound.ok()) return RepairReport{absl::StrCat(path, " is sound, and stays")};
  if (absl::IsFailedPrecondition(findings.sound)) return findings.sound;
  RepairReport report{MessageOf(findings.sound)};
  absl::StatusOr<Salvaged> all = Salvaged{};
  {
    Salvaged of_journal;
    Salvaged of_copy;
    absl::StatusOr<JobDatabase> journal = JobDatabase::OpenDamaged(path);
    // A coordinator that was started meanwhile has it: there is more than the copy.
    if (absl::IsFailedPrecondition(journal.status())) return journal.status();
    if (journal.ok()) of_journal = Salvage(*journal, path, report);
    absl::StatusOr<JobDatabase> copy = JobDatabase::OpenCopy(CopyOf(path));
    if (copy.ok()) of_copy = Salvage(*copy, CopyOf(path), report);
    if (!copy.ok()) report.push_back(MessageOf(copy.status()));
    all = Merge(std::move(of_journal), std::move(of_copy));
  }
  if (!all.ok()) return all.status();
  if (!all->age && cluster.empty())
    return absl::FailedPreconditionError(
        absl::StrCat(report.back(),
                     "; nothing says which cluster this was: give --cluster ID, the "
                     "first line of STATE/checkpoints/cluster on a worker"));
  JournalAge age = all->age.value_or(JournalAge{.cluster = cluster});
  age.changes += 1;  // It is newer than the copy.
  const std::string rebuilt = path + ".rebuilt";
  if (absl::Status s = WriteAll(rebuilt, age, all->records); !s.ok()) return s;
  const bool was_there = std::filesystem::exists(path);
  const absl::StatusOr<std::string> aside = SetAside(path);
  if (!aside.ok()) return aside.status();
  std::filesystem::rename(rebuilt, path);
  if (absl::Status s = SyncDirectory(state.path()); !s.ok()) return s;
  report.push_back(
      absl::StrCat(path, " is new: ", AgeText(age), ", ", all->records.size(), " records"));
  if (was_there) absl::StrAppend(&report.back(), "; what was there is ", *aside);
  std::set<JobId> known;
  for (const auto& [key, bytes] : all->records) {
    JobRecord record;
    if (key.first == kJobKind && record.ParseFromString(bytes)) known.insert(IdOf(record));
  }
  NameUnknown(state, known, JobId{age.forgotten}, report);
  return report;
}

}  // namespace bspnow::coordinator
