// All jobs of the coordinator, from submission to end: a pure state machine. Events go in (with the
// time); what the rim must do comes out as JobOrders.
//
// What must survive a restart is stored before it is acted upon: a job is acknowledged, started and
// announced as ended only after OnStored of that transition. So an acknowledged submission is never
// lost, and none runs twice. See "Jobs" in docs/design.md.
#ifndef COORDINATOR_JOB_TABLE_H_
#define COORDINATOR_JOB_TABLE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "coordinator/job.h"
#include "coordinator/scheduler.h"

namespace bspnow {

enum class JobPhase : std::uint32_t {  // Stored: never renumber.
  kWaiting = 1,
  kRunning = 2,
  kEnding = 3,  ///< Being cleared away on its nodes; its files are being collected.
  kSucceeded = 4,
  kFailed = 5,
  kCancelled = 6,
};

constexpr bool HasEnded(JobPhase phase) { return phase >= JobPhase::kSucceeded; }

/// What the table must know of a JobSpec.
struct JobRequest {
  SlotClaim claim;
  std::int32_t priority;
  std::uint64_t time_limit_s;  ///< 0: none.
  bool attached;               ///< Ends when its client leaves.
  bool collects_files;         ///< What pid 0 leaves in the job's directory is kept.
  std::string spec;            ///< The serialized JobSpec; the table only keeps it.
};

/// Monotonic time for deadlines, wall time for lists.
struct Moment {
  std::uint64_t now_ns;
  std::int64_t unix_ms;
};

/// What is stored and shown of one job.
struct JobRecord {
  JobId id{};
  std::string submission_key{};
  std::string spec{};
  JobPhase phase = JobPhase::kWaiting;
  std::string reason{};  ///< Why it waits or failed.
  int exit_status = 0;
  Epoch epoch{0};
  std::vector<NodeShare> shares{};        ///< Where it runs or ran; in the order of pids.
  std::vector<std::string> node_names{};  ///< Of `shares`.
  std::int64_t submitted_unix_ms = 0;
  std::int64_t started_unix_ms = 0;
  std::int64_t ended_unix_ms = 0;
  bool never_attached = false;
  std::string totals{};  ///< Of a job that has ended: whatever the rim gave to SetTotals.
};

struct StartOrder {
  JobId job;
  Epoch epoch;
  std::vector<NodeShare> hosts;  ///< Tell each of them; and the barrier server.
};

struct EndOrder {
  WorkerId worker;
  JobId job;
  Epoch epoch;
  bool keep_files;
};

struct SignalOrder {
  WorkerId worker;
  JobId job;
  Epoch epoch;
  int signal;
};

struct LauncherLine {
  JobId job;
  std::string text;  ///< "bsprun: ...\n", for the job's standard error.
};

/// To be written to the journal, in this order; answer with OnStored or OnStoreFailed.
struct JobTransition {
  std::uint64_t sequence;
  JobRecord record;  ///< Replaces what is stored of this job.
};

/// What the rim must do now, each list in its order; lines before ends.
struct JobOrders {
  std::vector<JobTransition> store;
  std::vector<StartOrder> starts;
  std::vector<SignalOrder> signals;
  std::vector<EndOrder> ends;
  std::vector<LauncherLine> lines;
  std::vector<JobId> accepted;  ///< Durable: answer SubmitJob.
  std::vector<JobId> refused;   ///< Could not be stored: answer SubmitJob with the error.
  std::vector<JobId> cleared;   ///< Left all nodes: tell the barrier server.
  std::vector<JobId> ended;     ///< Durable: answer WaitJob, end followers.

  void Append(JobOrders more);
};

/// Ended jobs that are kept; the oldest is forgotten for the next.
inline constexpr std::size_t kEndedJobsMax = 10'000;

class JobTable {
 public:
  /// Ids continue from `next_job`.
  explicit JobTable(JobId next_job) : next_job_(Value(next_job)) {}

  // ---- After a restart: before anything else. ---------------------------------------------------

  /// Waiting jobs wait again; those that ran fail. `request` is what record.spec says.
  JobOrders Restore(const JobRecord& record, const JobRequest& request, const Moment& at);

  // ---- Clients. ---------------------------------------------------------------------------------

  struct Submission {
    JobId job;
    bool known;     ///< The key was used before: this is that job.
    bool accepted;  ///< It is durable already: answer now. Else wait for `accepted` or `refused`.
    JobOrders orders;
  };
  Submission OnSubmit(const JobRequest& request, const std::string& submission_key,
                      const Moment& at);
  JobOrders OnCancel(JobId job, const std::string& why, const Moment& at);
  /// For all processes. SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE end the job: it has two
  /// seconds to clean up, and the second such signal ends it at once.
  JobOrders OnSignal(JobId job, int signal, const Moment& at);
  JobOrders OnClientLeft(JobId job, const Moment& at);

  // ---- The journal. -----------------------------------------------------------------------------

  /// All transitions up to `sequence` are durable.
  JobOrders OnStored(std::uint64_t sequence, const Moment& at);
  /// This one is not, and will not be.
  JobOrders OnStoreFailed(std::uint64_t sequence, const std::string& why, const Moment& at);

  // ---- Nodes. -----------------------------------------------------------------------------------

  /// A node of the same name that was lost is replaced.
  JobOrders OnNodeUp(const SchedulerNode& node, const Moment& at);
  JobOrders OnNodeLoad(WorkerId worker, double load);
  JobOrders OnDrained(WorkerId worker, const Moment& at);
  JobOrders OnUndrained(WorkerId worker, const Moment& at);
  /// Its jobs fail: "worker w3 lost at superstep 812: lease expired". `superstep_of` of each job
  /// that runs there, as the barrier server knows it.
  JobOrders OnNodeLost(WorkerId worker, const std::string& why,
                       const std::map<JobId, Superstep>& superstep_of, const Moment& at);

  // ---- What workers report. Those of older epochs, and of jobs that have ended, change nothing. -

  JobOrders OnBegun(JobId job, Epoch epoch, Pid pid, const Moment& at);
  JobOrders OnExited(JobId job, Epoch epoch, Pid pid, const ProcessEnd& end, const Moment& at);
  JobOrders OnNotStarted(JobId job, Epoch epoch, const std::string& reason, int exit_status,
                         const Moment& at);
  /// The job cannot go on: an arena was damaged, a protocol error.
  JobOrders OnBroken(JobId job, Epoch epoch, const std::string& reason, const Moment& at);
  /// Before the last OnCleared of a job, so that its end is stored with it.
  void SetTotals(JobId job, std::string totals);
  JobOrders OnCleared(JobId job, Epoch epoch, WorkerId worker, const Moment& at);

  // ---- Time. ------------------------------------------------------------------------------------

  /// When OnTime is due next; kNoEnd if never.
  std::uint64_t next_deadline_ns() const;
  JobOrders OnTime(const Moment& at);

  // ---- To look at. ------------------------------------------------------------------------------

  const JobRecord* Find(JobId job) const;
  const JobRecord* FindByKey(const std::string& submission_key) const;
  std::vector<const JobRecord*> records() const;  ///< By id.
  std::size_t CountIn(JobPhase phase) const;

  struct NodeView {
    const SchedulerNode* node;
    std::uint32_t slots_used;
    std::vector<JobId> jobs;
  };
  std::vector<NodeView> nodes() const;  ///< Those that are up or drained, by worker id.
  JobId next_job() const { return JobId{next_job_}; }

 private:
  /// What is due when a transition is durable.
  enum class Due { kAccept, kStart, kEnd, kNothing };
  enum class Drain { kDrained, kOpen };

  struct Pending {
    std::uint64_t sequence;
    JobId job;
    Epoch epoch;  ///< Of the placement, for kStart.
    Due due;
  };

  struct Entry {
    JobRecord record;
    JobRequest request;
    Job job;
    bool durable = false;                ///< Accepted: may be placed.
    bool started = false;                ///< The StartOrder of this epoch is out.
    bool cancelled = false;              ///< By its user.
    bool interrupted = false;            ///< Has been asked to end, and has until deadline_ns.
    std::uint64_t deadline_ns = kNoEnd;  ///< Of its time limit, or of the grace.
    std::vector<WorkerId> hosts_left{};  ///< That have not cleared it away.
  };

  /// One event: what it causes is collected there.
  class Event;

  JobOrders SetDrained(WorkerId worker, Drain drain, const Moment& at);

  std::uint64_t next_job_;
  std::uint64_t last_sequence_ = 0;
  std::map<JobId, Entry> entries_;
  std::unordered_map<std::string, JobId> by_key_;
  std::map<WorkerId, SchedulerNode> nodes_;
  std::set<JobId> waiting_;     ///< Those that may be placed.
  std::vector<JobId> running_;  ///< Those that hold slots, in the order in which they were placed.
  std::deque<JobId> ended_;     ///< In the order in which they ended; bounded.
  std::deque<Pending> pending_;
};

}  // namespace bspnow

#endif  // COORDINATOR_JOB_TABLE_H_
