// All jobs of the coordinator, from submission to end: a pure state machine. Events go in (with the
// time); what the cluster must do comes out as JobOrders.
//
// What must survive a restart is stored before it is acted upon: a job is acknowledged, started,
// ended and announced as ended only after OnStored of that transition. So an acknowledged
// submission is never lost, and none runs twice. See "Jobs" in docs/design.md.
//
// Who starts where is decided in passes of the scheduler, one for all the events of a turn: when
// `pass_due`, the owner calls Schedule in a later turn.
//
// An epoch that is lost (a process killed by a signal, a worker gone) is cleared away on all of its
// nodes that live; only then the next one is placed, so two epochs never both advance.
#ifndef COORDINATOR_CORE_JOBS_JOB_TABLE_H_
#define COORDINATOR_CORE_JOBS_JOB_TABLE_H_

#include <absl/status/status.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/job.h"
#include "coordinator/core/jobs/job_orders.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/core/jobs/scheduler.h"
#include "coordinator/core/jobs/slot_timeline.h"
#include "coordinator/core/nodes.h"
#include "coordinator/core/quotas.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {

/// An epoch on a worker whose coordinator was restarted.
struct HeldEpoch {
  JobId job;
  Epoch epoch;
  std::uint32_t participants;  ///< p; 0: it is not known there yet.
  bool clearing;               ///< Was told to end.
  std::vector<Pid> begun;
  std::vector<std::pair<Pid, ProcessEnd>> exited;
  Superstep resumed_from{0};  ///< As in HeldJob of proto/workers.proto.
  bool put_back = false;
  bool started = false;      ///< Its processes were, in `main` or to be put back.
  bool never_began = false;  ///< No process of it was started there yet.
};

/// Ended jobs that are kept here, and up to kArchivedAtOnce more; older ones are in the history.
inline constexpr std::size_t kEndedJobsMax = 10'000;
inline constexpr std::size_t kArchivedAtOnce = 1'000;  ///< So that few writes do it.
/// For workers to come back after a restart of the coordinator.
inline constexpr std::uint64_t kReturnNs = 10'000'000'000;
/// A coordinator that looks at the time by so much too late was away itself.
inline constexpr std::uint64_t kAwayNs = 1'000'000'000;
/// Tries to start an epoch, with growing delays, before the job fails.
inline constexpr std::uint32_t kStartsMax = 16;
/// For a host to start its processes; what is larger than this takes longer by kStartNsPerByte.
inline constexpr std::uint64_t kStartNs = 300'000'000'000;
inline constexpr std::uint64_t kStartNsPerByte = 100;  // 10 MB/s: an old disk, a busy network.
/// For a host to clear an epoch away: to kill its processes and remove its directory.
inline constexpr std::uint64_t kClearNs = 300'000'000'000;
/// As kClearNs, if it brings the files that the job left first.
inline constexpr std::uint64_t kClearWithFilesNs = 3'600'000'000'000;
/// The most of a job's running time that the death of the coordinator loses.
inline constexpr std::uint64_t kStoreProgressNs = 60'000'000'000;
/// Nodes on which a program is tried that cannot be executed.
inline constexpr std::size_t kNodesTriedMax = 3;

/// A host could not start its processes of an epoch, or put them back.
struct FailedStart {
  std::string node;  ///< Empty: it is none's fault.
  std::string reason;
  int exit_status;  ///< kNotFoundStatus, kNotExecutableStatus, or kFailureStatus for all else.
};

class JobTable {
 public:
  explicit JobTable(Nodes& nodes, const Quotas& quotas = {}) : nodes_(&nodes), quotas_(quotas) {}

  // ---- After a restart: before anything else. ---------------------------------------------------

  /// Jobs that wait, or are suspended, do so again; those that ran wait for their hosts, for at
  /// most kReturnNs.
  JobOrders Restore(const JobRecord& record, const Moment& at);

  struct Return {
    std::vector<JobId> kept;  ///< The worker keeps these and abandons all others.
    JobOrders orders;
  };
  /// Instead of OnNodeUp: a worker with the id that it had before the restart. Jobs that it should
  /// have and has not are lost there.
  Return OnHostReturned(WorkerId worker, const std::vector<HeldEpoch>& held, const Moment& at);
  /// Still waits for this worker to return.
  bool Awaits(WorkerId worker) const;
  /// The same of one of this name, by jobs that would lose something if it did not.
  bool WouldMiss(const std::string& node) const;

  // ---- Clients. ---------------------------------------------------------------------------------

  struct Submission {
    JobId job;
    bool known;     ///< The key was used before: this is that job.
    bool accepted;  ///< It is durable already: answer now. Else wait for `accepted` or `refused`.
    JobOrders orders;
  };
  Submission OnSubmit(const proto::JobSpec& spec, const std::string& submission_key,
                      const Moment& at);
  /// As OnSubmit, of an array: its elements are jobs with ids in a row, from `job` on.
  Submission OnSubmitArray(const proto::JobSpec& spec, const proto::ArraySpec& array,
                           const std::string& submission_key, const Moment& at);
  JobOrders OnCancel(JobId job, const std::string& why, const Moment& at);
  /// For all processes. SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE end the job: it has two
  /// seconds to clean up, and the second such signal ends it at once.
  JobOrders OnSignal(JobId job, int signal, const Moment& at);
  JobOrders OnClientLeft(JobId job, const Moment& at);
  /// A part of its client's standard input is to go to pid 0: it cannot run twice any more. The
  /// orders say in `inputs` when that is durable.
  JobOrders OnInput(JobId job, const Moment& at);
  /// A checkpoint that holds its processes is committed, or it has no processes now. It
  /// leaves its nodes; `suspended` says when it has.
  JobOrders OnSuspended(JobId job, const Moment& at);
  /// Its user wants something else of it. It is not stored: the caller does that.
  absl::Status OnAlter(const proto::AlterJobRequest& request, const Moment& at);
  /// A suspended job waits again.
  JobOrders OnResume(JobId job, const Moment& at);
  /// A job that others start after has ended so, long ago; JOB_STATE_UNSPECIFIED: nobody knows.
  JobOrders OnOutcome(JobId job, proto::JobState state, const Moment& at);

  // ---- The journal. -----------------------------------------------------------------------------

  /// All transitions up to `sequence` are durable.
  JobOrders OnStored(std::uint64_t sequence, const Moment& at);
  /// This one is not, and will not be.
  JobOrders OnStoreFailed(std::uint64_t sequence, const std::string& why, const Moment& at);

  // ---- Nodes. -----------------------------------------------------------------------------------

  /// It is usable from now on. One of its name that is awaited will not return.
  JobOrders OnNodeUp(WorkerId worker, const Moment& at);
  /// One is drained, or is not any more; or its streams have come to stand.
  JobOrders OnNodesChanged(const Moment& at);
  /// The same is about to be said; a pass until then is to consider all jobs.
  void ExpectNodesChanged() { nodes_changed_ = true; }
  /// It has been removed. Its jobs recover: "worker w3 lost at superstep 812: lease expired".
  /// `superstep_of` each job that ran there, as the barriers know it.
  JobOrders OnNodeLost(WorkerId worker, const std::string& what, const std::string& why,
                       const std::map<JobId, Superstep>& superstep_of, const Moment& at);
  /// It is about to end, or has: it takes no checkpoint any more.
  bool Ends(JobId job) const;
  /// What there is on nodes that are open: looked at once for many jobs, and of use until any of
  /// them, or a node, changes.
  struct SpareRoom {
    explicit SpareRoom(std::vector<const SchedulerNode*> open);

    std::vector<FreeNode> whole;  ///< Without jobs.
    SlotTimeline taken;           ///< By all that run.
  };
  SpareRoom SpareRoomNow() const;
  /// All of it would fit now on nodes that are open, its own ones included; or one of its own is
  /// leaving, and then it had better wait for room than lose what it does until that is gone.
  bool ShouldMove(JobId job, SpareRoom& room) const;
  /// A checkpoint that holds its processes is committed: the job leaves its nodes and is placed
  /// again. Without `ends` in the orders it stays: there is no room.
  JobOrders OnMove(JobId job, const Moment& at);

  // ---- What workers report. Those of older epochs, and of jobs that have ended, change nothing. -

  JobOrders OnBegun(JobId job, Epoch epoch, Pid pid, const Moment& at);
  /// As which processes of the machine its processes run on this node; only shown.
  void SetOsPids(JobId job, Epoch epoch, const std::string& node, const proto::JobStarted& started);
  JobOrders OnExited(JobId job, Epoch epoch, Pid pid, const ProcessEnd& end, const Moment& at);
  /// What a FinishedJob asks for. FAILED_PRECONDITION: some of the output is lost, so the job goes
  /// back to a checkpoint, unless it was interrupted. Another error: it ends, and its log may not
  /// outlive a loss of power.
  JobOrders OnOutputDurable(JobId job, Epoch epoch, const absl::Status& synced, const Moment& at);
  /// That is no loss of anything that ran: the job is tried again, on other nodes if there are any.
  /// If it runs there, the fault was the node's, which then rests.
  JobOrders OnNotStarted(JobId job, Epoch epoch, const FailedStart& failed, const Moment& at);
  /// The epoch cannot go on, through no fault of the program: its bsp-host died, a disk failed.
  JobOrders OnBroken(JobId job, Epoch epoch, const std::string& reason, const Moment& at);
  /// The job cannot go on in any epoch: a damaged arena, an h-relation larger than memory.
  JobOrders OnFailed(JobId job, Epoch epoch, const std::string& reason, const Moment& at);

  // ---- Checkpoints and recovery. ----------------------------------------------------------------

  /// The StartOrder has left. Its hosts have kStartNs, and longer to read so many bytes of images.
  void OnLaunched(JobId job, Epoch epoch, std::uint64_t image_bytes, const Moment& at);
  /// Of a StartOrder that `resumes`, before anything else of its epoch comes. None: from the start.
  void SetResumePoint(JobId job, Epoch epoch, const ResumePoint& point);
  /// The processes of one of its hosts run; from where SetResumePoint said. From the start that is
  /// JobStarted, else JobResumed. When all hosts have said so the loss is overcome.
  JobOrders OnResumed(JobId job, Epoch epoch, WorkerId host, const Moment& at);
  /// Restarts without progress are counted anew.
  JobOrders OnCheckpointCommitted(JobId job, const Moment& at);
  /// That a node must have to go on with it, from now on.
  void SetCpuFeatures(JobId job, std::vector<std::string> features);

  /// Totals, output bytes and checkpoints, as `shown` has them. Before the last OnCleared of a job,
  /// so that its end is stored with them.
  void SetFigures(JobId job, const proto::Job& shown);
  /// What its processes there have used, and why files were lost. Before OnCleared, which counts
  /// once; false if that has come.
  bool AddUsage(JobId job, Epoch epoch, WorkerId worker, const proto::JobCleared& used);
  JobOrders OnCleared(JobId job, Epoch epoch, WorkerId worker, const Moment& at);

  // ---- Time. ------------------------------------------------------------------------------------

  /// When OnTime is due next; kNoEnd if never.
  std::uint64_t next_deadline_ns() const {
    const std::uint64_t of_jobs_ns = due_.empty() ? kNoEnd : due_.begin()->first;
    return std::min({of_jobs_ns, write_again_ns_, rest_over_ns_});
  }
  JobOrders OnTime(const Moment& at);
  /// Nobody could be heard for this long: what hosts were to do by now they may do later.
  void OnPaused(std::uint64_t ns, const Moment& at);
  /// Those that run, or of which nodes say what they have used, and that were last given to the
  /// journal at that time or before it.
  std::vector<JobId> StoredBy(std::uint64_t ns) const;
  /// How long they have run, what they have used and their figures are not to be lost with the
  /// coordinator.
  JobOrders StoreProgress(const std::vector<JobId>& jobs, const Moment& at);

  // ---- Placement. -------------------------------------------------------------------------------

  /// Slots are free, jobs wait, or nodes are others than at the last pass.
  bool pass_due() const { return pass_due_; }
  JobOrders Schedule(const Moment& at);

  // ---- To look at. ------------------------------------------------------------------------------

  /// All hosts of this epoch have started their processes, and it goes on.
  bool Runs(JobId job, Epoch epoch) const;

  /// Its number is not given to another epoch: the journal may be an older copy.
  void OnEpochSeen(JobId job, Epoch epoch);
  /// Its number is not given to another job.
  void OnJobSeen(JobId job) { last_job_ = std::max(last_job_, Value(job)); }
  /// Ended jobs up to this one may be in the history, not here.
  void OnForgotten(JobId job) { forgotten_ = std::max(forgotten_, job); }
  JobId forgotten() const { return forgotten_; }
  /// It is not known, and not because it ended long ago.
  bool IsUnknown(JobId job) const { return !jobs_.contains(job) && job > forgotten_; }

  Jobs& jobs() { return jobs_; }
  const Jobs& jobs() const { return jobs_; }
  const JobRecord* Find(JobId job) const;
  const JobRecord* FindByKey(const std::string& submission_key) const;
  std::vector<const JobRecord*> records() const;  ///< By id.
  /// Of a job in the queue that the last pass did not come to: how many are before it.
  std::optional<std::size_t> JobsBefore(JobId job) const;
  std::map<proto::JobState, std::size_t> CountByState() const;
  /// That hold slots of the worker.
  std::vector<JobId> JobsOn(WorkerId worker) const;

  struct NodeView {
    const Node* node;
    std::uint32_t slots_used;
    std::vector<JobId> jobs;
  };
  std::vector<NodeView> nodes() const;  ///< Those that are up, by worker id.

  /// The journal has refused something of it that a restart must not forget, and has not taken it
  /// since.
  bool IsUnwritten(JobId job) const {
    return unwritten_.contains(job) ||
           std::any_of(pending_.begin(), pending_.end(), [job](const Pending& each) {
             return each.job == job && each.due == Due::kStays;
           });
  }

 private:
  /// A row that says so is on its way: who resumed the job and suspended it again waits for that.
  bool StoresSuspension(JobId job) const {
    return std::any_of(pending_.begin(), pending_.end(), [job](const Pending& each) {
      return each.job == job && each.due == Due::kSuspend;
    });
  }

  /// What is due when a transition is durable.
  enum class Due {
    kAccept,
    kStart,
    kClear,
    kSuspend,
    kInput,
    kEnd,
    kStays,  ///< Nothing; but a user has asked for it, so a restart must not forget it.
    kNothing,
  };

  struct Pending {
    std::uint64_t sequence;
    JobId job;
    Epoch epoch;  ///< Of the placement, for kStart.
    Due due;
    std::uint64_t jobs = 1;  ///< For kAccept: the elements of an array, from `job` on.
  };

  /// One event: what it causes is collected there.
  class Event;

  std::optional<Submission> Known(const std::string& submission_key) const;
  void NoteDue(Job& job);
  void NoteRests();

  std::uint64_t last_job_ = 0;  ///< No id is given twice.
  JobId forgotten_{0};
  Nodes* nodes_;
  Quotas quotas_;
  std::uint64_t last_sequence_ = 0;
  Jobs jobs_;
  std::unordered_map<std::string, JobId> by_key_;
  std::set<QueuePlace> queue_;  ///< Those that may be placed,
  std::set<QueuePlace> never_;  ///< but for these, on the nodes that were there at the last pass.
  /// And but for these, by what they share with others that have all of it: Event::Cap.
  std::map<std::string, std::set<QueuePlace>> held_;
  std::vector<JobId> considered_;  ///< In the last pass, and they wait: their reasons say why.
  std::optional<QueuePlace> stopped_at_;  ///< By the last pass; those behind wait for others.
  bool pass_due_ = false;
  bool nodes_changed_ = false;                      ///< Since the last pass.
  std::map<JobId, std::vector<JobId>> dependents_;  ///< By the job that has to end first.
  std::vector<JobId> running_;  ///< Those that hold slots, in the order in which they were placed.
  std::deque<JobId> ended_;     ///< In the order in which they ended; bounded.
  std::set<std::pair<std::uint64_t, JobId>> due_;  ///< As Job::due_ns.
  std::uint64_t rest_over_ns_ = kNoEnd;            ///< Of the first node that rests.
  std::deque<Pending> pending_;
  /// Of which the journal refused something that a restart must not forget; it is given again
  std::set<JobId> unwritten_;
  std::uint64_t write_again_ns_ = kNoEnd;  ///< then.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_JOB_TABLE_H_
