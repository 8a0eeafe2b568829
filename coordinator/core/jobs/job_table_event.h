// One event of the job table: what it changes, and what it causes. Private to job_table.
#ifndef COORDINATOR_CORE_JOBS_JOB_TABLE_EVENT_H_
#define COORDINATOR_CORE_JOBS_JOB_TABLE_EVENT_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/jobs/job_table.h"

namespace bspnow::coordinator {

class JobTable::Event {
 public:
  Event(JobTable& table, const Moment& at) : table_(table), at_(at) {}

  Entry* Find(JobId job) {
    const auto found = table_.entries_.find(job);
    return found == table_.entries_.end() ? nullptr : &found->second;
  }

  /// The job if what its processes do in this epoch still counts; what is older is no news.
  Entry* FindRunning(JobId job, Epoch epoch);

  void Store(const Entry& entry, Due due) {
    const std::uint64_t sequence = ++table_.last_sequence_;
    table_.pending_.push_back({sequence, entry.id(), entry.epoch(), due});
    orders_.store.push_back({sequence, entry.record});
  }

  // ---- job_table_event.cc: from submission to end.

  void OnDurable(const Pending& pending);
  void OnNotDurable(const Pending& pending, const std::string& why);
  void WriteEnds();
  void Schedule();
  void SetTimeLimit(Entry& entry);
  void Perform(Entry& entry, const Actions& actions);
  void Exited(Entry& entry, Pid pid, const ProcessEnd& end);
  void Interrupt(Entry& entry, int signal);
  void Cancel(Entry& entry, int signal, const std::string& why);
  void HostLeft(Entry& entry, WorkerId worker);
  void Signal(const Entry& entry, int signal);
  void OnDeadline(Entry& entry);
  void End(Entry& entry);

  // ---- job_table_recovery.cc: epochs that are lost, suspended or moved.

  void LoseHost(Entry& entry, WorkerId worker, const std::string& why, Superstep superstep);
  void LoseAwaited(Entry& entry);
  void StartOver(Entry& entry);
  void Suspend(Entry& entry);
  void Resumed(Entry& entry, WorkerId host);
  void RestoreFailed(Entry& entry, const std::string& reason);

  // ---- job_table_restart.cc: after a restart of the coordinator.

  void Await(Entry& entry);
  bool Return(Entry& entry, WorkerId worker, const std::string& node, const HeldEpoch* held);

  JobOrders Take() { return std::move(orders_); }

 private:
  void PlaceAt(Entry& entry, const std::vector<NodeShare>& shares);
  void Unplace(Entry& entry);
  void StartNow(Entry& entry);
  void Finish(Entry& entry);
  void Clear(Entry& entry);
  void EndOn(const Entry& entry, WorkerId worker);
  void AllLeft(Entry& entry);
  void Vacate(Entry& entry);
  void Retire(JobId job);
  void Recover(Entry& entry, const std::string& reason, Superstep superstep);
  void Say(const Entry& entry, const std::string& text);
  void TakeOver(Entry& entry, WorkerId worker, const HeldEpoch& held);
  WaitingClaim ClaimOf(const Entry& entry) const;

  JobTable& table_;
  const Moment& at_;
  JobOrders orders_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_JOB_TABLE_EVENT_H_
