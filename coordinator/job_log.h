// What the jobs print. Each job has one file of records; a thread of its own appends to all of
// them, so that a slow disk holds up no protocol. Any number of readers follow in the files, so
// that a slow one takes no memory. All calls may come from any thread.
#ifndef COORDINATOR_JOB_LOG_H_
#define COORDINATOR_JOB_LOG_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/ids.h"
#include "base/unique_fd.h"
#include "coordinator/log_record.h"
#include "coordinator/state_directory.h"

namespace bspnow {

/// One job's log while it may still grow. Shared by JobLogs and the readers.
class GrowingLog {
 public:
  /// Bytes of whole records in the file, and whether that is all.
  struct Extent {
    std::uint64_t bytes;
    bool ended;
  };

  explicit GrowingLog(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  Extent extent() const;

  /// Calls `grown` once, when the file is longer than `beyond` bytes or has ended: at once if it is
  /// so already, else by the thread that appends.
  void WhenGrown(std::uint64_t beyond, std::function<void()> grown);

 private:
  friend class JobLogs;
  void Grow(Extent extent);

  const std::string path_;
  mutable std::mutex mutex_;
  Extent extent_{};                             ///< Guarded by mutex_.
  std::vector<std::function<void()>> waiting_;  ///< Guarded by mutex_.
};

/// Reads one log from its beginning; used by one thread at a time.
class LogReader {
 public:
  struct End {};     ///< There will never be more.
  struct NotYet {};  ///< WhenMore says when there is.
  using Next = std::variant<LogRecord, NotYet, End>;

  /// Neighbouring records of one origin come as one, as long as that stays small.
  absl::StatusOr<Next> Read();

  void WhenMore(std::function<void()> more) { log_->WhenGrown(taken_bytes_, std::move(more)); }

 private:
  friend class JobLogs;
  explicit LogReader(std::shared_ptr<GrowingLog> log) : log_(std::move(log)) {}

  absl::StatusOr<std::optional<DecodedLogRecord>> Peek();
  absl::Status Fill(std::uint64_t file_bytes);

  std::shared_ptr<GrowingLog> log_;
  UniqueFd fd_;
  std::uint64_t taken_bytes_ = 0;  ///< Of the file, given out.
  std::string ahead_;              ///< Bytes of the file behind taken_bytes_.
};

class JobLogs {
 public:
  using Done = std::function<void(absl::Status)>;

  /// A log that would grow beyond `log_bytes_max` takes no more of its processes' output.
  JobLogs(const StateDirectory& state, std::uint64_t log_bytes_max);

  /// What was appended is in the files.
  ~JobLogs();

  /// Before anything is appended; what a crash tore off at the end of an earlier log is cut.
  void Begin(JobId job);

  /// `done` is called by the writing thread, in the order of the calls, when the record is in the
  /// file: RESOURCE_EXHAUSTED beyond the limit.
  void Append(JobId job, LogRecord record, Done done);

  /// No more will be appended; readers come to the end.
  void End(JobId job);

  /// Of a job that exists, whether it has ended or not.
  LogReader Read(JobId job);

 private:
  struct Entry {
    JobId job;
    std::shared_ptr<GrowingLog> log;
    LogRecord record;
    Done done;
    bool ends;
  };

  struct Growing {
    std::shared_ptr<GrowingLog> log;
    bool ending;  ///< Takes no more; what is queued is still to be written.
  };

  void WriteQueued();
  void Write(Entry& entry);
  absl::Status WriteRecord(const Entry& entry);
  absl::StatusOr<int> FileOf(JobId job, const GrowingLog& log);

  const StateDirectory& state_;
  const std::uint64_t log_bytes_max_;
  std::map<JobId, UniqueFd> files_;  ///< Of the writing thread.
  std::mutex mutex_;
  std::condition_variable not_empty_;
  std::map<JobId, Growing> growing_;  ///< Until their end is written. Guarded, too.
  std::deque<Entry> queue_;           ///< Guarded by mutex_.
  bool stopping_ = false;             ///< Guarded by mutex_.
  std::jthread writer_;               ///< Last: it uses all of the above.
};

}  // namespace bspnow

#endif  // COORDINATOR_JOB_LOG_H_
