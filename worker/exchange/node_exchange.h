// What one node of a job does between its processes' arrival at a barrier and their release: the
// pure core of the superstep path (docs/design.md, "A superstep, step by step"). Events go in,
// actions come out; sockets, memory and clocks are the data plane's. One for each job, epoch and
// group.
//
// A peer can be one superstep ahead: released by its Release while ours is still on its way. So
// what comes is counted by the parity of the superstep. Nobody can be two ahead, because that takes
// our own arrival at the barrier between.
#ifndef WORKER_EXCHANGE_NODE_EXCHANGE_H_
#define WORKER_EXCHANGE_NODE_EXCHANGE_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace bspnow::worker {

/// How many processes brought what to a barrier; see BarrierPhase in runtime/link/link.h.
struct BarrierCounts {
  std::uint32_t data;
  std::uint32_t gets;
  std::uint32_t votes;
  std::uint32_t ending;
  std::uint32_t groups = 0;
  std::uint32_t by_count = 0;

  friend bool operator==(const BarrierCounts&, const BarrierCounts&) = default;
};

/// Hosts are the workers of a job, by their number in it.
struct NodeExchangePlan {
  std::uint32_t self;
  std::uint32_t hosts;
  /// With BSP_CHECK=full a superstep has two barriers, and only the second one ends it.
  std::uint32_t barriers_per_superstep;
  /// 1 of a group that has none like bsp_begin's.
  std::uint64_t first_barrier = 0;
};

class NodeExchange {
 public:
  /// What must be done now, in this order. "Release" means: publish what came in this superstep,
  /// store global_counts(), let the processes go; before it, forget what was sent in the superstep
  /// before (`prune`).
  struct Actions {
    bool arrive = false;         ///< Send Arrive, as arrival() says.
    bool arrive_before = false;  ///< Send again that of the last barrier that was passed.
    bool prune = false;          ///< Nobody needs a frame of a superstep below pruned() again.
    bool release = false;        ///< Of barrier released_barriers() - 1, of released_superstep().
    bool send_answers = false;   ///< To those of whom Asked() says so, of answers_superstep().
    bool take_answers = false;   ///< TakeAnswered() is true for some host.
  };

  struct Arrival {
    std::uint64_t barrier;
    std::uint64_t superstep;
    BarrierCounts counts;
    std::vector<std::uint64_t> frames;  ///< Owed to each host in this superstep.
  };

  /// Of several pieces in one frame the last class counts; those of answers come with no others.
  enum class FrameClass {
    kArrival,     ///< Not counted: see DirectBarrier.
    kBatch,       ///< Counted, and owed before the release.
    kGets,        ///< The same, and its sender awaits answers.
    kAnswers,     ///< Not counted.
    kAnswersEnd,  ///< Not counted; the last answers of its sender.
  };
  enum class Verdict {
    kTake,
    kStale,       ///< Of a superstep that is over: drop it.
    kImpossible,  ///< Nobody can be that far: the sender is wrong.
  };

  explicit NodeExchange(const NodeExchangePlan& plan);

  // ---- Events

  /// All processes of this node are at the next barrier, and owe each host these many frames.
  Actions OnLocalArrival(const BarrierCounts& counts, std::span<const std::uint64_t> frames);

  /// The coordinator says that all nodes are at `barrier`, and how many frames each host sent here.
  /// A repeated or stale Release changes nothing.
  Actions OnRelease(std::uint64_t barrier, const BarrierCounts& counts,
                    std::span<const std::uint64_t> frames);

  /// Whether a frame may be taken in; then, when it has been, what follows.
  Verdict Check(std::uint64_t superstep, FrameClass frame_class) const;
  Actions OnFrame(std::uint32_t host, std::uint64_t superstep, FrameClass frame_class);

  /// The processes of this node have answered all gets of `superstep`.
  Actions OnLocalAnswers(std::uint64_t superstep);

  /// The processes passed all barriers below `barrier` by lanes (runtime/link/lane.h), without
  /// this. Nothing changes if that is known, or if they wait at one here.
  Actions OnPassed(std::uint64_t barrier);

  /// What was sent to the coordinator may be lost; it may be another one, which knows nothing of
  /// the barriers so far.
  Actions OnCoordinatorReconnected();

  // ---- State

  /// The barrier that the processes of this node reach next, or wait at.
  std::uint64_t barrier() const { return barrier_; }
  /// The superstep that they are in, and whether that barrier ends it. bsp_begin's is before
  /// superstep 0 and ends none.
  std::uint64_t superstep() const { return SuperstepOf(barrier_); }
  bool ends_superstep() const { return EndsSuperstep(barrier_); }
  bool waiting() const { return arrived_; }
  /// Its Release is here; frames may be missing.
  bool release_known() const { return release_known_; }
  const Arrival& arrival() const { return arrival_; }
  const BarrierCounts& global_counts() const { return global_; }
  std::uint64_t released_superstep() const { return SuperstepOf(barrier_ - 1); }
  bool released_ends_superstep() const { return EndsSuperstep(barrier_ - 1); }
  /// Barriers passed.
  std::uint64_t released_barriers() const { return barrier_; }
  std::uint64_t pruned() const { return pruned_; }
  std::uint64_t answers_superstep() const { return answers_superstep_; }
  /// Whether that host sent gets in answers_superstep().
  bool Asked(std::uint32_t host) const;
  /// True once when the host's answers in the superstep that was released last are complete.
  bool TakeAnswered(std::uint32_t host);
  std::uint64_t received(std::uint32_t host, std::uint64_t superstep) const {
    return peers_[host].received[superstep & 1];
  }

 private:
  struct Peer {
    std::array<std::uint64_t, 2> received{};  ///< Counted frames, by parity of their superstep.
    std::array<std::uint64_t, 2> asked{};     ///< s + 1: gets were among those of s.
    std::uint64_t owed = 0;                   ///< As the Release of this barrier says.
    std::uint64_t answered = 0;               ///< s + 1: its answers of s are complete.
    std::uint64_t answers_taken = 0;
  };

  std::uint64_t SuperstepOf(std::uint64_t barrier) const {
    return barrier == 0 ? 0 : (barrier - 1) / plan_.barriers_per_superstep;
  }
  bool EndsSuperstep(std::uint64_t barrier) const {
    return barrier != 0 && barrier % plan_.barriers_per_superstep == 0;
  }
  bool MayRelease() const;
  Actions ReleaseIfDue();

  NodeExchangePlan plan_;
  std::vector<Peer> peers_;
  std::uint64_t barrier_;
  bool arrived_ = false;
  bool release_known_ = false;  ///< The Release of this barrier is here.
  Arrival arrival_;
  BarrierCounts global_{};
  std::uint64_t pruned_ = 0;
  std::uint64_t answers_superstep_ = 0;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_NODE_EXCHANGE_H_
