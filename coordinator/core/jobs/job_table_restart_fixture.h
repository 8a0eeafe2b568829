// What the tests of the job table share that restart the coordinator.
#ifndef COORDINATOR_CORE_JOBS_JOB_TABLE_RESTART_FIXTURE_H_
#define COORDINATOR_CORE_JOBS_JOB_TABLE_RESTART_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {

/// A coordinator that is killed, and the next one: what it stored is all that the next one knows.
class JobTableRestartTest : public JobTableTest {
 protected:
  /// Keeps what is stored, as the journal does.
  void Note(const JobOrders& orders) {
    for (const JobTransition& transition : orders.store) {
      for (const JobRecord& record : transition.records) journal_[IdOf(record)] = record;
    }
  }

  void Restart() {
    Note(all_);
    nodes_ = Nodes(1);
    table_ = JobTable(nodes_);
    all_ = {};
    for (const auto& [id, record] : journal_) Do(table_.Restore(record, at_));
  }

  /// All is as at first.
  void Anew() {
    nodes_ = Nodes(1);
    table_ = JobTable(nodes_);
    all_ = {};
    journal_.clear();
  }

  std::vector<JobId> Returns(WorkerId worker, const std::vector<HeldEpoch>& held) {
    AddNode(nodes_, worker, NameOf(worker), 2);
    JobTable::Return returned = table_.OnHostReturned(worker, held, at_);
    Do(std::move(returned.orders));
    return returned.kept;
  }

  /// Without any job, but it tells which epochs it was ever ordered: the newest of each of these.
  void ReturnsUnordered(WorkerId worker, const std::map<JobId, std::uint64_t>& started) {
    Node& node = AddNode(nodes_, worker, NameOf(worker), 2);
    node.registration.set_started_lacks(0);
    for (const auto& [job, epoch] : started) {
      node.registration.add_started()->set_job(Value(job));
      node.registration.mutable_started()->rbegin()->set_epoch(epoch);
    }
    Do(table_.OnHostReturned(worker, {}, at_).orders);
  }

  /// As the cluster does it every few seconds.
  void StoreProgress() {
    Do(table_.StoreProgress(table_.StoredBy(at_.now_ns - kStoreProgressNs), at_));
  }

  /// That all its processes of this epoch are in bsp_begin or beyond.
  static HeldEpoch Held(JobId job, std::uint64_t epoch) {
    return {.job = job,
            .epoch = Epoch{epoch},
            .participants = 3,
            .clearing = false,
            .begun = {Pid{0}},
            .exited = {}};
  }

  JobId Run(const proto::JobSpec& spec) {
    Up(kOne, 2);
    Up(kTwo, 2);
    const JobId job = Submit(spec);
    EXPECT_EQ(State(job), proto::RUNNING);
    return job;
  }

  std::map<JobId, JobRecord> journal_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_JOB_TABLE_RESTART_FIXTURE_H_
