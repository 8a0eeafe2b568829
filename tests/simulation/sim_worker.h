// A worker of the simulation: NodeExchange for each job and Retention for each stream as they are;
// the processes are timers, and a frame is a number.
#ifndef TESTS_SIMULATION_SIM_WORKER_H_
#define TESTS_SIMULATION_SIM_WORKER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_link.h"
#include "tests/simulation/sim_node.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_streams.h"

namespace bspnow {

/// The coordinator that runs now; nullptr while there is none.
using FindCoordinator = std::function<SimCoordinator*()>;

class SimWorker final : public SimWorkerPort, private SimNodeRim {
 public:
  struct Identity {
    std::string name;
    std::uint32_t slots;
    std::uint64_t incarnation;
  };

  SimWorker(SimLoop& loop, SimOracle& oracle, Identity identity, FindCoordinator coordinator,
            FindStreams streams);

  /// kill -9: nothing of it is left, and nobody is told.
  void Die();
  bool dead() const { return streams_.dead(); }
  WorkerId id() const { return id_; }
  SimStreams& streams() { return streams_; }

  /// The network between it and the coordinator: breaks, and stays so until then.
  void BreakFrames() {
    if (frames_) frames_->Break();
  }
  void CutOff(std::uint64_t until_ns);

 private:
  using Link = std::shared_ptr<SimLink>;

  void OnStart(const StartOrder& order, const std::string& spec) override;
  void OnEnd(const EndOrder& order) override;
  void OnWelcome(const Link& link) override;
  void OnBegin(JobId job, Epoch epoch, std::uint32_t processes) override;
  void OnRelease(JobId job, Epoch epoch, std::vector<std::byte> release) override;

  void Arrive(const SimNode& node) override;
  void SendBegin(const SimNode& node) override;
  void Tell(std::function<void(SimCoordinator&)> event) override;

  void Register();
  void OnRegistered(WorkerId id, const Link& control);
  void Abandon();
  void Connect();
  void Beat(const Link& link);
  void ToCoordinator(const Link& link, std::function<void(SimCoordinator&)> say);
  void OnFrame(const SimFrame& frame);
  void OnDelivered(const SimFrame& frame);
  SimNode* Find(JobId job, Epoch epoch);
  bool cut_off() const { return loop_.now_ns() < cut_off_until_ns_; }

  SimLoop& loop_;
  SimOracle& oracle_;
  Identity identity_;
  FindCoordinator coordinator_;
  SimStreams streams_;
  WorkerId id_{0};
  Link control_;  ///< From registration until either side gives up.
  Link frames_;
  bool welcome_ = false;
  std::uint64_t cut_off_until_ns_ = 0;
  std::map<JobId, std::shared_ptr<SimNode>> nodes_;
  std::map<std::pair<JobId, Epoch>, std::uint32_t> early_begins_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_WORKER_H_
