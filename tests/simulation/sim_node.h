// The processes of one job on one simulated machine, and the bsp-host that starts and kills them:
// what HostedJob asks for (worker's job_host.h) happens here, some time later, around the worker's
// NodeExchange. The processes compute, print, send, arrive, answer gets, save themselves and end.
// They live on while the daemon is paused or dead, up to a barrier that they have no lease to pass.
#ifndef TESTS_SIMULATION_SIM_NODE_H_
#define TESTS_SIMULATION_SIM_NODE_H_

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "net/frame.h"
#include "proto/host.pb.h"
#include "proto/workers.pb.h"
#include "runtime/link/bulk_plan.h"
#include "runtime/link/lane_barrier.h"
#include "runtime/link/link.h"
#include "tests/simulation/sim_bulk.h"
#include "tests/simulation/sim_lanes.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_node_host.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_program.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/sim_streams.h"
#include "worker/core/hosted_job.h"
#include "worker/core/job_host.h"
#include "worker/exchange/direct_barrier.h"
#include "worker/exchange/lane_keeper.h"
#include "worker/exchange/node_exchange.h"

namespace bspnow {

/// From a process to its daemon.
inline constexpr std::uint64_t kBellNs = 2 * kMicrosecond;

class SimNode final : public worker::JobHost, private SimLaneEnd {
 public:
  /// What can be paused.
  struct Actors {
    SimLoop::ActorPtr daemon;
    SimLoop::ActorPtr processes;
  };
  /// What all nodes of a worker share; outlives them.
  struct Parts {
    SimLoop& loop;
    SimOracle& oracle;
    SimStreams& streams;
    SimLanes& lanes;
    SimNodeHost& host;
    Actors actors;
  };

  SimNode(const Parts& parts, worker::HostedJob& job);
  ~SimNode() override;
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;

  // ---- Orders of HostedJob.

  void Prepare() override;
  void StopPreparing() override;
  void BringFilesOnly() override;
  absl::Status Start(std::uint64_t lease_until_ns) override;
  void Send(const proto::HostOrder& order) override;
  bool TakeInput(const proto::Input& input) override;
  void SetLease(std::uint64_t until_ns) override;
  void OrderImage(const proto::TakeCheckpoint& order) override;
  void ReleaseHeld(std::uint64_t checkpoint) override;
  void LookAgain(std::uint64_t) override {}  // Its processes are in no groups.
  void SayAgain() override {}
  proto::HeldJob Progress() const override;
  void StopExchange() override;
  void Clear(Left kept) override;

  // ---- Faults. False if none of its processes is there.

  /// SIGKILL to one of its processes.
  bool KillOne();
  /// SIGKILL to bsp-host: its processes go with it.
  bool KillHost();
  /// The daemon is dead. bsp-host sees that and kills the processes, a moment later; at once if the
  /// whole machine has lost power.
  void OnDaemonDead(std::uint64_t delay_ns);
  /// Its machine has another address.
  void OnMoved() { lanes_.OnMoved(Place(self())); }

  // ---- What comes.

  /// No older epoch of the job is here any more.
  void PrepareAfterOlder();
  void OnBegin(std::uint32_t processes);
  void OnRelease(std::span<const std::byte> release);
  void OnFrame(const SimFrame& frame);
  void OnCoordinatorReconnected();

  // ---- To look at.

  JobId job() const { return job_; }
  Epoch epoch() const { return epoch_; }
  bool abandoned() const { return hosted_.abandoned(); }
  /// Frames of the job are taken.
  bool exchanging() const { return exchanging_; }
  /// No process of it runs any more.
  bool gone() const { return gone_; }
  std::vector<std::uint32_t> PidsTakingPart() const;
  /// Its start waits for what does not come.
  bool hangs() const { return hangs_for_good_ && *waits_for_files_; }

 private:
  struct Process {
    SimState state;
    std::uint64_t received = 0;  ///< In this superstep.
    bool left = false;
    SimArea area{};
    std::vector<SimProgram::Message> puts{};  ///< To other nodes, in this superstep.
    std::unique_ptr<SimBulk> bulk{};
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
    std::optional<std::uint64_t> number{};  ///< The oracle's, if it has one.
  };
  enum class LaneWord { kAnswers, kAsks };
  struct Time {
    std::uint64_t least_ns;
    std::uint64_t most_ns;
  };
  struct ArriveFrame {
    std::uint64_t superstep;
    std::vector<std::byte> payload;
  };

  const proto::StartJob& start() const { return hosted_.start(); }
  const proto::Host& place(std::uint32_t host) const {
    return start().hosts(static_cast<int>(host));
  }
  std::uint32_t self() const { return hosted_.node(); }
  bool has_pid_0() const { return place(self()).pids(0) == 0; }
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(start().hosts_size()); }
  std::uint32_t HostOf(std::uint32_t pid) const;
  std::uint32_t TakingPart(std::uint32_t host) const;
  SimPlace Place(std::uint32_t host) const { return {job_, epoch_, host}; }
  bool alone() const { return hosts() == 1; }
  bool resumes() const { return hosted_.resumes(); }
  /// Of the program, in which its processes are; they repeat none before the first.
  /// Of the processes here that take part.
  std::uint32_t InGroups(std::uint64_t superstep) const;
  std::uint64_t shown() const { return first_superstep_ + superstep(); }
  /// Where the processes are: their worker need not know what they pass by lanes.
  std::uint64_t SuperstepOf(std::uint64_t barrier) const {
    return barrier == 0 ? 0 : (barrier - 1) / program_.barriers_per_superstep();
  }
  bool EndsSuperstep(std::uint64_t barrier) const {
    return barrier != 0 && barrier % program_.barriers_per_superstep() == 0;
  }
  std::uint64_t left() const { return passed_ + (ahead_ ? 1 : 0); }
  std::uint64_t superstep() const { return SuperstepOf(left()); }
  std::uint64_t released_superstep() const { return SuperstepOf(left() - 1); }
  bool released_ends_superstep() const { return EndsSuperstep(left() - 1); }
  std::uint32_t Released() const { return static_cast<std::uint32_t>(passed_); }
  bool repeats(std::uint64_t superstep) const { return resumes() && superstep == 0; }
  /// Its processes say at the barrier that is next what they have registered.
  bool Registers() const {
    return EndsSuperstep(passed_) && !repeats(superstep()) && program_.registers(shown());
  }
  /// `step`, unless the processes are gone by then.
  void After(std::uint64_t delay_ns, void (SimNode::*step)());
  void OnProcesses(std::uint64_t delay_ns, std::function<void()> event);
  /// Nothing if the daemon is dead by then, or does not know the job any more.
  void OnDaemon(std::uint64_t delay_ns, std::function<void()> event);
  void Report(proto::WorkerEvent event);
  void SendBegin();
  void SendArrive(std::uint64_t barrier);
  void Perform(const worker::NodeExchange::Actions& actions);
  std::vector<std::byte> EncodeArrival() const;

  void BeginPreparing();
  void PrepareWithin(const Time& time);
  void Prepared();
  void NotPrepared();
  void FindImages(proto::RestoreFailed& failed);
  void BeginProcesses();
  void FailToResume();
  void Learn(std::uint32_t processes);
  void BeginIfAllThere();
  void Compute();
  void PrepareSuperstep();
  void PrepareVotes(std::uint64_t s);
  void Print(std::uint32_t pid);
  void Grant(std::uint64_t bytes);
  void SendEarly();
  bool PutByBulkLanes();
  void EnterSync(std::uint32_t pid);
  void OnPutsOver(std::uint32_t pid);
  void SendPuts(std::uint32_t pid);
  std::vector<SimBulk::Lane> BulkLanesOf(std::uint32_t pid) const;
  void TakePuts(std::uint32_t pid);
  void SendMessage(const Outgoing& outgoing, std::uint64_t s);
  void Transmit(std::uint32_t host, SimFrame frame);
  void ReachBarrier();
  void Arrive();
  void ReleaseAlone();
  bool Directly() const { return direct_ && exchange_.barrier() >= worker::DirectBarrier::kFirst; }
  void ArriveDirectly(const worker::BarrierCounts& counts);
  void PassDirectly();
  void TellProgress();
  void LeaveBarrier();
  void OnArrival(std::uint64_t barrier);
  SimFrame FrameOf(const Outgoing& outgoing, std::uint64_t s);
  SimFrame LentFrameOf(const Outgoing& outgoing, std::uint64_t s);
  void SetPassed(std::uint64_t barriers, const worker::BarrierCounts& counts);

  // Lanes; see sim_node_lanes.cc.
  void OnLaneFrame(std::uint32_t from_host, const SimLaneFramePtr& frame) override;
  void OnLaneBroken(std::uint32_t to_host) override;
  void JoinLanes();
  bool SendByLanes(const worker::BarrierCounts& counts);
  void ComposeForLanes();
  void SendNextByLane();
  bool SaysTheSame();
  bool SendOn(std::uint32_t barrier);
  bool HasSentOn(std::uint32_t barrier) const;
  void Drive();
  void NextOfDriver(std::uint64_t delay_ns, void (SimNode::*step)());
  void WakeDriver();
  void Pump();
  void TakeFromLane();
  void NoteTaken();
  void CompleteOrStop();
  void CompleteByLanes();
  void StopDriving();
  void PumpAgain();
  void SendAnswersByLanes();
  void ComposeAnswers();
  void SendNextAnswers();
  void DriveAnswers();
  void PumpAnswers();
  void NoteAnswersTaken();
  void PublishAnswers(std::uint32_t host, const SimLaneFrame& frame);
  void RepeatAnswers(std::uint32_t host, std::uint32_t barrier);
  bool OwesHere(std::uint32_t host) const;
  bool Enough() const;
  void GoAhead();
  void ComeBack();
  void GoOnFrom(std::uint64_t barriers, const worker::BarrierCounts& counts);
  void EndAhead();
  void NoteBroken();
  bool Done() const;
  void Complete();
  void Midway(std::uint32_t percent, std::function<void()> rest);
  void CatchUp();
  bool LeavesToWorker(const SimFrame& frame);
  void FinishFrame(const SimFrame& frame);
  void OnRepeated(const SimFrame& frame);
  void Repeat(std::uint32_t host, std::uint32_t barrier, LaneWord word);
  void SendRepeated(std::uint32_t host, const SimLaneFramePtr& frame, LaneWord word);
  void LookNowAndThen();
  void LookAfterLanes();
  void LookAfterLanesAt(std::uint32_t released);
  void HoldLanes();
  void TakeOver(std::uint64_t barrier);
  void AnswerGets();
  void SendAnswers();
  void TakeAnswers();
  void GoOnIfAnswered();
  void FinishSuperstep();
  void CheckVotes(std::uint64_t votes);
  void Save();
  void Write(std::uint64_t checkpoint, const std::map<std::uint32_t, SimImage>& images);
  void ReportImageFailed(std::uint64_t checkpoint, const std::string& reason);
  void GoOnIfReleased();
  void GoOn();
  void Leave(std::uint32_t first_pid, int status);
  void LeaveOne(std::uint32_t pid, int status, int signal);
  void KillAll();
  void Obey();
  void EndHost();

  SimLoop& loop_;
  SimOracle& oracle_;
  SimStreams& streams_;
  SimNodeHost& host_;
  const Actors actors_;
  worker::HostedJob& hosted_;
  const JobId job_;
  const Epoch epoch_;
  const SimProgram program_;
  worker::NodeExchange exchange_;
  std::optional<worker::DirectBarrier> direct_;
  proto::TakeCheckpoint arrived_order_;  ///< That its arrival names.
  std::uint64_t first_superstep_ = 0;
  std::uint32_t participants_ = 0;  ///< p, once it is known.
  bool awaits_older_ = false;
  bool stops_preparing_ = false;
  std::shared_ptr<bool> waits_for_files_{};  ///< It prepares, and may still be told not to.
  bool hangs_for_good_ = false;              ///< Unless it is told not to,
  bool files_only_ = false;                  ///< or not to start anything.
  bool exchanging_ = false;
  bool there_ = false;
  bool began_ = false;  ///< And p is known.
  bool stuck_ = false;  ///< A process is dead, and the others wait for it.
  bool gone_ = false;   ///< No process runs any more.
  bool daemon_dead_ = false;
  std::map<std::uint32_t, Process> processes_;

  std::uint64_t passed_ = 0;                ///< Barriers, by the processes,
  worker::BarrierCounts passed_counts_{};   ///< and what all brought to the last.
  worker::BarrierCounts arrived_counts_{};  ///< What these brought to the next one.

  BulkPlan bulk_plan_;
  std::uint32_t putting_ = 0;  ///< Processes that are in bsp_sync, or will be, and not yet done.
  SimLanes& lanes_;
  LaneState lane_state_{};
  LaneBarrier lane_;
  std::optional<worker::LaneKeeper> keeper_;  ///< The job may have lanes.
  bool lanes_ready_ = false;                  ///< Everywhere, at the barrier that is released.
  bool driving_ = false;
  bool enough_ = false;
  bool drives_answers_ = false;    ///< Of the barrier before driven_barrier_.
  bool takes_first_ = false;       ///< Answers, whatever has become of the lanes.
  bool answers_by_lanes_ = false;  ///< One of the processes is about to send them, or sends them.
  bool stopped_ = false;           ///< The worker, in the middle of what it does for the job.
  std::deque<std::function<void()>> after_stop_;
  /// The processes went on from the barrier that comes after passed_, and may wait for its end.
  bool ahead_ = false;
  bool came_back_ = false;
  bool leaves_ahead_ = false;    ///< They are about to go on so,
  bool received_ahead_ = false;  ///< and have not read these messages yet.
  std::vector<SimFrame> messages_ahead_;
  std::vector<Outgoing> outbox_before_;  ///< What they sent in that superstep.
  bool asleep_ = false;                  ///< Who drives.
  std::uint64_t driver_turn_ = 0;        ///< Its next step; older ones are not made.
  std::uint32_t driven_barrier_ = 0;
  std::uint32_t taken_from_ = 0;  ///< The frame that it reads.
  LaneArrival taken_{};
  std::uint32_t lanes_sent_ = 0;  ///< To so many hosts, of this barrier.
  std::set<std::pair<std::uint32_t, std::uint32_t>> sent_on_;  ///< Of it: to whom, whose head.
  std::uint64_t hurry_ = 1;  ///< How much faster than time its keeper's clock is.
  struct LaneOfHost {
    std::vector<SimLaneFramePtr> stage;  ///< Come, not read.
    bool broken = false;
    std::array<SimLaneFramePtr, 2> in, out, repeated;  ///< By parity of the barrier.
    SimLaneFramePtr answers_out, answers_in, answers_repeated;
  };
  std::vector<LaneOfHost> lane_hosts_;

  std::vector<Outgoing> outbox_;     ///< Of this superstep; what is sent is removed.
  std::vector<std::uint64_t> sent_;  ///< In this superstep, by host.
  /// By superstep: frames that the worker sends from where the processes have what they owe.
  std::map<std::uint64_t, std::vector<std::uint64_t>> lent_;
  std::vector<std::uint64_t> owed_;
  std::array<ArriveFrame, 2> arrives_;  ///< By parity of the barrier.
  std::uint64_t lease_until_ns_ = 0;
  bool waits_for_lease_ = false;
  /// As bsp-host has it, and less of it: programs that print wait for the coordinator's log.
  static constexpr std::int64_t kCreditBytes = 2000;
  std::int64_t credit_bytes_ = kCreditBytes;
  bool waits_for_credit_ = false;

  /// By superstep: a peer may be one ahead.
  std::map<std::uint64_t, std::vector<SimFrame>> inbox_;
  std::map<std::uint64_t, std::map<std::uint32_t, std::vector<Request>>> asked_;  ///< Then host.
  std::map<std::uint32_t, std::uint64_t> answers_{};  ///< What gets of this superstep find.
  bool leaving_ = false;                              ///< A barrier that is over, and not yet left.
  bool in_gets_ = false;                              ///< Between that and the next superstep.
  bool answering_ = false;                            ///< Own answers are not given yet.
  std::set<std::uint32_t> awaits_;                    ///< Hosts whose answers are missing.

  ReleaseBody release_{};
  proto::TakeCheckpoint wanted_;  ///< By OrderImage.
  std::string no_room_;           ///< Why images are refused; empty: they are not.
  std::uint64_t ordered_ = 0;     ///< The newest checkpoint that its processes were to take.
  std::uint64_t writing_ = 0;     ///< The checkpoint that is being written.
  std::uint64_t holds_ = 0;       ///< The checkpoint that holds its processes.
  ImageOrder image_{};            ///< That releases them.
  const std::shared_ptr<int> alive_ = std::make_shared<int>();  ///< Of events that come later.
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_NODE_H_
