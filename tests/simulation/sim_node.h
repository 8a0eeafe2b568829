// One node of one simulated job: its processes compute, send, arrive, answer gets, and end, around
// the worker's NodeExchange.
#ifndef TESTS_SIMULATION_SIM_NODE_H_
#define TESTS_SIMULATION_SIM_NODE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "coordinator/job_table.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_program.h"
#include "tests/simulation/sim_streams.h"
#include "worker/node_exchange.h"

namespace bspnow {

class SimNode;

/// What a node needs of its worker.
class SimNodeRim {
 public:
  /// Say to the coordinator what node.exchange().arrival() says.
  virtual void Arrive(const SimNode& node) = 0;
  virtual void SendBegin(const SimNode& node) = 0;
  /// An event, by the control stream.
  virtual void Tell(std::function<void(SimCoordinator&)> event) = 0;

 protected:
  ~SimNodeRim() = default;
};

class SimNode : public std::enable_shared_from_this<SimNode> {
 public:
  struct Plan {
    StartOrder order;
    std::uint32_t self;  ///< Index in order.hosts.
    SimProgram program;
  };

  SimNode(SimLoop& loop, SimOracle& oracle, SimStreams& streams, SimNodeRim& rim, Plan plan);

  /// Its processes are started, and some time later are there.
  void Start();
  /// All are killed: the coordinator hears of those that were not gone.
  void End(WorkerId self);
  /// Killed without a word.
  void Abandon();

  void OnBegin(std::uint32_t processes);
  void OnRelease(std::span<const std::byte> release);
  void OnFrame(const SimFrame& frame);
  void OnDelivered() { Perform(exchange_.OnDelivered(1)); }
  void OnCoordinatorReconnected();

  JobId job() const { return plan_.order.job; }
  Epoch epoch() const { return plan_.order.epoch; }
  const StartOrder& order() const { return plan_.order; }
  std::uint32_t processes() const { return processes_; }
  std::uint32_t taking_part() const { return TakingPart(plan_.self); }
  const NodeExchange& exchange() const { return exchange_; }

 private:
  const std::vector<Pid>& pids() const { return plan_.order.hosts[plan_.self].pids; }
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(plan_.order.hosts.size()); }
  std::uint32_t TakingPart(std::uint32_t host) const;
  SimPlace Place(std::uint32_t host) const { return {.job = plan_.order.job, .host = host}; }
  /// `step`, unless the processes are gone by then.
  void After(std::uint64_t delay_ns, void (SimNode::*step)());
  void Perform(const NodeExchange::Actions& actions);

  void Learn(std::uint32_t processes);
  void BeginIfAllThere();
  void Compute();
  void SendEarly();
  void Send(std::uint32_t host, NodeExchange::FrameClass frame_class, std::uint64_t s);
  void ReachBarrier();
  void OnReleased();
  void AnswerGets();
  void SendAnswers();
  void TakeAnswers();
  void GoOnIfAnswered();
  void GoOn();
  void Leave(std::uint32_t first_pid, Reached reached, int status);
  std::uint64_t Owed(std::uint32_t host) const;

  SimLoop& loop_;
  SimOracle& oracle_;
  SimStreams& streams_;
  SimNodeRim& rim_;
  Plan plan_;
  NodeExchange exchange_;
  std::uint32_t processes_ = 0;  ///< p, once it is known.
  bool there_ = false;
  bool gone_ = false;
  std::vector<bool> left_;           ///< By index in pids().
  std::vector<std::uint64_t> sent_;  ///< In this superstep, by host.
  std::uint64_t unread_puts_ = 0;
  bool at_barrier_ = false;         ///< What is sent now may be read from a process when it goes.
  bool in_gets_ = false;            ///< Between a release and the next superstep.
  bool answering_ = false;          ///< Own answers are not given yet.
  std::set<std::uint32_t> awaits_;  ///< Hosts whose answers are missing.
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_NODE_H_
