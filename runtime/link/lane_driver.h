// This process's hand on the lanes of its node (lane.h). The last process to arrive at a barrier
// sends the node's frames, and then receives the others'; the processes that came before it wait
// for their release as ever. Of the root group.
#ifndef RUNTIME_LINK_LANE_DRIVER_H_
#define RUNTIME_LINK_LANE_DRIVER_H_

#include <poll.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "base/poll_wait.h"
#include "runtime/link/bulk_plan.h"
#include "runtime/link/doorbell.h"
#include "runtime/link/known_descriptor.h"
#include "runtime/link/lane_barrier.h"
#include "runtime/link/lane_completion.h"
#include "runtime/link/lane_frame.h"
#include "runtime/link/lane_handing.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

/// Bulk lanes of processes of this node.
struct BulkSockets {
  struct Lane {
    Pid pid{};  ///< At the other end.
    KnownDescriptor socket;
  };
  std::uint32_t count = 0;
  Lane of[kBulkLanesMax];
  bool trusted = false;  ///< LaneHanding::trusted
};

class LaneDriver {
 public:
  /// For process `self` of a job that has lanes, or may get some. `mailbox`: where they come.
  void Attach(const Segment& segment, Pid self, const Doorbell& doorbell,
              const KnownDescriptor& mailbox);

  /// After Attach: what who waits here sees to meanwhile.
  void SeeTo(const SideWork& side) { side_ = side; }

  /// What is waited for at a barrier: its end, or the messages that processes here expect.
  enum class Until { kOver, kCounted };

  /// All processes here have arrived at the barrier. True: this node's part is in its lanes. False:
  /// ring the worker.
  [[nodiscard]] bool Send(std::uint32_t barrier, Until until);

  /// After Send: until the barrier is complete, and released, or is the worker's; or the processes
  /// here may go ahead of it. Then wait for that in any case.
  void Drive(std::uint32_t barrier, Until until);

  // ---- Gets

  /// The answers to the gets of that barrier go by lanes.
  bool HasGets(std::uint32_t barrier) const {
    return area_ != nullptr && barrier_.HasGets(barrier);
  }
  /// Such a barrier is over, and all processes here have answered: sends the answers.
  void SendAnswers(std::uint32_t barrier);
  /// Such a barrier is over: until this node has all answers that its processes asked for, if
  /// nobody else sees to that. By who sends them, who drove the lanes at the barrier, and all that
  /// await some: then somebody does.
  void DriveAnswers(std::uint32_t barrier);

  // ---- Supersteps that end by counting

  /// Whether the processes here may go on from that barrier, before it is over.
  bool MayGoAhead(std::uint32_t barrier) const {
    return area_ != nullptr && barrier_.IsAhead(barrier);
  }
  /// May change when it does; then the counter of barriers that were released is woken.
  Watched AheadNews() const;
  /// The messages for this process at such a barrier, of processes on other nodes: see
  /// FindLaneMessages.
  void FindMessages(std::uint32_t barrier, LaneMessages* by_source) const;
  /// At the end of the superstep after: until that barrier is over, as Drive.
  void ComeBack(std::uint32_t barrier);
  /// Whether the next barrier may be theirs.
  bool Carry() const {
    return area_ != nullptr && barrier_.on() && !barrier_.off() && !barrier_.broken();
  }
  /// The job has lanes, or may get some.
  bool attached() const { return area_ != nullptr; }

  // ---- Bulk lanes

  /// Whether there are any, now that lanes are on.
  bool HasBulk();
  const BulkSockets& bulk() const { return bulk_; }

  /// The descriptors that it has, and -1 for each other.
  void Name(int (&numbers)[kLanesMax + kBulkLanesMax]) const {
    for (std::uint32_t i = 0; i < kLanesMax; ++i) numbers[i] = lanes_of_others_[i].NumberIfOurs();
    for (std::uint32_t i = 0; i < kBulkLanesMax; ++i) {
      const bool own = i < bulk_.count;
      const BulkSockets::Lane& lane = own ? bulk_.of[i] : bulk_near_.of[i - bulk_.count];
      numbers[kLanesMax + i] = lane.socket.NumberIfOurs();
    }
  }

 private:
  /// The worker wakes who sleeps. A program that closed the bell is not woken, and looks.
  static constexpr std::uint64_t kSleepNs = 20'000'000;
  static void Poll(pollfd* sources, std::uint32_t count, std::uint64_t ns_max);

  enum class Sent { kWhole, kBroken };
  enum class Waited { kPolling, kAsleep };

  std::uint32_t Others() const { return shape_.hosts - 1; }
  const KnownDescriptor& lane(std::uint32_t host) const {
    return lanes_of_others_[host < shape_.self ? host : host - 1];
  }
  bool MayCarry(std::uint32_t barrier, Until until);
  bool Compose(std::uint32_t barrier, Until until);
  bool HasLanes();
  void TakeFromMailbox();
  void KeepBulk(const BulkPlan& plan, HandedBulkLanes& handed);
  void GiveUp(LaneFault fault);
  LaneRoute RouteOfHeads(std::uint32_t barrier);
  void SendDirect(std::uint32_t barrier);
  void SendOn(std::uint32_t barrier);
  Sent SendTo(std::uint32_t host, iovec* parts, std::uint32_t count, std::uint32_t barrier);
  void AwaitRoom(std::uint32_t host, std::uint32_t barrier);
  void Drain(std::uint32_t barrier);
  bool Pump(std::uint32_t barrier, Until until);
  void Adapt(Waited waited, std::uint64_t start_ns);
  bool Enough(std::uint32_t barrier, Until until);
  std::uint32_t HostsHere(std::uint32_t barrier) const;
  bool Done(std::uint32_t barrier) const;
  void ReceiveNext(std::uint32_t barrier);
  void ReceiveAny(std::uint32_t barrier);
  bool Receive(std::uint32_t host, std::uint32_t barrier);
  std::uint32_t ReceiveTo(std::uint32_t host, std::byte* to, std::uint32_t bytes_max);
  bool BeginLong(std::uint32_t host, std::uint32_t barrier);
  bool ReceiveLong(std::uint32_t host, std::uint32_t barrier);
  bool TakeLong(std::uint32_t host);
  bool TakeFrames(std::uint32_t host, std::uint32_t barrier);
  bool TakeFrame(const LaneArrival& arrival, std::uint32_t barrier, const std::byte* frame);
  void TakeAnswers(std::uint32_t host, std::uint32_t barrier, const std::byte* frame,
                   std::uint32_t bytes);
  template <typename Over>
  void Sleep(std::uint32_t hosts, std::uint32_t barrier, std::uint64_t ns_max, const Over& over);
  std::uint64_t SeeToSide() const;
  void NameNear(pollfd* sources) const;
  void WakeNear(const pollfd* sources);

  LaneShape shape_;
  LaneArea* area_ = nullptr;
  LaneBarrier barrier_;
  Pid self_{};
  std::uint32_t here_ = 0;  ///< Processes of this node.
  Doorbell doorbell_;
  KnownDescriptor mailbox_;
  bool taken_ = false;  ///< From the mailbox, or in vain.
  KnownDescriptor lanes_of_others_[kLanesMax];
  BulkSockets bulk_;       ///< This process's.
  BulkSockets bulk_near_;  ///< Those of the others here: who drives wakes whom something comes for.
  std::uint32_t woken_ = 0;  ///< Of these, a bit each, while it drives: that was done.
  SideWork side_;
  LaneRoute route_ = LaneRoute::kAsOwed;  ///< As at the barrier `route_looked_at_`,
  std::uint32_t route_looked_at_ = 0;
  bool route_known_ = false;         ///< if that was ever looked at.
  bool receives_ = true;             ///< While it sends: nobody else drives.
  std::uint32_t counted_hosts_ = 0;  ///< Whose frames did not hold enough, a bit each.
  std::uint64_t poll_ns_max_ = 0;    ///< As PollWait has them.
  std::uint64_t poll_ns_ = 0;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_LANE_DRIVER_H_
