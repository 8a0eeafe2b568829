// One node of one epoch of a simulated job: its processes compute, print, send, arrive, answer
// gets, save themselves and end, around the worker's NodeExchange. The processes live on while the
// daemon is paused, up to a barrier that they have no lease to pass.
#ifndef TESTS_SIMULATION_SIM_NODE_H_
#define TESTS_SIMULATION_SIM_NODE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "coordinator/core/barrier.h"
#include "coordinator/core/jobs/job_table.h"
#include "net/frame.h"
#include "proto/workers.pb.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_program.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/sim_streams.h"
#include "worker/exchange/node_exchange.h"

namespace bspnow {

using coordinator::NodeShare;
using coordinator::Reached;
using coordinator::ReleaseDirective;

class SimNode;

/// From a process to its daemon.
inline constexpr std::uint64_t kBellNs = 2 * kMicrosecond;

/// What a node needs of its worker.
class SimNodeHost {
 public:
  /// A frame to the coordinator, if there is a stream.
  virtual void SendOfJob(const SimNode& node, FrameKind kind, std::uint64_t superstep,
                         std::span<const std::byte> payload) = 0;
  virtual void Report(proto::WorkerEvent event) = 0;
  /// Makes images durable, or says why not; some time later.
  virtual void Settle(JobId job, std::uint64_t number, std::map<std::uint32_t, SimImage> images,
                      std::function<void(const std::string&)> settled) = 0;
  virtual void Discard(JobId job, std::uint64_t number) = 0;
  /// The image, from here or a holder; nothing if it is not to be had undamaged.
  virtual std::optional<SimImage> Collect(JobId job, const proto::Resume& resume,
                                          const proto::ImageOfPid& image) = 0;

 protected:
  ~SimNodeHost() = default;
};

class SimNode : public std::enable_shared_from_this<SimNode> {
 public:
  /// What can be paused.
  struct Actors {
    SimLoop::ActorPtr daemon;
    SimLoop::ActorPtr processes;
  };
  struct Plan {
    JobId job;
    Epoch epoch;
    std::vector<NodeShare> hosts;
    std::uint32_t self;  ///< Index in hosts.
    SimProgram program;
    std::optional<proto::Resume> resume;
    Actors actors;
  };
  static Plan PlanOf(const proto::StartJob& start, WorkerId self, Actors actors);

  SimNode(SimLoop& loop, SimOracle& oracle, SimStreams& streams, SimNodeHost& host, Plan plan);

  // ---- Orders.

  /// Its processes are started, and some time later are there.
  void Start();
  /// All are killed: the coordinator hears of those that were not gone. Then `cleared`.
  void End(std::function<void()> cleared);
  /// Given up: killed, and nothing is said. It may take a while.
  void Abandon();
  /// At once, with the daemon.
  void Die();
  void TakeCheckpoint(const ReleaseDirective& directive);
  void ReleaseHeld(std::uint64_t checkpoint);
  /// SIGKILL to one of its processes. False if none is there.
  bool KillOne();

  // ---- What comes.

  void OnBegin(std::uint32_t processes);
  void OnRelease(std::span<const std::byte> release);
  void OnFrame(const SimFrame& frame);
  void OnCoordinatorReconnected();
  void OnLeaseRenewed(std::uint64_t until_ns);

  // ---- To look at.

  JobId job() const { return plan_.job; }
  Epoch epoch() const { return plan_.epoch; }
  std::uint32_t processes() const { return processes_; }
  std::uint64_t first_superstep() const { return first_superstep_; }
  bool ending() const { return ending_; }
  bool silent() const { return silent_; }
  bool gone() const { return gone_; }
  proto::HeldJob Held() const;
  std::vector<std::uint32_t> PidsTakingPart() const;

 private:
  struct Process {
    SimState state;
    std::uint64_t received = 0;  ///< In this superstep.
    bool left = false;
  };
  struct Request {
    std::uint32_t from_pid;
    std::uint32_t to_pid;
    std::uint32_t index;
  };
  struct Outgoing {
    std::uint32_t host;
    std::uint32_t from_pid;
    SimProgram::Message message;
    std::uint64_t value;
  };

  const std::vector<Pid>& pids() const { return plan_.hosts[plan_.self].pids; }
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(plan_.hosts.size()); }
  std::uint32_t nprocs() const;
  std::uint32_t HostOf(std::uint32_t pid) const;
  std::uint32_t TakingPart(std::uint32_t host) const;
  SimPlace Place(std::uint32_t host) const { return {job(), epoch(), host}; }
  bool alone() const { return hosts() == 1; }
  /// Of the program, in which its processes are; they repeat none before the first.
  std::uint64_t shown() const { return first_superstep_ + exchange_.superstep(); }
  bool repeats(std::uint64_t superstep) const { return plan_.resume && superstep == 0; }
  /// `step`, unless the processes are gone by then.
  void After(std::uint64_t delay_ns, void (SimNode::*step)());
  void OnDaemon(std::uint64_t delay_ns, std::function<void()> event);
  proto::WorkerEvent Event() const;
  void Report(proto::WorkerEvent event);
  void SendBegin();
  void SendArrive(std::uint64_t barrier);
  void Perform(const worker::NodeExchange::Actions& actions);
  std::vector<std::byte> EncodeArrival() const;

  void Restore();
  void RunProcesses();
  void ReportRunning();
  void BeginProcesses();
  void Learn(std::uint32_t processes);
  void BeginIfAllThere();
  void Compute();
  void Prepare();
  void Print(std::uint32_t pid);
  void SendEarly();
  void Send(const Outgoing& outgoing, std::uint64_t s);
  void Transmit(std::uint32_t host, SimFrame frame);
  void ReachBarrier();
  void ReleaseAlone();
  void LeaveBarrier();
  void AnswerGets();
  void SendAnswers();
  void TakeAnswers();
  void GoOnIfAnswered();
  void FinishSuperstep();
  void Save();
  void OnWritten(std::uint64_t checkpoint, const std::map<std::uint32_t, SimImage>& images);
  void OnSettled(std::uint64_t checkpoint, const std::string& failure,
                 const std::map<std::uint32_t, SimImage>& images);
  void ReportFailed(std::uint64_t checkpoint, const std::string& reason);
  void GoOnIfReleased();
  void GoOn();
  void Leave(std::uint32_t first_pid, Reached reached, int status);
  void LeaveOne(Pid pid, Reached reached, int status, int signal);

  SimLoop& loop_;
  SimOracle& oracle_;
  SimStreams& streams_;
  SimNodeHost& host_;
  Plan plan_;
  worker::NodeExchange exchange_;
  std::uint64_t first_superstep_ = 0;
  std::uint32_t processes_ = 0;  ///< p, once it is known.
  bool there_ = false;
  bool began_ = false;   ///< And p is known.
  bool gone_ = false;    ///< No process runs any more.
  bool silent_ = false;  ///< Abandoned: nobody wants to hear of it.
  bool ending_ = false;
  bool stuck_ = false;  ///< A process is dead, and the others wait for it.
  std::map<std::uint32_t, Process> processes_here_;
  std::set<Pid> begun_;
  std::vector<proto::ProcessExited> exited_;

  std::vector<Outgoing> outbox_;     ///< Of this superstep; what is sent is removed.
  std::vector<std::uint64_t> sent_;  ///< In this superstep, by host.
  std::vector<std::uint64_t> owed_;
  struct Arrive {
    std::uint64_t superstep;
    std::vector<std::byte> payload;
  };
  std::array<Arrive, 2> arrives_;  ///< By parity of the barrier.
  std::uint64_t lease_until_ns_ = 0;
  bool waits_for_lease_ = false;

  /// By superstep: a peer may be one ahead.
  std::map<std::uint64_t, std::vector<SimFrame>> inbox_;
  std::map<std::uint64_t, std::map<std::uint32_t, std::vector<Request>>> asked_;  ///< Then host.
  std::map<std::uint32_t, std::uint64_t> answers_{};  ///< What gets of this superstep find.
  bool in_gets_ = false;                              ///< Between a release and the next superstep.
  bool answering_ = false;                            ///< Own answers are not given yet.
  std::set<std::uint32_t> awaits_;                    ///< Hosts whose answers are missing.

  ReleaseBody release_{};
  ReleaseDirective wanted_{};  ///< By TakeCheckpoint.
  std::uint64_t writing_ = 0;  ///< The checkpoint that is being written.
  std::uint64_t holds_ = 0;    ///< The checkpoint that holds its processes.
  std::uint64_t released_checkpoint_ = 0;
  std::set<std::uint64_t> given_up_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_NODE_H_
