// Which waiting job starts now, and where: a pure function of the cluster's situation.
//
// Gang: a job starts when all its slots are there. First come, first served within a priority. A
// job passes others only where it delays none of them (backfill): each job that must wait is
// promised the earliest time at which it fits, by the time limits of what runs, and nobody is
// placed into a promise. See "Jobs" in docs/design.md.
#ifndef COORDINATOR_CORE_JOBS_SCHEDULER_H_
#define COORDINATOR_CORE_JOBS_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/jobs/placement.h"
#include "coordinator/core/jobs/slot_timeline.h"

namespace bspnow::coordinator {

struct RunningClaim {
  JobId job;
  const std::vector<NodeShare>* shares;
  std::uint64_t memory_bytes;  ///< Per process.
  std::uint64_t end_ns;        ///< By its time limit; kNoEnd if it has none.
};

inline constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};

/// Who comes first within a priority.
enum class Turn : std::uint32_t {
  kFirst,  ///< It ran already, and lost its place.
  kByAge,  ///< The smaller id.
};

/// In the order in which they are to be considered.
struct QueuePlace {
  std::int32_t priority;  ///< Higher starts first;
  Turn turn;              ///< within one by turn,
  JobId job;              ///< then the smaller id.

  friend bool operator<(const QueuePlace& a, const QueuePlace& b) {
    return std::tie(b.priority, a.turn, a.job) < std::tie(a.priority, b.turn, b.job);
  }
};

struct WaitingClaim {
  QueuePlace place;
  SlotClaim claim;
  std::uint64_t time_limit_ns;  ///< 0: none.
};

/// What is there, and what runs on it.
struct Situation {
  std::uint64_t now_ns;
  std::vector<const SchedulerNode*> nodes;  ///< That are up, ascending by worker id.
  std::vector<RunningClaim> running;        ///< In the order in which they started.
};

/// The end of a reason: what else helps a job that is submitted anew.
inline constexpr char kOrOversubscribe[] = " or use --oversubscribe";

/// What becomes of a waiting job now.
struct Verdict {
  enum class Kind {
    kStarts,
    kWaits,
    kNever,  ///< Not on these nodes, even if nothing ran. It holds up nobody.
  };
  Kind kind;
  std::vector<NodeShare> shares{};  ///< If it starts: pids in blocks, in the order of the shares.
  std::string reason{};             ///< Unless it starts: "needs 8 slots, 3 free".
};

/// Jobs that could start some day and are looked at in one pass; those after them wait.
inline constexpr std::size_t kBackfillDepth = 64;

/// One pass over the jobs that wait.
class Scheduler {
 public:
  /// The nodes must outlive it.
  explicit Scheduler(const Situation& situation);

  /// Of the next job in the order of their places. Not when full().
  Verdict Consider(const WaitingClaim& waiting);

  /// Whoever comes now waits for those that have been considered.
  bool full() const { return considered_ >= kBackfillDepth || trials_ >= kTrialsMax || tired(); }
  /// So many different claims have been looked at that the others are left to another pass.
  bool tired() const { return why_never_.size() >= kClaimsMax; }

 private:
  // What bounds the time that a pass takes.
  static constexpr std::size_t kClaimsMax = 256;
  static constexpr std::size_t kTrialsMax = 512;  ///< Moments tried for promises, of all jobs.

  struct Unpromised {
    WaitingClaim waiting;
    std::uint32_t slots;
  };

  std::string WhyNever(const SlotClaim& claim);
  std::string FindWhyNever(const SlotClaim& claim) const;
  std::string LackOfCpu(const SlotClaim& claim) const;
  std::string Drained(const SlotClaim& claim) const;
  std::string WaitsForFirst(const QueuePlace& place) const;
  std::string WhyNotNow(const SlotClaim& claim, std::uint32_t slots) const;
  std::string Resting(const SlotClaim& claim) const;
  std::string WithoutAccount(const SlotClaim& claim) const;
  Verdict ConsiderOne(const WaitingClaim& waiting);
  void Start(const WaitingClaim& waiting, const std::vector<NodeShare>& shares);
  bool MakePromises();
  bool Promise(const WaitingClaim& waiting, std::uint32_t slots);
  std::uint64_t EndOf(const WaitingClaim& waiting, std::uint64_t from_ns) const;

  const std::uint64_t now_ns_;
  const bool any_node_;                         ///< Is up.
  std::vector<const SchedulerNode*> nodes_;     ///< That take jobs.
  std::vector<const SchedulerNode*> drained_;   ///< That would.
  std::vector<FreeNode> whole_;                 ///< All of them, as if nothing ran.
  SlotTimeline promised_;                       ///< What runs, and promises.
  std::vector<FreeNode> free_;                  ///< Now, whatever is promised.
  std::uint64_t free_slots_ = 0;                ///< Of all of them.
  std::map<SlotClaim, std::string> why_never_;  ///< Of all claims so far; empty: they fit.
  std::uint64_t next_unknown_ns_;
  std::uint64_t next_unknown_of_waiting_ns_;
  bool unknown_promise_ = false;     ///< To a job that waits for a running one without a limit.
  std::optional<QueuePlace> first_;  ///< That waits.
  /// They wait, and are promised nothing yet: nobody after them fits now, so nobody can pass them.
  std::vector<Unpromised> unpromised_;
  std::size_t considered_ = 0;
  std::size_t trials_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_SCHEDULER_H_
