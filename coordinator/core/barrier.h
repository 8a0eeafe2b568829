// When one barrier of a group is over: a pure state machine, of one job's epoch. Its owner has
// looked up job, epoch and group, and sends what it says. Costs O(workers) a barrier, and allocates
// nothing once it has run for two. See "A superstep over several nodes" in docs/design.md.
//
// Invariant: a barrier is released when every worker that hosts a process below p has arrived at
// it, and only then; so no worker is ever more than one barrier ahead of another.
//
// A coordinator that was restarted adopts the epochs that run. Each worker then says again at which
// barriers it arrived: the one at which it waits, then the last that it passed. The least of their
// newest is one at which all have arrived: it is released again, for those who did not hear of it.
#ifndef COORDINATOR_CORE_BARRIER_H_
#define COORDINATOR_CORE_BARRIER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "net/frame.h"
#include "net/frame_body.h"

namespace bspnow::coordinator {

/// A worker that hosts processes of the job.
struct BarrierHost {
  WorkerId worker;
  std::vector<Pid> pids;
};

/// What the processes are to do at the end of a bsp_sync: ImageOrder in runtime/link/link.h.
struct ReleaseDirective {
  std::uint64_t checkpoint = 0;  ///< 0: nothing.
  std::uint64_t base = 0;
  std::uint32_t hold = 0;
};

enum class EpochOrigin {
  kStarted,  ///< By this coordinator: nobody has passed a barrier.
  kAdopted,  ///< It ran when this coordinator started.
};

/// An epoch, as far as its barriers go.
struct BarrierPlan {
  std::uint32_t nprocs;
  std::vector<BarrierHost> hosts;  ///< Together they have the pids 0 to nprocs - 1, each once.
  std::uint32_t participants = 0;  ///< p of an epoch that resumes; 0: bsp_begin will tell.
  EpochOrigin origin = EpochOrigin::kStarted;
  /// From the second barrier on its nodes release themselves. The only other one of which something
  /// is heard is that after bsp_end: it brings sums.
  bool direct = false;
};

/// What an event means for the one that sends for the barrier.
enum class BarrierVerdict {
  kNothing,    ///< Counted, or seen before.
  kTellBegin,  ///< Send Begin to all hosts but the one it came from.
  kRelease,    ///< Send release(host) to all hosts that take part.
  kRepeat,     ///< Send release(host) again to the one that asks.
  kRefused,    ///< The worker contradicts itself or others: see refusal().
};

class Barrier {
 public:
  explicit Barrier(BarrierPlan plan);

  /// bsp_begin's number of processes, from pid 0's worker.
  BarrierVerdict OnBegin(WorkerId from, std::uint32_t processes);
  /// Of an adopted epoch: it had resumed from a checkpoint. Before anybody arrives.
  void OnResumed();
  BarrierVerdict OnArrive(WorkerId from, const ArriveView& arrive);

  /// Why the last event was refused: what the worker said and what was expected.
  const char* refusal() const { return refusal_; }

  /// p; 0 before OnBegin.
  std::uint32_t processes() const { return processes_; }
  /// The one that is waited for; counts from bsp_begin's, which is 0.
  std::uint64_t current() const { return current_; }

  std::size_t hosts() const { return hosts_.size(); }
  WorkerId worker(std::size_t host) const { return workers_[host]; }
  bool takes_part(std::size_t host) const { return takes_part_[host] != 0; }
  /// hosts() if it is none.
  std::size_t HostOf(WorkerId worker) const;

  /// Payload of the last Release for this host. Valid until the next event.
  std::span<const std::byte> release(std::size_t host) const;

  /// All had left bsp_end before the barrier that was released last: nobody waits for it.
  bool over() const { return over_; }

  /// Whether the barrier that was released last may carry a checkpoint: it ends a superstep of the
  /// program, nobody is in bsp_end or has another group open, and none can have passed it before.
  bool may_checkpoint() const { return may_checkpoint_; }
  /// Puts it into all its releases. Before they are sent.
  void Direct(const ReleaseDirective& directive);

  /// What all measured in the superstep that ended before the last released barrier; nullptr if
  /// nothing (bsp_begin's barrier).
  const SuperstepSums* sums() const;

 private:
  struct Host {
    WorkerId worker;
    std::vector<Pid> pids;
    bool has_pid_0;
    std::uint32_t processes = 0;                   ///< Of pids, those below p.
    std::uint64_t arrived = 0;                     ///< Barriers at which it has arrived.
    std::array<std::vector<std::byte>, 2> held{};  ///< Its newest Arrives, while adopting.
    std::uint64_t newest = 0;                      ///< Barrier of the newest of these, + 1.
  };

  /// What is known of one barrier; two, because the last one's releases may be asked for again.
  struct Phase {
    ReleaseBody totals;
    std::uint32_t arrived = 0;  ///< Hosts.
    std::uint32_t ends_superstep = 0;
    std::vector<std::byte> ending;
    std::vector<std::vector<PeerOwed>> owed;       ///< By host: who sends it what.
    std::vector<std::vector<std::byte>> releases;  ///< By host, once all have arrived.
    SuperstepSums sums;
    bool has_sums = false;
  };

  BarrierVerdict Refuse(const char* why);
  void SetParticipants(std::uint32_t processes);
  void SkipTo(std::uint64_t barrier);
  BarrierVerdict Hold(std::size_t from, const ArriveView& arrive);
  BarrierVerdict Adopt();
  static std::optional<ArriveView> HeldAt(const Host& host, std::uint64_t barrier);
  const char* Contradiction(const Host& host, const ArriveView& arrive);
  const char* PeersContradiction(std::size_t from, const ArriveView& arrive);
  void Count(std::size_t from, const ArriveView& arrive);
  void CountEnding(const Host& host, const ArriveView& arrive, Phase& phase);
  void Finish(Phase& phase);
  void Open(Phase& phase);

  std::uint32_t nprocs_;
  bool resumes_;
  bool direct_;
  bool adopting_;  ///< The barrier at which the workers are is not known yet.
  bool may_checkpoint_ = false;
  bool repeated_ = false;  ///< The superstep with which an epoch resumes is over.
  bool ended_ = false;     ///< bsp_end's barrier was released,
  bool over_ = false;      ///< and another one since.
  std::vector<Host> hosts_;
  std::vector<std::pair<WorkerId, std::size_t>> by_worker_;  ///< Sorted.
  // By host, for the many entries of a total exchange:
  std::vector<WorkerId> workers_;
  std::vector<char> takes_part_;         ///< It has processes below p.
  std::vector<std::uint64_t> named_by_;  ///< The last arrival that named it.
  std::uint32_t taking_part_ = 0;
  std::uint32_t processes_ = 0;
  std::uint64_t current_ = 0;
  std::uint64_t next_superstep_ = 0;  ///< Whose sums have not been given yet.
  std::array<Phase, 2> phases_;
  std::vector<std::size_t> peers_;  ///< Hosts of the entries of the Arrive at hand.
  std::uint64_t arrivals_ = 0;      ///< That have been checked.
  const char* refusal_ = "";
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_BARRIER_H_
