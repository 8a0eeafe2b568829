// For tests: a log of one job, and what its streams have printed.
#ifndef COORDINATOR_OUTPUT_JOB_LOG_FIXTURE_H_
#define COORDINATOR_OUTPUT_JOB_LOG_FIXTURE_H_

#include <cstdint>
#include <fstream>
#include <future>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include "base/testing/scratch_directory.h"
#include "coordinator/output/job_log.h"

namespace bspnow::coordinator {

inline constexpr JobId kJob{7};
inline constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 40;

/// On the thread that has written.
inline void AtOnce(const Timers::Event& event) { event(); }

class JobLogTest : public testing::Test {
 protected:
  JobLogTest() : state_(*StateDirectory::Open(scratch_.path())) {}

  /// Appends what this stream prints next, and waits until it is written.
  absl::Status Append(JobLogs& logs, LogRecord record) {
    record.offset = printed_[StreamOf(record)];
    const std::size_t bytes = record.text.size();
    const LogStream stream = StreamOf(record);
    absl::Status written = AppendAt(logs, std::move(record));
    if (written.ok()) printed_[stream] += bytes;
    return written;
  }

  static absl::Status AppendAt(JobLogs& logs, LogRecord record) {
    std::promise<absl::Status> written;
    logs.Append(kJob, std::move(record), [&](absl::Status s) { written.set_value(std::move(s)); });
    return written.get_future().get();
  }

  /// "0:one\n" and so on, until the reader has no more; then "(more)", "(end)" or "(error)".
  static std::string ReadAll(LogReader& reader) {
    std::string all;
    while (true) {
      const auto next = reader.Read();
      if (!next.ok()) return all + "(error)";
      if (std::holds_alternative<LogReader::NotYet>(*next)) return all + "(more)";
      if (std::holds_alternative<LogReader::End>(*next)) return all + "(end)";
      if (std::holds_alternative<LogReader::Again>(*next)) continue;
      const auto& record = std::get<LogRecord>(*next);
      all += std::to_string(record.pid) + ":" + record.text;
    }
  }

  /// Waits until the job's end has reached the file.
  static void AwaitEnd(JobLogs& logs, LogReader& reader) {
    logs.End(kJob);
    while (true) {
      if (ReadAll(reader).ends_with("(end)")) return;
      std::promise<void> more;
      reader.WhenMore([&] { more.set_value(); });
      more.get_future().wait();
    }
  }

  static absl::Status Sync(JobLogs& logs, const std::vector<LogPosition>& reach = {}) {
    std::promise<absl::Status> done;
    logs.Sync(kJob, reach, [&](absl::Status s) { done.set_value(std::move(s)); });
    return done.get_future().get();
  }

  static absl::StatusOr<LogCut> Cut(JobLogs& logs, const std::vector<LogPosition>& positions) {
    std::promise<absl::StatusOr<LogCut>> done;
    logs.Cut(kJob, positions, [&](absl::StatusOr<LogCut> cut) { done.set_value(std::move(cut)); });
    return done.get_future().get();
  }

  /// As a bad disk changes it.
  void DamageByte(std::size_t at) {
    std::fstream(state_.log(kJob), std::ios::in | std::ios::out)
        .seekp(static_cast<std::streamoff>(at))
        .put('!');
  }

  const ScratchDirectory scratch_;
  const StateDirectory state_;
  StreamEnds printed_;
};

inline LogRecord Stdout(std::uint32_t pid, std::uint64_t offset, std::string text) {
  return {.pid = pid, .origin = LogOrigin::kStdout, .offset = offset, .text = std::move(text)};
}

inline LogRecord Launcher(std::string text) {
  return {.pid = 0, .origin = LogOrigin::kLauncher, .text = std::move(text)};
}

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_OUTPUT_JOB_LOG_FIXTURE_H_
