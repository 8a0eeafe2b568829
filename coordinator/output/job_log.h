// What the jobs print, each byte once. Each job has one file of records; threads of their own write
// the files, so that a slow disk holds up no protocol, and what takes long with one log holds up no
// other. What is to be done with one log is done in the order of the calls. Any number of readers
// follow in the files, so that a slow one takes no memory. All calls may come from any thread.
//
// A disk that does not take a record is waited for, be it full or broken: what is not in the file
// is not acknowledged, so those who print wait, too, and go on when it takes it.
//
// The bytes of a stream are numbered: what the log has already is dropped when it comes again, and
// when a job goes back to a checkpoint its log is cut back to what had been printed by then. See
// "Output" in docs/design.md.
#ifndef COORDINATOR_OUTPUT_JOB_LOG_H_
#define COORDINATOR_OUTPUT_JOB_LOG_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/ids.h"
#include "coordinator/core/ports.h"
#include "coordinator/output/growing_log.h"
#include "coordinator/output/log_record.h"
#include "coordinator/state_directory.h"

namespace bspnow::coordinator {

class JobLogs final : public OutputLogs {
 public:
  /// A log that would grow beyond `log_bytes_max` takes no more of its processes' output: its job
  /// fails.
  /// `post`: for the outcomes.
  JobLogs(const StateDirectory& state, std::uint64_t log_bytes_max, PostEvent post);

  /// What was appended is in the files.
  ~JobLogs() override;

  /// Before anything is appended; the job has a directory from now on. An earlier log goes as far
  /// as its records are sound: what a crash tore off, or a bad disk has damaged, is cut, and all
  /// that follows.
  void Begin(JobId job) override;

  /// The same of a job that can have no earlier log: a thread makes its directory, some time.
  void BeginNew(JobId job) override;

  /// `done` comes in the order of the calls, when the record is in the file, or all of it was there
  /// before. OUT_OF_RANGE beyond the limit, FAILED_PRECONDITION if bytes before it are missing.
  void Append(JobId job, LogRecord record, Done done) override;

  /// Takes out what lies after these positions; a process that is not named has printed nothing.
  /// The service's own lines stay. In order with the calls of Append; if it fails, or bytes before
  /// these positions are missing, the log stays as it is. One that was damaged since Begin goes as
  /// far as its records are sound, as there. A reader is not given again what it has read before.
  /// A file that is no log is set aside once nothing is to be kept of it.
  void Cut(JobId job, const std::vector<LogPosition>& positions, CutDone done) override;

  /// What was appended so far stays after a crash of the machine, once `done` is OK: before a
  /// checkpoint that follows it is committed. FAILED_PRECONDITION if the log ends before one of
  /// these positions: a crash has lost output that was acknowledged. After a sync that failed none
  /// is tried again on the same file, since its result would mean nothing for the earlier bytes.
  void Sync(JobId job, const std::vector<LogPosition>& reach, Done done) override;

  /// No more will be appended; readers come to the end.
  void End(JobId job) override;

  /// Of a job that exists, whether it has ended or not. Touches no disk: the reader does.
  LogReader Read(JobId job);

  /// Why nothing of this job is written now, while the disk does not take it; empty otherwise.
  std::string waits_for(JobId job) const override;
  std::uint64_t waits_since_ns(JobId job) const override;

 private:
  /// A job's file and what is in it. After Begin of the thread alone that works on this log.
  struct Written {
    std::shared_ptr<GrowingLog> log;
    StreamEnds ends;
    absl::Status usable;    ///< If not, nothing is appended until the file is another.
    absl::Status syncable;  ///< If not, a sync of this file has failed.
  };

  using Task = std::function<void()>;
  struct Tasks {
    std::deque<Task> queue{};    ///< The first one is under way, or waits for a thread;
    std::uint64_t since_ns = 0;  ///< since then.
  };

  struct Growing {
    std::shared_ptr<Written> written;
    bool ending;  ///< Takes no more; what is queued is still to be written.
  };

  void Add(JobId job, std::shared_ptr<Written> written);
  std::shared_ptr<Written> Find(JobId job);
  static absl::Status Load(Written& written);
  void AwaitLoaded(Written& written);
  void LoadAgain(Written& written);
  void Queue(JobId job, Task task);
  void RunQueued();
  absl::Status WhenThereIsRoom(const Written& written, const std::function<absl::Status()>& write);
  absl::Status WriteRecord(Written& written, LogRecord record);
  absl::Status WriteBytes(Written& written, const std::string& bytes);
  absl::StatusOr<LogCut> CutFile(Written& written, const std::vector<LogPosition>& positions);
  absl::StatusOr<GrowingLog::Extent> Shortened(const Written& written, const StreamEnds& keep);
  static absl::Status CheckReach(const Written& written, const std::vector<LogPosition>& reach);
  absl::Status SyncFile(Written& written);
  void WriteEnd(JobId job, Written& written);

  const StateDirectory& state_;
  const std::uint64_t log_bytes_max_;
  const PostEvent post_;
  mutable std::mutex mutex_;
  std::condition_variable ready_for_work_;
  std::condition_variable stopped_;
  // All guarded by mutex_.
  std::map<JobId, Growing> growing_;               ///< Until their end is written.
  std::map<JobId, Tasks> tasks_;                   ///< None is empty.
  std::deque<JobId> ready_;                        ///< With tasks that no thread works on.
  std::map<const Written*, std::string> waiting_;  ///< For the disk, and why.
  bool stopping_ = false;
  std::vector<std::jthread> writers_;  ///< Last: they use all of the above.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_OUTPUT_JOB_LOG_H_
