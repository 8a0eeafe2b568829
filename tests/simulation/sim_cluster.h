// One schedule: a cluster, clients and faults, all decided by one seed, run until every job that
// was acknowledged has ended, and nothing of them is left.
#ifndef TESTS_SIMULATION_SIM_CLUSTER_H_
#define TESTS_SIMULATION_SIM_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/sim_client.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/sim_worker.h"

namespace bspnow {

/// Restarts that no schedule needs.
inline constexpr int kRestartsMany = 1000;

class SimCluster {
 public:
  explicit SimCluster(std::uint64_t seed);
  ~SimCluster();

  /// Says what happens, on standard output.
  void Trace();
  /// Empty if all went well, else what did not.
  std::string Run();

  const SimStatistics& statistics() const { return oracle_.statistics(); }
  std::uint64_t events() const { return loop_.events(); }

 private:
  struct Machine {
    std::string name;
    std::string images_address;  ///< Of the machine that is to have the name.
    std::uint32_t slots;
    std::unique_ptr<SimStore> own_store;
    SimStore* store;
    SimWorker* worker;
    bool worker_comes = false;
    SimDrift drift_ppm = 0;
    std::optional<SimStore> older{};  ///< Its state directory as it was once.
  };

  void StartWorker(Machine& machine);
  void StartCoordinator(SimJournal& journal);
  void StartCoordinator() { StartCoordinator(journal_); }
  void StartAnew(SimCoordinator& coordinator);
  SimCoordinator& coordinator() { return *coordinators_.back(); }
  /// Who answers to a worker that connects.
  SimCoordinator* Answering();
  /// That lives; or nullptr. Two may have one name, and only one of them is in machines_.
  SimWorker* FindWorker(const std::function<bool(const SimWorker&)>& is_it) const;
  bool IsLeft(JobId job, const std::vector<WorkerId>& workers) const;
  bool IsOver();
  bool EndsAreStored();
  std::string WhyNotOver();
  std::string Leftovers() const;
  bool MustSucceed(const JobRecord& record) const;
  void CompareOutput();

  // ---- Faults: sim_faults.cc, and sim_coordinator_faults.cc.

  std::uint64_t PauseNs();
  std::uint64_t SlowEventNs();
  void SetClockRates();
  void PlanFaults();
  void PlanLaneFaults();
  void Disturb();
  void RegisterNamesake(const std::string& node);
  void ForgetNode(const std::string& node);
  void DrainForAWhile(const std::string& node);
  void DisturbCoordinator();
  void HangDisk();
  void SleepWhileItWaits();
  void RestartCoordinator();
  void DieAsItStarts();
  void PutJournalBack();
  /// The journal becomes this one, and the coordinator is to be started with it.
  void ReadAgain(const SimJournal::Copy& copy);
  /// False if there is none.
  bool ForgetAnEpoch();
  void StartWithoutJournal();
  void LoseJournalWithImagesUnderWay();
  void DisturbWorker(Machine& machine);
  void MakeSick(SimWorker& worker);
  void HangAStartForGood(SimWorker& worker, std::uint64_t ns);
  void CutApart(const Machine& from, const Machine& to);
  /// No connection from one to the other can be made.
  bool AreApart(const std::string& from, const std::string& to) const;
  void LosePowerEverywhere();
  void HalveAStream(SimStreams& streams);
  void LosePower(Machine& machine);
  void LoseForLong(Machine& machine);
  void StartWorkerLater(Machine& machine);
  void StartWorkerAfter(Machine& machine, std::uint64_t ns);
  void PutStateBack(Machine& machine);
  void ReplaceMachine(Machine& machine);
  void Usurp(Machine& machine);
  void PauseSomebody(Machine& machine);
  void SuspendMachines(Machine& machine);
  void LoseAHolder(Machine& holder);
  void KillOneOf(JobId job);
  void CallOff();

  // ---- Clients.

  void PlanSubmissions();
  void Submit(std::uint64_t number);
  void StartAfterOthers(std::uint64_t number, proto::JobSpec& spec) const;
  void Send(proto::SubmitJobRequest request);
  void OnAcknowledged(const proto::SubmitJobRequest& request, JobId first);
  proto::CheckpointPolicy RandomPolicy();
  void PlanRequests(JobId job);
  void Request(JobId job);
  void Alter(JobId job);
  void AskAgain(const std::function<void(SimCoordinator&)>& ask);

  SimLoop loop_;
  std::string failure_;
  SimOracle oracle_;
  SimLanes lanes_{loop_, oracle_};
  SimJournal journal_;
  bool loses_journals_ = false;  ///< Somebody puts older ones back, or none.
  bool only_lanes_ = false;      ///< Nothing but lanes is disturbed, and there are more nodes.
  std::vector<SimJournal::Copy> copies_;
  std::vector<std::unique_ptr<SimJournal>> strange_journals_;
  SimStore shared_store_;
  std::vector<std::unique_ptr<SimCoordinator>> coordinators_;  ///< The last one may live.
  std::vector<std::unique_ptr<SimWorker>> workers_;            ///< All that ever lived.
  std::vector<std::unique_ptr<SimStore>> usurped_;             ///< Of daemons that may live on.
  std::vector<Machine> machines_;
  /// By the names of two nodes.
  std::map<std::pair<std::string, std::string>, std::uint64_t> apart_until_ns_;
  std::set<JobId> signalled_;   ///< Their programs may have obeyed.
  std::uint64_t calm_from_ns_;  ///< No faults from then on.
  std::uint64_t over_since_ns_ = 0;
  bool coordinator_comes_ = false;
  std::uint64_t submissions_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t next_incarnation_ = 1;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_CLUSTER_H_
