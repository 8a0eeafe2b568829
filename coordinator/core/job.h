// A job: all that the coordinator knows of it, in one object.
#ifndef COORDINATOR_CORE_JOB_H_
#define COORDINATOR_CORE_JOB_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/core/jobs/placement.h"
#include "coordinator/core/jobs/process_ends.h"
#include "coordinator/core/jobs/scheduler.h"
#include "coordinator/core/live_job.h"

namespace bspnow::coordinator {

/// Where an epoch begins.
struct ResumePoint {
  bool from_start = true;
  Superstep superstep{0};  ///< As it is shown; meaningful unless from_start.
  /// p, of processes that are put back into bsp_sync: higher pids have left. 0: all processes run
  /// from `main`.
  std::uint32_t participants = 0;
};

/// A node that could not start the job. Others might: it is avoided for a while.
struct RefusedStart {
  std::string reason;
  std::uint64_t avoid_until_ns;  ///< 0: no longer.
};

/// Until it has ended it waits; or runs, from placement until all its hosts have
/// cleared it away; or is suspended.
struct Job {
  explicit Job(JobRecord stored)
      : record(std::move(stored)), claim(SlotClaimOf(spec())), ends(spec().nprocs()) {}

  JobRecord record;
  SlotClaim claim;
  ProcessEnds ends;                      ///< Of this epoch.
  bool durable = false;                  ///< Accepted: may be placed.
  bool changed = false;                  ///< Before it was accepted: is stored then.
  bool ran = false;                      ///< Has been started before.
  bool started = false;                  ///< The StartOrder of this epoch is out,
  bool clearing = false;                 ///< and so are its EndOrders.
  bool epoch_ran = false;                ///< Processes of this epoch have run: see MayHaveRun.
  bool only_unbegun = false;             ///< Is to start again only if no process has begun.
  bool syncing = false;                  ///< Is ending, once what it printed is durable.
  bool client_left = false;              ///< Meanwhile; it is not to run again.
  bool interrupted = false;              ///< Has been asked to end, and has until deadline_ns.
  bool loss_open = false;                ///< The last of its losses is not overcome.
  bool attached_before = false;          ///< An earlier epoch made BSP calls.
  std::uint64_t lost_ns = 0;             ///< When that loss came, or it was found in the journal,
  std::uint64_t lost_before_ms = 0;      ///< so long after it.
  std::uint64_t deadline_ns = kNoEnd;    ///< Of its time limit, or of the grace.
  std::uint64_t runs_since_ns = kNoEnd;  ///< All its processes run; kNoEnd: they do not.
  std::uint64_t run_before_ms = 0;       ///< Run in earlier epochs, and before a restart.
  std::uint64_t stored_ns = 0;           ///< When it was last given to the journal.
  std::uint64_t start_by_ns = kNoEnd;    ///< For `not_resumed` to start its processes,
  std::uint64_t start_within_ns = 0;     ///< for which they have so long in all.
  std::uint64_t clear_by_ns = kNoEnd;    ///< For `hosts_left` to clear it away.
  std::uint64_t clearing_since_ns = 0;   ///< If it is `clearing`.
  std::uint64_t return_ns = kNoEnd;      ///< For `awaited` to come back.
  std::uint64_t retry_ns = 0;            ///< Not to be placed before; 0: at once.
  Epoch epoch_seen{0};                   ///< The newest that a worker has named.
  bool input_stored = false;             ///< The journal has that it took input.
  std::uint32_t failed_starts = 0;       ///< Since processes ran, as are these, by node:
  std::map<std::string, RefusedStart> refused_by{};
  std::optional<QueuePlace> place{};    ///< In the queue, while it may be placed.
  std::set<JobId> awaits{};             ///< Of spec().after: have to end before it is placed.
  std::uint64_t due_ns = kNoEnd;        ///< As the table has noted it: see DueNs.
  std::vector<NodeShare> shares{};      ///< Where it is placed.
  std::vector<WorkerId> hosts_left{};   ///< That have not cleared it away.
  std::vector<WorkerId> awaited{};      ///< Of these: have not returned after a restart.
  std::vector<WorkerId> not_resumed{};  ///< Where its processes do not run yet.
  /// After a restart: where processes of this epoch may have begun, for all that is known.
  std::vector<WorkerId> may_have_begun{};
  std::string idle_node{};  ///< One that is back, and on which it does not go on; empty: none.
  std::string begun_on{};   ///< Of only_unbegun, a node that had begun; empty: none.
  ResumePoint resume_point{};
  std::unique_ptr<LiveJob> live{};  ///< Until it has ended.

  JobId id() const { return IdOf(record); }
  Epoch epoch() const { return EpochOf(record); }
  const proto::Job& shown() const { return record.job(); }
  proto::Job& shown() { return *record.mutable_job(); }
  const proto::JobSpec& spec() const { return record.job().spec(); }
  proto::JobState state() const { return record.job().state(); }
  bool waits() const {
    const bool may = state() == proto::WAITING || state() == proto::RECOVERING;
    return may && durable && !started && record.hosts().empty();
  }
  bool MayHaveRun() const { return epoch_ran || !may_have_begun.empty(); }
  /// When time alone will change something.
  std::uint64_t DueNs() const {
    std::uint64_t due = std::min({deadline_ns, return_ns, start_by_ns, clear_by_ns});
    if (retry_ns != 0) due = std::min(due, retry_ns);
    for (const auto& [node, refused] : refused_by)
      if (refused.avoid_until_ns != 0) due = std::min(due, refused.avoid_until_ns);
    return due;
  }
  /// As proto::Job::run_ms.
  std::uint64_t RunMs(std::uint64_t now_ns) const {
    return run_before_ms + (now_ns > runs_since_ns ? (now_ns - runs_since_ns) / kNsPerMs : 0);
  }
  /// The same of this epoch alone.
  std::uint64_t EpochRunMs(std::uint64_t now_ns) const {
    const std::uint64_t run_ms = RunMs(now_ns);
    return run_ms - std::min(run_ms, record.run_ms_before());
  }
};

/// From submission on; of ended ones, the newest (kEndedJobsMax).
using Jobs = std::map<JobId, Job>;

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOB_H_
