// One event of the job table: what it changes, and what it causes. Private to job_table.
#ifndef COORDINATOR_CORE_JOBS_JOB_TABLE_EVENT_H_
#define COORDINATOR_CORE_JOBS_JOB_TABLE_EVENT_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/jobs/job_table.h"

namespace bspnow::coordinator {

/// Of an attached job: why it is cancelled.
inline constexpr char kClientLeft[] = "its client left";

/// "after job 3", "after jobs 3, 4, 5 and 7 more".
std::string AfterText(const std::set<JobId>& jobs);

class JobTable::Event {
 public:
  Event(JobTable& table, const Moment& at) : table_(table), at_(at) {}

  Job* Find(JobId job) {
    const auto found = table_.jobs_.find(job);
    if (found == table_.jobs_.end()) return nullptr;
    touched_.push_back(job);
    return &found->second;
  }
  /// One that is known.
  Job& At(JobId job) { return *Find(job); }

  /// The job if what its processes do in this epoch still counts; what is older is no news.
  Job* FindRunning(JobId job, Epoch epoch);

  /// A change of a job that is not accepted yet waits until it is: of a submission that the
  /// journal refuses no row may stay.
  void Store(Job& entry, Due due) {
    entry.changed = !entry.durable && due != Due::kAccept;
    if (entry.changed) return;
    const std::uint64_t sequence = ++table_.last_sequence_;
    entry.stored_ns = at_.now_ns;
    entry.shown().set_run_ms(entry.RunMs(at_.now_ns));
    table_.pending_.push_back({sequence, entry.id(), entry.epoch(), due});
    JobRecord& stored =
        orders_.store.emplace_back(JobTransition{sequence, {entry.record}}).records.front();
    // For a restart its end has not begun: what it printed is compared with its log again.
    if (entry.syncing) stored.mutable_job()->set_state(proto::RUNNING);
  }

  // ---- job_table_array.cc: arrays of jobs.

  JobId AddArray(const proto::JobSpec& spec, const proto::ArraySpec& array,
                 const std::string& submission_key);

  // ---- job_table_event.cc: from submission to end.

  /// A new job, not stored yet.
  Job& Add(const proto::JobSpec& spec, const std::string& submission_key);
  void OnDurable(const Pending& pending);
  void OnNotDurable(const Pending& pending, const std::string& why);
  void StoreChanged(Job& entry);
  void WriteAgain();
  void Perform(Job& entry, const Actions& actions);
  void Exited(Job& entry, Pid pid, const ProcessEnd& told);
  void OutputDurable(Job& entry, const absl::Status& synced);
  void Interrupt(Job& entry, int signal);
  void Cancel(Job& entry, int signal, const std::string& why);
  void HostLeft(Job& entry, WorkerId worker);
  void Signal(const Job& entry, int signal);
  void OnDeadline(Job& entry);
  void End(Job& entry);
  void EndBegun(Job& entry);

  // ---- job_table_placement.cc: who waits, and where it is placed.

  void Enqueue(Job& entry);
  void OnNodesChanged();
  void Altered(Job& entry);
  void Schedule();
  void StartClock(Job& entry);
  void StopClock(Job& entry);

  // ---- job_table_after.cc: jobs that start after others.

  void AwaitOthers(Job& entry);
  void TellDependents(JobId job, proto::JobState state);

  // ---- job_table_recovery.cc: epochs that are lost, suspended or moved.

  void LoseHost(Job& entry, WorkerId worker, const std::string& why, Superstep superstep);
  void LoseFiles(Job& entry, WorkerId worker, const std::string& why);
  void AwaitedAreDue(Job& entry);
  void LoseAwaited(Job& entry);
  void ClearTookTooLong(Job& entry);
  void PutOff(Job& entry, std::uint64_t ns);
  void StartOver(Job& entry);
  void Suspend(Job& entry);
  void Resumed(Job& entry, WorkerId host);
  void StartTookTooLong(Job& entry);
  void StartFailed(Job& entry, const FailedStart& failed);

  // ---- job_table_restart.cc: after a restart of the coordinator.

  void Await(Job& entry);
  bool Return(Job& entry, const Node& node, const HeldEpoch* held);

  /// The end of the event.
  JobOrders Take() {
    for (const JobId id : touched_)
      if (const auto job = table_.jobs_.find(id); job != table_.jobs_.end())
        table_.NoteDue(job->second);
    return std::move(orders_);
  }

 private:
  void Dequeue(Job& entry);
  /// So many at once, of something that several jobs share.
  struct Cap {
    std::string of;  ///< "of array 7": the same for all that share it.
    std::uint32_t wants;
    std::uint32_t most;
    bool spares_recovering;  ///< Whatever recovers need not wait for it.
  };
  using Taken = std::map<std::string, std::uint32_t>;
  std::vector<Cap> CapsOf(const Job& entry) const;
  Taken TakenNow() const;
  void CountTaken(const Job& entry, Taken& taken) const;
  bool Hold(Job& entry, const Taken& taken);
  void ReleaseHeld(Taken taken);
  void Unhold(const Job& entry);
  void OnOutcome(Job& entry, JobId job, proto::JobState state);
  Situation SituationNow();
  void SetWaits(Job& entry, std::string reason);
  void PlaceAt(Job& entry, const std::vector<NodeShare>& shares);
  void Unplace(Job& entry);
  void StartNow(Job& entry);
  void Finish(Job& entry);
  void Clear(Job& entry);
  bool KeepsFiles(const Job& entry) const;
  std::uint64_t ClearNs(const Job& entry) const;
  void EndOn(Job& entry, WorkerId worker);
  void AllLeft(Job& entry);
  void Vacate(Job& entry);
  void Retire(JobId job);
  void Forget(Job& entry);
  void Recover(Job& entry, const std::string& reason, Superstep superstep);
  void Say(const Job& entry, const std::string& text);
  bool ReturnToRunning(Job& entry, const Node& node, const HeldEpoch* held);
  void ReturnIdle(Job& entry);
  void TakeOver(Job& entry, WorkerId worker, const HeldEpoch& held);
  WaitingClaim ClaimOf(const Job& entry) const;
  std::uint64_t LeftNs(const Job& entry) const;
  std::string WhereIs(const Job& entry, Pid pid) const;
  bool IsOwnFault(Job& entry, const ProcessEnd& end);
  bool MayTryAgain(const Job& entry, const FailedStart& failed) const;
  bool CouldStartElsewhere(const Job& entry) const;
  void AddReason(Job& entry, const std::string& reason);
  void BlameNodes(Job& entry);

  JobTable& table_;
  const Moment& at_;
  JobOrders orders_;
  std::vector<JobId> touched_{};
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_JOB_TABLE_EVENT_H_
