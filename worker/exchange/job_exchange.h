// One group of a job of several nodes, on this one: looks at the processes' bell, asks NodeExchange
// what to do, and does it with BatchSource (out), BatchInbox (in) and the streams to the other
// nodes. The coordinator knows of the root group alone; of another one the nodes release
// themselves.
#ifndef WORKER_EXCHANGE_JOB_EXCHANGE_H_
#define WORKER_EXCHANGE_JOB_EXCHANGE_H_

#include <absl/status/status.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/frame_body.h"
#include "net/frame_check.h"
#include "net/sending_stream.h"
#include "runtime/link/lane_barrier.h"
#include "runtime/link/lane_completion.h"
#include "runtime/link/lane_frame.h"
#include "runtime/link/link_segment.h"
#include "worker/exchange/batch_inbox.h"
#include "worker/exchange/batch_source.h"
#include "worker/exchange/direct_barrier.h"
#include "worker/exchange/exchange_fault.h"
#include "worker/exchange/job_plan.h"
#include "worker/exchange/job_shape.h"
#include "worker/exchange/job_streams.h"
#include "worker/exchange/lane_keeper.h"
#include "worker/exchange/node_exchange.h"

namespace bspnow::worker {

/// Has the exchanges of all jobs.
class JobExchangeOwner {
 public:
  /// Lost if there is no connection.
  virtual void SendToCoordinator(const FrameHeader& header, std::span<const std::byte> payload) = 0;
  /// The job cannot go on. Must not destroy the JobExchange.
  virtual void ReportBroken(JobId job, Epoch epoch, ExchangeFault fault,
                            const std::string& reason) = 0;
  /// This node's lanes to all others are open.
  virtual bool LanesReady() { return false; }
  /// All nodes' are: its processes get them. False: they cannot, and there are none any more.
  [[nodiscard]] virtual bool HandLanesOver() { return true; }
  /// No process uses them any more.
  virtual void ShutDownLanes(const std::string& /*reason*/) {}

 protected:
  ~JobExchangeOwner() = default;
};

class JobExchange {
 public:
  /// The segment of the plan and `peers` are the owner's and stay.
  JobExchange(const JobPlan& plan, PlannedGroup group, WorkerId self, PeerStreams& peers,
              JobExchangeOwner& owner);

  const JobPlan& plan() const { return plan_; }
  const JobShape& shape() const { return shape_; }
  bool alone() const { return plan_.hosts.size() == 1; }
  /// Its coordinator hears of its supersteps from here, now and then.
  bool tells_progress() const { return alone() || (direct_ && shape_.IsHere(0)); }
  ProgressBody Progress();

  // ---- The processes here

  /// Handles what the bell says; true if there was anything.
  bool Poll();
  /// From now on the processes ring the doorbell, or no longer. True: there is something to do.
  bool Sleep();
  void Awake();

  // ---- The coordinator

  void OnBegin(std::uint32_t nprocs);
  FrameFault OnRelease(std::span<const std::byte> payload);
  void OnCoordinatorReconnected();
  /// Of a job whose nodes release themselves: at the next barrier that finds all of them told.
  void OrderImage(const ImagePlan& order);
  /// Unless an arrival has named it: this one and older ones are wanted no more.
  void WithdrawImage(std::uint64_t checkpoint);
  ImageWait image_wait() const;
  /// Its processes are gone: if they left by bsp_end, what the last superstep took is told, too.
  void OnRemoved();

  // ---- The other nodes

  /// The number of hosts: the worker has no part in this job.
  std::uint32_t HostOf(WorkerId worker) const { return streams_.HostOf(worker); }
  std::span<std::byte> Place(std::uint32_t host, const FrameHeader& header,
                             const BatchPiece& piece);
  FrameFault OnBatch(std::uint32_t host, const FrameHeader& header, const BatchPiece& piece,
                     std::span<const std::byte> data);
  void OnDelivered(std::uint64_t token);

  // ---- Lanes, of the root group

  /// Now and then, and when a process says that one is broken.
  void LookAfterLanes();

  // ---- A group but for the root group

  /// Pids, in the group, of other nodes that have arrived at that barrier, as is known here.
  std::vector<std::uint32_t> HeardFrom(std::uint64_t barrier) const;

  /// That host's worker knows the group.
  void OnGroupHere(std::uint32_t host);
  /// The processes here have left it. True: nobody needs its memory again. Else asks the others,
  /// for an acknowledgement, and OnDelivered is called when there is one.
  bool Leave();
  bool left() const { return left_; }
  /// After that: its memory counts no more.
  bool ReturnMemory() { return inbox_.ReturnMemory(); }

  /// The job exchanges nothing more.
  void Break(ExchangeFault fault, const std::string& reason);

 private:
  /// Of kGroupLeft; the others are BatchSource's.
  static constexpr std::uint64_t kGroupLeftToken = std::uint64_t{1} << 62;
  /// Half of the numbers of barriers: a difference of so many is one of something ahead.
  static constexpr std::uint32_t kLongAgo = std::uint32_t{1} << 31;

  struct BellWords {
    std::uint32_t barriers = 0;
    std::uint32_t answers = 0;
    std::uint32_t handed = 0;
    std::uint32_t begun = 0;
    std::uint32_t broken_lanes = 0;

    friend bool operator==(const BellWords&, const BellWords&) = default;
  };

  BellWords ReadBell() const;
  void OnBegun();
  void OnResumed();
  void OnArrival(std::uint32_t barriers);
  bool Collect(const BarrierCounts& counts);
  void OnAnswers(std::uint32_t answers);
  void SendHanded();
  void SendAnswers();
  void SendFrames();
  bool IsRoot() const { return shape_.group == kRootGroup; }
  void SendInGroup(std::uint32_t host, std::vector<OutgoingBatch>& frames);
  void TellHosts(BatchContent content, std::uint64_t token);
  FrameFault OnGroupWord(std::uint32_t host, const BatchPiece& piece,
                         std::span<const std::byte> data);
  void EncodeArrival();
  std::span<const std::byte> EndingHere(const BarrierCounts& counts);
  void SendArrive(std::uint64_t barrier);
  void SendBegin();
  bool Directly() const { return direct_ && exchange_.barrier() >= DirectBarrier::kFirst; }
  void ArriveDirectly(const BarrierCounts& counts);
  void PassDirectly();
  void Perform(const NodeExchange::Actions& actions);
  void Prune();
  void Release();
  void TakeLanes();
  void TurnLanesOn(std::uint64_t barrier);
  void CatchUp();
  bool IsOld(std::uint32_t barriers) const;
  void TakeOver(std::uint64_t barrier);
  bool LeavesToWorker(std::uint64_t superstep, NodeExchange::FrameClass frame_class);
  FrameFault OnLaneFrame(std::uint32_t host, const BatchPiece& piece,
                         std::span<const std::byte> data);
  void SendLaneFrame(std::uint32_t host, std::uint32_t barrier, std::uint64_t asks);
  void SendLaneAnswers(std::uint32_t host, std::uint32_t barrier);
  void SendLaneCopy(std::uint32_t host, std::vector<std::byte> copy, std::uint64_t asks);
  void InstallLaneFrames();
  void CompleteByFrames(std::uint32_t barrier);
  void HoldToGiveBack();
  void WakeDriver();
  std::uint32_t Released() const {
    return segment_.header().barrier.released.value.load(std::memory_order_acquire);
  }
  void PassOrder(BarrierPhase& phase);
  void TakeAnswers();
  FrameHeader Header(FrameKind kind) const;
  BarrierPhase& phase(std::uint64_t barrier) const {
    return segment_.header().barrier.phases[barrier & 1];
  }

  const JobPlan plan_;
  JobExchangeOwner& owner_;
  const Segment part_;  ///< Of a group but for the root group.
  const Segment& segment_;
  JobShape shape_;
  JobStreams streams_;
  NodeExchange exchange_;
  std::optional<DirectBarrier> direct_;
  std::vector<std::uint32_t> taking_part_;  ///< By host; of use if direct_.
  ImagePlan order_{};                       ///< The newest; checkpoint 0: there was none.
  ImagePlan arrived_order_{};               ///< That the arrival names.
  std::uint64_t image_chances_ = 0;         ///< As in ImageWait.
  SuperstepTotals totals_{};                ///< Of the supersteps that passed directly.
  BatchSource source_;
  BatchInbox inbox_;
  BellWords seen_;
  bool broken_ = false;
  struct GroupHost {
    bool knows = false;               ///< Its worker has the group.
    std::vector<OutgoingBatch> held;  ///< Until then.
  };
  std::vector<GroupHost> group_hosts_;  ///< By host; empty of the root group.
  struct Lanes {
    LaneBarrier barrier;
    LaneKeeper keeper;
    LaneShape shape;
    /// Frames that came by workers: by host, then parity of the barrier.
    std::vector<std::array<std::vector<std::byte>, 2>> repeated;
    std::vector<std::vector<std::byte>> answers;  ///< The same of answers to gets, by host.
  };
  std::optional<Lanes> lanes_;  ///< The job may have some.
  bool lanes_ready_ = false;    ///< At the barrier that is being released, everywhere.
  bool said_here_ = false;
  bool left_ = false;
  /// The newest superstep of which frames were sent, + 1; and up to where they are pruned.
  std::uint64_t sent_ = 0;
  std::uint64_t pruned_ = 0;
  BatchSource::Frames frames_;
  std::vector<std::uint64_t> owed_;  ///< By host.
  /// The newest two, by parity of the barrier: a coordinator that was restarted needs them again.
  struct SentArrive {
    FrameHeader header;
    std::vector<std::byte> payload;
  };
  std::array<SentArrive, 2> arrives_;
  ReleaseBody release_{};  ///< Of this barrier, if it is known.
  std::vector<PeerOwed> peers_;
  std::vector<std::byte> ending_;
  std::vector<AnswerRequest> requests_;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_JOB_EXCHANGE_H_
