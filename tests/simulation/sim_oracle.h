// Sees everything that happens in a simulated cluster, and says whether it may.
//
// - No node enters superstep s + 1 before all nodes of the epoch have finished s.
// - No process of an epoch passes a barrier once the next epoch has been started.
// - A checkpoint is asked for at a barrier that no node has passed: all save the same superstep.
// - Each frame is taken once, in its own superstep, and none is missing at its end; what processes
//   have made of it is what they have in an undisturbed run, after restores, too.
// - What is restored was committed; the committed superstep never decreases, unless images rot.
// - Pid 0 has its input without a gap, and once it was given some no other epoch is started.
// - No epoch is started twice, whatever restarts; each job reaches one end and keeps it.
// - An acknowledged submission is never lost.
//
// Once the journal was replaced by an older copy, what came later may be lost, and come again. But
// no two epochs advance at once, no number is given to two jobs, and images that nobody knows stay.
#ifndef TESTS_SIMULATION_SIM_ORACLE_H_
#define TESTS_SIMULATION_SIM_ORACLE_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/checkpoints/checkpoint.h"
#include "coordinator/core/jobs/job_table.h"
#include "proto/jobs.pb.h"
#include "tests/simulation/sim_program.h"
#include "tests/simulation/sim_promises.h"

namespace bspnow {

using coordinator::Checkpoint;
using coordinator::EpochOf;
using coordinator::HasEnded;
using coordinator::IdOf;
using coordinator::JobRecord;
using coordinator::JobTable;

/// One host of one epoch.
struct SimPlace {
  JobId job;
  Epoch epoch;
  std::uint32_t host;

  friend auto operator<=>(const SimPlace&, const SimPlace&) = default;
};

/// What happened, added up over schedules: a simulation in which nothing happens proves nothing.
struct SimStatistics {
  std::map<std::string, std::uint64_t> counts;

  void Count(const std::string& what, std::uint64_t n) { counts[what] += n; }
};

class SimOracle {
 public:
  /// `failed` gets the first violation.
  explicit SimOracle(const std::function<void(const std::string&)>& failed)
      : failed_(failed), promises_(failed) {}

  SimPromises& promises() { return promises_; }

  void Fail(const std::string& what) const { failed_(what); }
  void Count(const char* what, std::uint64_t n) { statistics_.counts[what] += n; }
  void Count(const char* what) {
    Count(what, 1);
    if (trace_) trace_(what);
  }
  /// Says what is counted, as it happens.
  void TraceTo(std::function<void(const std::string&)> trace) { trace_ = std::move(trace); }
  bool traces() const { return trace_ != nullptr; }
  void Trace(const std::string& what) const { trace_(what); }
  const SimStatistics& statistics() const { return statistics_; }

  // ---- Supersteps.

  /// bsp_begin's number is known, and so are those hosts that take part.
  void OnParticipants(JobId job, Epoch epoch, std::uint32_t hosts);
  void OnTakesPart(const SimPlace& place) { progress_[place]; }
  void OnArrived(const SimPlace& place, std::uint64_t barrier);
  /// Its processes leave the barrier.
  void OnPassed(const SimPlace& place, std::uint64_t barrier);
  /// They go on from it, though it is not over.
  void OnAhead(const SimPlace& place);
  /// A coordinator asks for a checkpoint at the end of it, and for that one at no other.
  void OnDirected(JobId job, Epoch epoch, std::uint64_t barrier);
  /// It is over, after they went on.
  void OnOver(const SimPlace& place, std::uint64_t barrier);
  /// All frames to this host in superstep `s` must have been taken.
  void OnSuperstepOver(const SimPlace& place, std::uint64_t s);

  /// Returns the frame's number.
  std::uint64_t OnSent(const SimPlace& to, std::uint64_t s);
  void OnTaken(const SimPlace& to, std::uint64_t s, std::uint64_t frame);
  bool IsTaken(std::uint64_t frame) const { return frames_.at(frame).taken; }

  /// A process is in bsp_sync of `superstep`, and gets from these.
  void OnInSync(JobId job, Epoch epoch, std::uint64_t superstep, std::uint32_t pid,
                std::set<std::uint32_t> gets_from) {
    in_sync_[{job, epoch}][pid] = {superstep, std::move(gets_from)};
  }
  /// All `p` are, and nobody gets from `pid`.
  bool IsUnread(JobId job, Epoch epoch, std::uint64_t superstep, std::uint32_t pid,
                std::uint32_t p) const;

  /// A process goes on with superstep `s` (as shown).
  void OnState(JobId job, std::uint64_t s, std::uint32_t pid, const SimState& state);

  // ---- Checkpoints.

  void OnCommitted(JobId job, const Checkpoint& checkpoint);
  /// Going back to this one (0: the start), though it may not be the last.
  void OnWentBack(JobId job, std::uint64_t number);
  void OnRestored(JobId job, std::uint64_t number, std::uint64_t superstep);

  // ---- Jobs.

  const SimReference& ReferenceOf(JobId job) const { return *references_.at(job); }
  /// Its processes were on all nodes of an epoch for at most so long.
  std::uint64_t RanAtMostNs(JobId job, std::uint64_t now_ns) const;
  void OnStartOrdered(JobId job, Epoch epoch, const proto::JobSpec& spec, std::uint64_t now_ns);
  /// The processes that this host of `hosts` has are there.
  void OnStarted(const SimPlace& place, std::uint32_t hosts, std::uint64_t now_ns);
  /// A coordinator sends it to pid 0.
  void OnInputOrdered(JobId job, Epoch epoch);
  /// Pid 0 is given these bytes.
  void OnInput(JobId job, Epoch epoch, std::uint64_t offset, std::uint64_t end);
  Epoch EpochOf(JobId job) const {
    const auto found = epochs_.find(job);
    return found == epochs_.end() ? Epoch{0} : found->second;
  }
  bool KnowsEnd(JobId job) const { return ends_.contains(job); }
  /// A submission, and which element of its array; 0: it may be none.
  struct Submitted {
    std::string key;
    std::uint64_t element;
    auto operator<=>(const Submitted&) const = default;
  };
  void OnAcknowledged(const Submitted& submitted, JobId job);
  /// The journal is an older copy of itself, with these jobs: what came later is forgotten.
  void OnPutBack(const std::map<JobId, JobRecord>& jobs);
  void OnEnded(const JobRecord& record);
  /// As OnEnded, of an end that a restarted coordinator has read and may have announced.
  void OnEndStored(const JobRecord& record) { ends_.emplace(IdOf(record), EndOf(record)); }
  /// What a coordinator knows must agree with all that was said before.
  void CheckTable(const JobTable& table);
  /// All that was acknowledged has ended.
  bool AllEnded(const JobTable& table) const;

  /// The jobs as they stand, a line each: for a failure's report.
  std::string Describe(const JobTable& table) const;

 private:
  using End = std::pair<proto::JobState, int>;
  struct Frame {
    SimPlace to;
    std::uint64_t superstep;
    bool taken = false;
  };
  struct Committed {
    std::map<std::uint64_t, std::uint64_t> supersteps;  ///< By number.
    std::uint64_t least = 0;                            ///< For the next one.
  };

  void ForgetEpoch(JobId job, Epoch epoch);
  static End EndOf(const JobRecord& record) {
    return {record.job().state(), record.job().exit_status()};
  }

  std::function<void(const std::string&)> failed_;
  SimPromises promises_;
  std::function<void(const std::string&)> trace_;
  SimStatistics statistics_;
  std::map<SimPlace, std::uint64_t> progress_;  ///< Barriers at which the host has arrived.
  std::map<SimPlace, std::uint64_t> passed_;    ///< Barriers that it has left.
  std::map<std::pair<JobId, Epoch>, std::uint32_t> participants_;
  /// By pid: the superstep, and from whom it gets.
  using InSync = std::map<std::uint32_t, std::pair<std::uint64_t, std::set<std::uint32_t>>>;
  std::map<std::pair<JobId, Epoch>, InSync> in_sync_;
  std::vector<Frame> frames_;
  std::map<std::pair<SimPlace, std::uint64_t>, std::uint64_t> under_way_;  ///< By superstep.
  std::map<std::pair<JobId, Epoch>, std::set<std::uint32_t>> started_;     ///< Hosts.
  std::set<std::pair<JobId, Epoch>> run_;  ///< All hosts of them were.
  struct Ran {
    std::uint64_t before_ns = 0;              ///< In the epochs that are over.
    std::optional<std::uint64_t> since_ns{};  ///< In the newest one.
  };
  std::map<JobId, Ran> ran_;
  std::map<JobId, std::pair<Epoch, std::uint64_t>> inputs_;  ///< Bytes that pid 0 has of it.
  std::map<JobId, Epoch> epochs_;                            ///< Started last.
  std::map<JobId, std::unique_ptr<SimReference>> references_;
  std::map<JobId, Committed> committed_;
  std::map<Submitted, JobId> acknowledged_;
  std::map<JobId, std::string> numbers_;  ///< Of their programs.
  std::map<JobId, Submitted> keys_;       ///< Of all that were ever acknowledged.
  std::map<JobId, End> ends_;
  bool put_back_ = false;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_ORACLE_H_
