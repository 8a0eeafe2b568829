// What the coordinators of a simulation have on their disk: the journal, and what jobs print.
#ifndef TESTS_SIMULATION_SIM_JOURNAL_H_
#define TESTS_SIMULATION_SIM_JOURNAL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/ids.h"
#include "coordinator/core/ports.h"
#include "tests/simulation/sim_loop.h"

namespace bspnow {

using coordinator::JobRecord;
using coordinator::LogCut;
using coordinator::LogOrigin;
using coordinator::LogPosition;
using coordinator::LogRecord;
using coordinator::LogStream;
using coordinator::StoredState;
using coordinator::StreamEnds;

/// Why output is not taken that comes after some that was lost.
inline constexpr char kOutputGap[] = "a gap in its output";

inline constexpr char kSimCluster[] = "simulated";

/// A job's log: what each process has printed.
struct SimLog {
  std::map<LogStream, std::string> texts;
  StreamEnds synced;     ///< What the disk has been made to keep.
  bool damaged = false;  ///< Has lost what the disk had been made to keep.
  bool lossy = false;    ///< Has lost what it had, or has not taken what it was given.
  /// An older journal says that the job has ended, and has less than it had then: nobody prints it.
  bool incomplete = false;
  bool sync_failed = false;  ///< The last time: who has ended may lose output with the power.
};

/// What its file has; logs lie beside it.
struct SimJournalRows {
  std::map<JobId, JobRecord> jobs;
  std::map<JobId, std::string> checkpoints;
  std::set<std::string> drained;
  std::uint64_t term = 0;
};

struct SimJournal : SimJournalRows {
  /// Its file as it was once.
  struct Copy {
    SimJournalRows rows;
    std::map<JobId, StreamEnds> printed;  ///< What the logs had then.
    std::set<JobId> incomplete;           ///< Of those.
  };

  bool put_back = false;  ///< It is, or was, an older copy of itself.
  std::string cluster = kSimCluster;
  std::uint64_t runs = 0;  ///< Coordinators that were started with it, whatever is put back.
  std::map<JobId, SimLog> logs;

  std::uint32_t copies = 1;         ///< Of each image, as the coordinator is configured.
  std::string share;                ///< Of all nodes, for images; or empty.
  bool quotas = false;              ///< Each coordinator may be configured with another one.
  std::int64_t clock_ms = 0;        ///< By which the coordinators' machine is ahead of true time.
  bool disturbed = false;           ///< A row is refused now and then.
  bool fails = false;               ///< From time to time, as a full disk does.
  std::uint64_t full_until_ns = 0;  ///< Takes nothing before.
  std::uint64_t slow_until_ns = 0;  ///< Its disk, with the logs: what is written there takes long.
  /// A row whose write has failed, its sync, say, and that is in the file all the same: found by
  /// who starts, unless another row was written since.
  std::function<void()> failed_row;

  /// For a coordinator that starts; raises the term. The key is its own.
  StoredState Load(std::uint64_t term_key);
  /// Of another cluster: it began empty.
  bool is_strange() const { return cluster != kSimCluster; }
  Copy TakeCopy() const;
  void PutBack(const Copy& copy);
};

/// A thread that writes one thing after the other, for one coordinator.
class SimWriter {
 public:
  struct Write {
    std::function<absl::Status()> apply;
    std::function<void(const absl::Status&)> done;  ///< On the coordinator's thread.
    std::uint64_t longer_ns = 0;                    ///< Than others.
  };

  SimWriter(SimLoop& loop, const SimJournal& disk, SimLoop::ActorPtr coordinator,
            std::function<bool()> may_write, std::uint64_t delay_ns)
      : loop_(loop),
        disk_(disk),
        coordinator_(std::move(coordinator)),
        may_write_(std::move(may_write)),
        delay_ns_(delay_ns) {}

  void Queue(Write write);
  /// What is being written may be on the disk or not.
  void Die();
  std::uint64_t slow_writes() const { return slow_writes_; }

 private:
  void Next();
  std::uint64_t SlowNs();

  SimLoop& loop_;
  const SimJournal& disk_;
  SimLoop::ActorPtr coordinator_;
  std::function<bool()> may_write_;
  std::uint64_t delay_ns_;
  std::deque<Write> queue_;
  std::uint64_t done_ns_ = 0;  ///< When the last one so far is reported.
  std::uint64_t slow_writes_ = 0;
  bool dead_ = false;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_JOURNAL_H_
