// What the core needs of the world: time, durable rows, logs, and ways to workers. The daemon has
// them on an event loop, disks and sockets (coordinator/daemon.h), the simulation on a seeded
// network and disk (tests/simulation), and there is no third. Every call is made on the core's
// thread and returns at once; an outcome comes in a later turn of that thread, never within the
// call.
#ifndef COORDINATOR_CORE_PORTS_H_
#define COORDINATOR_CORE_PORTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/ids.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/output/log_record.h"
#include "net/frame.h"

namespace bspnow::coordinator {

enum class CoreTimer : std::uint64_t {};
inline constexpr CoreTimer kNoCoreTimer{0};

class Timers {
 public:
  using Event = std::function<void()>;

  virtual ~Timers() = default;
  virtual Moment Now() const = 0;
  /// Handles `event` in a later turn, soon.
  virtual void Post(Event event) = 0;
  /// Once, `after_ms` from now.
  virtual CoreTimer AddTimer(std::uint64_t after_ms, Event event) = 0;
  /// Does nothing for kNoCoreTimer, or a timer whose event was handled.
  virtual void CancelTimer(CoreTimer timer) = 0;
};

/// Gives an event to the core's thread, from any other.
using PostEvent = std::function<void(Timers::Event)>;

/// What a start finds in the journal.
struct StoredState {
  std::string cluster{};       ///< Its id: drawn at the first start of all.
  std::uint64_t term = 0;      ///< Of this run: already raised and stored.
  std::uint64_t term_key = 0;  ///< Random, of this run.
  /// No job with a larger number was ever known; ended ones up to `forgotten` may be in the history
  /// alone.
  JobId last_job{0};
  JobId forgotten{0};
  /// By id; of ended ones, the newest kEndedJobsMax. The newest job of all is among them.
  std::vector<JobRecord> jobs{};
  std::map<JobId, std::string> checkpoints{};  ///< As given to WriteCheckpoints.
  std::vector<std::string> drained_nodes{};    ///< Names.
  std::vector<std::string> parameters{};       ///< Serialized MachineParameters, oldest first.
};

/// Some of the history, newest first.
struct HistoryPage {
  std::vector<JobRecord> records{};
  std::vector<JobId> damaged{};  ///< Among these: what is there is not what was written.

  std::size_t size() const { return records.size() + damaged.size(); }
  /// Of a page that is not empty.
  JobId oldest() const {
    if (damaged.empty()) return IdOf(records.back());
    return records.empty() ? damaged.back() : std::min(IdOf(records.back()), damaged.back());
  }
};

/// Rows that survive a restart. Writes take effect in the order of the calls; each is durable when
/// its outcome is OK.
class Journal {
 public:
  using Done = std::function<void(const absl::Status&)>;
  using FoundJobs = std::function<void(absl::StatusOr<HistoryPage>)>;

  virtual ~Journal() = default;
  /// All of them, or none.
  virtual void WriteJobs(std::vector<JobRecord> records, Done done) = 0;
  /// All that is known of a job's checkpoints, in place of what was; empty: none.
  virtual void WriteCheckpoints(JobId job, std::string catalogue, Done done) = 0;
  virtual void WriteDrained(std::string node, Done done) = 0;
  virtual void WriteUndrained(std::string node, Done done) = 0;
  virtual void WriteParameters(std::uint32_t p, std::string parameters, Done done) = 0;
  /// The next start has a higher term than this one.
  virtual void RaiseTerm(std::uint64_t term, Done done) = 0;

  /// Jobs that ended long ago: from what a start finds into the history, which has no limit.
  virtual void Archive(const std::vector<JobId>& jobs) = 0;
  /// Of the history, up to `count` jobs with smaller ids, the newest first.
  virtual void ReadHistory(JobId before, std::size_t count, FoundJobs found) = 0;
};

/// What the jobs print, each byte once; see output/job_log.h for the meaning of each call. Writes
/// to one log take effect in the order of the calls; those to different logs end in any order.
class OutputLogs {
 public:
  using Done = std::function<void(const absl::Status&)>;
  using CutDone = std::function<void(const absl::StatusOr<LogCut>&)>;

  virtual ~OutputLogs() = default;
  /// At the start, and then it may read an earlier log.
  virtual void Begin(JobId job) = 0;
  /// Of a job that nobody has known.
  virtual void BeginNew(JobId job) { Begin(job); }
  virtual void Append(JobId job, LogRecord record, Done done) = 0;
  virtual void Cut(JobId job, const std::vector<LogPosition>& positions, CutDone done) = 0;
  virtual void Sync(JobId job, const std::vector<LogPosition>& reach, Done done) = 0;
  virtual void End(JobId job) = 0;
  /// Why nothing of this job is written now, for want of room; empty otherwise.
  virtual std::string waits_for(JobId job) const = 0;
  /// Since when a call of this job's log has been the next to be answered; 0: there is none.
  virtual std::uint64_t waits_since_ns(JobId) const { return 0; }
};

/// The workers' frame streams. To a worker without a stream nothing is sent.
class WorkerFrames {
 public:
  virtual ~WorkerFrames() = default;
  virtual void Send(WorkerId worker, const FrameHeader& header,
                    std::span<const std::byte> payload) = 0;
  virtual void Close(WorkerId worker, const char* reason) = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_PORTS_H_
