// One schedule: a cluster, clients and faults, all decided by one seed, run until every job that
// was acknowledged has ended.
#ifndef TESTS_SIMULATION_SIM_CLUSTER_H_
#define TESTS_SIMULATION_SIM_CLUSTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_worker.h"

namespace bspnow {

/// What schedules did, added up: a simulation in which nothing happens proves nothing.
struct SimStatistics {
  std::uint64_t events = 0;
  std::uint64_t jobs = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t frames = 0;
  std::uint64_t breaks = 0;
  std::uint64_t worker_deaths = 0;
  std::uint64_t coordinator_deaths = 0;
};

class SimCluster {
 public:
  explicit SimCluster(std::uint64_t seed);

  /// Empty if all went well, else what did not.
  std::string Run();

  const SimStatistics& statistics() const { return statistics_; }

 private:
  struct Machine {
    std::string name;
    std::uint32_t slots;
    SimWorker* worker;
  };

  void StartWorker(Machine& machine);
  void StartCoordinator();
  void PlanFaults();
  void Disturb();
  void DisturbWorker(Machine& machine);
  void PlanSubmissions();
  void Submit(std::uint64_t number);
  void Send(const std::string& key, const JobRequest& request);
  JobRequest RandomRequest(std::uint64_t number);
  void RegretLater(JobId job);
  SimStreams* FindStreamsOf(WorkerId worker);

  SimLoop loop_;
  std::string failure_;
  SimOracle oracle_;
  SimJournal journal_;
  SimStatistics statistics_;
  std::vector<std::unique_ptr<SimCoordinator>> coordinators_;  ///< The last one may live.
  std::vector<std::unique_ptr<SimWorker>> workers_;            ///< All that ever lived.
  std::vector<Machine> machines_;
  std::uint64_t calm_from_ns_;  ///< No faults from then on.
  std::uint64_t submissions_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t next_incarnation_ = 1;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_CLUSTER_H_
