// What decides at a barrier of lanes (lane.h): who carries it, who drives, when it is complete. No
// socket, and no memory but the words of LaneState: the processes of a node, its worker and the
// simulation of both run this.
#ifndef RUNTIME_LINK_LANE_BARRIER_H_
#define RUNTIME_LINK_LANE_BARRIER_H_

#include <cstdint>

#include "runtime/link/lane.h"

namespace bspnow {

/// Whether an image could be taken at a barrier, for all that this node's processes say of it: none
/// is, if some are in another group, too.
enum class ImageAt { kMaybe, kNo };

/// What a node has to send another, in one piece: the heads of these hosts, a bit each.
struct LaneRelay {
  std::uint32_t to = 0;
  std::uint32_t heads = 0;
};

/// Of a frame that has come.
struct LaneArrival {
  std::uint32_t by;    ///< On the lane of this host,
  std::uint32_t host;  ///< whose frame it is not, if this host sent another's head on.
  std::uint32_t barrier;
  std::uint32_t direct;
};

class LaneBarrier {
 public:
  LaneBarrier() = default;
  /// Of node number `self` of `hosts`.
  LaneBarrier(LaneState& state, std::uint32_t self, std::uint32_t hosts)
      : state_(&state), self_(self), hosts_(hosts) {}

  LaneState& state() const { return *state_; }

  /// Barrier number `barrier` may be completed by lanes, for all that is known here.
  bool MayCarry(std::uint32_t barrier, ImageAt image) const;

  // ---- The last process to arrive

  /// It may send this node's frames. If not, the barrier is the worker's.
  [[nodiscard]] bool BeginSending(std::uint32_t barrier, ImageAt image);
  /// They lie in `out`. From now on this node's part of the barrier is in its lanes. To the hosts
  /// `direct` it sends its frame itself.
  void NoteComposed(std::uint32_t barrier, std::uint32_t direct);
  /// They do not fit: the barrier is the worker's.
  void GiveUpSending();
  /// They are sent, or a lane is broken.
  void EndSending();

  // ---- Who drives

  /// The lanes are its own until StopDriving.
  [[nodiscard]] bool TryToDrive(std::uint32_t pid);
  void StopDriving();
  /// The barrier is the worker's, or the lanes are.
  bool MustStop(std::uint32_t barrier) const;
  bool Lacks(std::uint32_t host, std::uint32_t barrier) const;
  bool LacksAny(std::uint32_t barrier) const;
  /// A frame lies in `in`. False: it is of no barrier that can come now, and is not looked at.
  bool CanCome(std::uint32_t barrier, std::uint32_t released) const;
  /// The frame is to lie in `in`. False: this node has it, or its host sends another one itself.
  bool Takes(const LaneArrival& frame, std::uint32_t released) const;
  void NoteHere(const LaneArrival& frame);
  void NoteHere(std::uint32_t host, std::uint32_t barrier);
  /// Every node's frame is here, and this node's own is sent.
  bool Complete(std::uint32_t barrier) const;
  /// The same, and nobody waits for what this node has to send on: who drives may complete it.
  bool Finished(std::uint32_t barrier) const;
  /// This node's part of the barrier is in its lanes, and no later one is.
  bool Sent(std::uint32_t barrier) const;
  /// This node's frames of the barrier lie in `out`.
  bool Composed(std::uint32_t barrier) const;
  /// The same, after a copy of them was made: the copy is whole.
  bool StillComposed(std::uint32_t barrier) const;
  bool LeftToWorker(std::uint32_t barrier) const;

  // ---- Heads that go by way of others

  /// By who sends or drives, after NoteComposed: whether something is to be sent on now. It is
  /// taken to be sent.
  [[nodiscard]] bool TakeRelay(std::uint32_t barrier, LaneRelay& relay);
  /// The node that sends on the head of `host`; or that itself.
  std::uint32_t SourceOf(std::uint32_t host) const;
  /// From where the frame of `host` is to be expected: as at the barrier before.
  std::uint32_t LikelySource(std::uint32_t host, std::uint32_t barrier) const;
  /// Hosts, a bit each, on whose lanes something may come that is lacking.
  std::uint32_t Awaited(std::uint32_t barrier) const;

  // ---- Gets

  /// A part of this node's frames of the barrier lies in heaps of processes (LanePieces).
  void NotePieces(std::uint32_t barrier);
  /// This node's frame of the barrier asks that host for something.
  void NoteAsked(std::uint32_t host, std::uint32_t barrier);
  /// Frames completed the barrier, and there are gets: the answers go by lanes, too.
  void NoteGets(std::uint32_t barrier);
  bool HasGets(std::uint32_t barrier) const;
  bool LacksAnswers(std::uint32_t host, std::uint32_t barrier) const;
  bool LacksAnyAnswers(std::uint32_t barrier) const;
  /// They lie in `answers_in`, checked.
  void NoteAnswersHere(std::uint32_t host, std::uint32_t barrier);
  /// The last process here to answer: as BeginSending and NoteComposed, of `answers_out`.
  void BeginAnswers();
  void NoteAnswers(std::uint32_t barrier);
  bool HasAnswers(std::uint32_t barrier) const;
  bool StillHasAnswers(std::uint32_t barrier) const;
  /// It may send them by lanes, until EndSending. If not, the worker will.
  [[nodiscard]] bool BeginSendingAnswers();

  // ---- Supersteps that end by counting

  /// The processes here may go on from that barrier before it is over, as far as what they sent
  /// before is concerned.
  bool MayGoAhead(std::uint32_t barrier) const;
  /// Who drives: the frames of these hosts, a bit each, are all that the processes here wait for.
  /// They go on, though the barrier is not over. It does not drive any more.
  void GoAhead(std::uint32_t barrier, std::uint32_t hosts);
  bool IsAhead(std::uint32_t barrier) const;
  /// A process waits for the end of a barrier that it left so.
  void ComeBack(std::uint32_t barrier);
  /// The processes here went ahead of it, and none waits for its end.
  bool Unattended(std::uint32_t barrier) const;

  // ---- The worker

  /// Barrier `barrier` found all nodes ready: the next one is the lanes'.
  void TurnOn(std::uint32_t barrier);
  /// At least every 2^29 barriers, with one that has been passed: the worker's words count on.
  void KeepUp(std::uint32_t barrier);
  bool on() const { return state_->on_from.load(std::memory_order_acquire) != 0; }
  bool broken() const { return state_->broken.load(std::memory_order_relaxed) != 0; }
  bool off() const { return state_->off.load(std::memory_order_acquire) != 0; }
  /// Some node has left the barrier to its worker. True: all processes of this node have arrived at
  /// it by lanes, and nobody may ring for it: the worker takes it from here, unless it is over.
  bool LeaveToWorker(std::uint32_t barrier);
  void TurnOff();
  /// After TurnOff: no process sends or drives any more, and the worker may.
  bool Abandoned() const;

 private:
  /// The host `places` before this one, in the ring of hosts.
  std::uint32_t Before(std::uint32_t places) const { return (self_ + hosts_ - places) % hosts_; }

  LaneState* state_ = nullptr;
  std::uint32_t self_ = 0;
  std::uint32_t hosts_ = 0;
};

}  // namespace bspnow

#endif  // RUNTIME_LINK_LANE_BARRIER_H_
