// What a worker does for the lanes of a job (runtime/link/lane.h), which its processes drive: takes
// over a barrier that some node has left to its worker; and when a lane fails, takes all of them,
// for good. Pure, one for each job and epoch. Frames are the owner's; here they are barriers.
//
// A lane can fail in silence: what is sent into it is swallowed. So who has waited long at a
// barrier sends its frames once more, by its worker, and asks the others for theirs; and who lacks
// one, though its worker has it, knows that a lane has failed: once all have come to the barrier,
// for a head comes by way of others, which may be late themselves.
#ifndef WORKER_EXCHANGE_LANE_KEEPER_H_
#define WORKER_EXCHANGE_LANE_KEEPER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "runtime/link/lane_barrier.h"

namespace bspnow::worker {

class LaneKeeper {
 public:
  static constexpr std::uint64_t kPatienceNs = kNsPerS;
  static constexpr std::uint64_t kOnTheWayNs = kPatienceNs / 8;  ///< A head, at most, by lanes.

  LaneKeeper(const LaneBarrier& lanes, std::uint32_t self, std::uint32_t hosts)
      : lanes_(lanes), self_(self), hosts_(hosts), repeated_(hosts), answers_(hosts) {}

  /// What is due, in this order.
  struct Actions {
    bool shut_down = false;  ///< The connections: no process uses them any more.
    bool repeat = false;     ///< Send Repeatable() frames to all other nodes, and ask for theirs.
    bool repeat_answers = false;  ///< Send them those of the barrier that was passed last.
    bool install = false;   ///< Put the frames for which TakeRepeated() and the answers for which
                            ///< TakeAnswers() is true where they belong.
    bool complete = false;  ///< Complete that barrier, and release it.
    /// No process is in a lane from now on: what is released stays so until a worker releases. Look
    /// what it is, and call again.
    bool look_again = false;
  };

  /// A part of that barrier has come from another node by its worker. True: the worker carries the
  /// barrier from now on; its processes have arrived.
  bool OnPartByWorker(std::uint32_t barrier) {
    // Before they are on, too: it may be for the first barrier of theirs.
    return lanes_.LeaveToWorker(barrier);
  }

  /// A frame has come by the other node's worker. True: keep it, in place of an older one of the
  /// same parity.
  bool OnRepeated(std::uint32_t host, std::uint32_t barrier, std::uint32_t released);

  /// The same, of answers to gets.
  bool OnAnswers(std::uint32_t host, std::uint32_t barrier, std::uint32_t released);

  /// Now and then, when a process says that a lane is broken, and after OnRepeated. `released`:
  /// barriers that are passed here.
  Actions Look(std::uint32_t released, std::uint64_t now_ns);

  /// For each host and parity, after an action `install`: the frame that is kept goes to `in`. Then
  /// call Look again.
  bool TakeRepeated(std::uint32_t host, std::uint32_t parity, std::uint32_t released);

  /// The same, for each host, of the answers that are kept. Then make them readable.
  bool TakeAnswers(std::uint32_t host, std::uint32_t released);

  /// This node's frame of that barrier lies in `out`, and may be lacking elsewhere: a peer can be
  /// one barrier behind.
  bool Repeatable(std::uint32_t barrier, std::uint32_t released) const;

  bool off() const { return lanes_.off(); }

 private:
  struct Kept {
    bool any = false;
    std::uint32_t barrier = 0;
  };
  bool Useful(const Kept& kept, std::uint32_t host, std::uint32_t released) const;
  bool UsefulAnswers(const Kept& kept, std::uint32_t host, std::uint32_t released) const;
  bool AnyUseful(std::uint32_t released) const;
  bool AllHaveCome(std::uint32_t released) const;
  bool LanesFailed(std::uint32_t released, std::uint64_t now_ns);

  LaneBarrier lanes_;
  std::uint32_t self_;
  std::uint32_t hosts_;
  std::vector<std::array<Kept, 2>> repeated_;  ///< By host, then parity of the barrier.
  std::vector<Kept> answers_;                  ///< By host.
  bool settled_ = false;                       ///< Off, and no process is in a lane.
  bool answers_repeated_ = false;              ///< Those of the barrier before waits_for_.
  enum class Waits { kForNothing, kForAnswers, kForFrames };
  Waits waits_ = Waits::kForNothing;  ///< At waits_for_, since waits_since_ns_.
  std::uint32_t waits_for_ = 0;
  std::uint64_t waits_since_ns_ = 0;
  std::uint64_t repeated_ns_ = 0;  ///< When its frames were repeated, or it began to wait.
  /// Since when all nodes are known to have come to waits_for_.
  std::optional<std::uint64_t> all_came_ns_;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_LANE_KEEPER_H_
