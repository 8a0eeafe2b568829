// Sees everything that happens in a simulated cluster, and says whether it may.
//
// - No node enters superstep s + 1 before all nodes of the job have finished s.
// - Each frame is taken once, in its own superstep, and none is missing at its end.
// - No job is started twice, whatever restarts; each reaches one end and keeps it.
// - An acknowledged submission is never lost.
#ifndef TESTS_SIMULATION_SIM_ORACLE_H_
#define TESTS_SIMULATION_SIM_ORACLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "coordinator/job_table.h"

namespace bspnow {

/// One host of one job.
struct SimPlace {
  JobId job;
  std::uint32_t host;

  friend auto operator<=>(const SimPlace&, const SimPlace&) = default;
};

class SimOracle {
 public:
  /// `failed` gets the first violation.
  explicit SimOracle(std::function<void(const std::string&)> failed) : failed_(std::move(failed)) {}

  // ---- Supersteps.

  /// The node takes part, and so must be waited for.
  void OnTakesPart(const SimPlace& place) { progress_[place]; }
  /// bsp_begin's number is known, and so are those that take part.
  void OnParticipants(JobId job, std::uint32_t hosts) { participants_[job] = hosts; }
  void OnArrived(const SimPlace& place, std::uint64_t barrier);
  void OnReleased(const SimPlace& place, std::uint64_t barrier);
  /// All frames to this host in superstep `s` must have been taken.
  void OnSuperstepOver(const SimPlace& place, std::uint64_t s);

  /// Returns the frame's number.
  std::uint64_t OnSent(const SimPlace& to, std::uint64_t s);
  void OnTaken(const SimPlace& to, std::uint64_t s, std::uint64_t frame);

  // ---- Jobs.

  void OnStartOrdered(JobId job);
  void OnAcknowledged(const std::string& key, JobId job);
  void OnEnded(JobId job, JobPhase phase, int exit_status);
  /// As OnEnded, of an end that a restarted coordinator has read and may have announced.
  void OnEndStored(JobId job, JobPhase phase, int exit_status) {
    ends_.emplace(job, std::pair(phase, exit_status));
  }
  /// What a coordinator knows must agree with all that was said before.
  void CheckTable(const JobTable& table);
  /// All that was acknowledged has ended.
  bool AllEnded(const JobTable& table) const;

  /// The jobs as they stand, a line each: for a failure's report.
  std::string Describe(const JobTable& table) const;

  void Fail(const std::string& what) const { failed_(what); }
  std::uint64_t frames_taken() const { return frames_taken_; }
  std::uint64_t jobs_ended() const { return ends_.size(); }

 private:
  struct Frame {
    SimPlace to;
    std::uint64_t superstep;
    bool taken = false;
  };

  std::function<void(const std::string&)> failed_;
  std::map<SimPlace, std::uint64_t> progress_;  ///< Barriers at which the host has arrived.
  std::map<JobId, std::uint32_t> participants_;
  std::vector<Frame> frames_;
  std::map<std::pair<SimPlace, std::uint64_t>, std::uint64_t> under_way_;  ///< By superstep.
  std::set<JobId> started_;
  std::map<std::string, JobId> acknowledged_;
  std::map<JobId, std::pair<JobPhase, int>> ends_;
  std::uint64_t frames_taken_ = 0;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_ORACLE_H_
