#include "client/view/history_view.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>
#include <time.h>

#include "client/view/job_view.h"
#include "client/view/quantities.h"

namespace bspnow::client {
namespace {

constexpr double kNsPerSecond = 1e9;

std::string LocalOrNothing(std::int64_t unix_ms) {
  return unix_ms == 0 ? "" : LocalTimeText(unix_ms);
}

/// As in 2026-03-31T14:05:59Z; empty for what has not happened.
std::string UtcText(std::int64_t unix_ms) {
  if (unix_ms == 0) return "";
  const auto seconds = static_cast<time_t>(unix_ms / 1000);
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// A spreadsheet would compute a text that begins like a formula; names are a user's own.
std::string CsvField(const std::string& text) {
  const bool computes = text.find_first_of("=+-@\t\r") == 0;
  if (!computes && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", computes ? "'" : "", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

}  // namespace

TextTable HistoryTable(const std::vector<proto::Job>& jobs) {
  TextTable table({{"JOB", Align::kRight},
                   {"NAME", Align::kLeft},
                   {"USER", Align::kLeft},
                   {"P", Align::kRight},
                   {"STATE", Align::kLeft},
                   {"EXIT", Align::kRight},
                   {"SUBMITTED", Align::kLeft},
                   {"STARTED", Align::kLeft},
                   {"ENDED", Align::kLeft},
                   {"TIME", Align::kRight},
                   {"CPU", Align::kRight},
                   {"MEMORY", Align::kRight},
                   {"SUPERSTEPS", Align::kRight},
                   {"H", Align::kRight},
                   {"OUTPUT", Align::kRight},
                   {"CHECKPOINTS", Align::kRight},
                   {"RESTARTS", Align::kRight},
                   {"REASON", Align::kLeft}});
  for (const proto::Job& job : jobs) {
    const auto bytes = [](std::uint64_t n) { return BytesText(static_cast<double>(n)); };
    const auto cpu_s = static_cast<double>(job.cpu_ns()) / kNsPerSecond;
    table.AddRow({{absl::StrCat(job.job())},
                  {ShortNameOf(job)},
                  {job.spec().user()},
                  {absl::StrCat(job.spec().nprocs())},
                  {StateName(job.state()), ColourOf(job.state())},
                  {HasEnded(job) ? absl::StrCat(job.exit_status()) : ""},
                  {LocalOrNothing(job.submitted_unix_ms())},
                  {LocalOrNothing(job.started_unix_ms())},
                  {LocalOrNothing(job.ended_unix_ms())},
                  {DurationText(RunSeconds(job))},
                  {DurationText(static_cast<std::int64_t>(cpu_s))},
                  {MemoryText(static_cast<double>(job.peak_memory_bytes()))},
                  {absl::StrCat(job.totals().supersteps())},
                  {bytes(job.totals().h_bytes())},
                  {bytes(job.output_bytes())},
                  {absl::StrCat(job.checkpoints().count())},
                  {absl::StrCat(job.restarts())},
                  {job.reason()}});
  }
  return table;
}

std::string HistoryCsv(const std::vector<proto::Job>& jobs) {
  std::string csv =
      "job,name,user,nprocs,state,exit_status,submitted,started,ended,run_ms,cpu_ns,"
      "peak_memory_bytes,supersteps,h_bytes,output_bytes,checkpoints,restarts,"
      "reason\r\n";
  for (const proto::Job& job : jobs) {
    const std::vector<std::string> fields = {absl::StrCat(job.job()),
                                             CsvField(NameOf(job)),
                                             CsvField(job.spec().user()),
                                             absl::StrCat(job.spec().nprocs()),
                                             StateName(job.state()),
                                             HasEnded(job) ? absl::StrCat(job.exit_status()) : "",
                                             UtcText(job.submitted_unix_ms()),
                                             UtcText(job.started_unix_ms()),
                                             UtcText(job.ended_unix_ms()),
                                             absl::StrCat(job.run_ms()),
                                             absl::StrCat(job.cpu_ns()),
                                             absl::StrCat(job.peak_memory_bytes()),
                                             absl::StrCat(job.totals().supersteps()),
                                             absl::StrCat(job.totals().h_bytes()),
                                             absl::StrCat(job.output_bytes()),
                                             absl::StrCat(job.checkpoints().count()),
                                             absl::StrCat(job.restarts()),
                                             CsvField(job.reason())};
    absl::StrAppend(&csv, absl::StrJoin(fields, ","), "\r\n");
  }
  return csv;
}

}  // namespace bspnow::client
