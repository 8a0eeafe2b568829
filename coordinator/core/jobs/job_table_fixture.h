// What the tests of the job table share: a table whose journal is written at once.
#ifndef COORDINATOR_CORE_JOBS_JOB_TABLE_FIXTURE_H_
#define COORDINATOR_CORE_JOBS_JOB_TABLE_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/jobs/job_table.h"

namespace bspnow::coordinator {

inline constexpr std::uint64_t kSecondNs = 1'000'000'000;
inline constexpr WorkerId kOne{1};
inline constexpr WorkerId kTwo{2};

inline proto::JobSpec Request(std::uint32_t nprocs) {
  proto::JobSpec spec;
  spec.set_nprocs(nprocs);
  return spec;
}

/// A job that fails at its first loss.
inline proto::JobSpec OnceOnly(std::uint32_t nprocs) {
  proto::JobSpec spec = Request(nprocs);
  spec.set_restarts_max(-1);
  return spec;
}

inline ProcessEnd Exit(Reached reached, int status) {
  return ProcessEnd{
      .reached = reached, .superstep = Superstep{3}, .exit_status = status, .signal = 0};
}

inline std::string NameOf(WorkerId worker) { return "w" + std::to_string(Value(worker)); }

class DeafSink final : public OrderSink {
 public:
  void Send(const proto::Order&) override {}
  void Acknowledge(std::uint64_t) override {}
  void Close(const absl::Status&) override {}
};

/// Both its streams stand; the table has not heard of it.
inline Node& AddNode(Nodes& nodes, WorkerId worker, const std::string& name, std::uint32_t slots) {
  proto::RegisterRequest request;
  request.mutable_node()->set_name(name);
  request.mutable_node()->set_slots(slots);
  Node& node = nodes.Add(worker, request, 0);
  node.sink = std::make_shared<DeafSink>();
  node.lease.OnConnected(0);
  return node;
}

/// A table whose journal is written at once, and which keeps all orders.
class JobTableTest : public testing::Test {
 protected:
  JobId Submit(const proto::JobSpec& spec) {
    JobTable::Submission submission = table_.OnSubmit(spec, "key" + std::to_string(++keys_), at_);
    Do(std::move(submission.orders));
    return submission.job;
  }

  void Do(JobOrders orders) {
    const std::vector<JobTransition> store = orders.store;
    const std::vector<FinishedJob> finished = orders.finished;
    all_.Append(std::move(orders));
    for (const JobTransition& transition : store) {
      stored_ = std::max(stored_, transition.sequence);
      Do(table_.OnStored(transition.sequence, at_));
    }
    for (const FinishedJob& job : finished) {
      Do(table_.OnOutputDurable(job.job, job.epoch, output_durable_, at_));
    }
    if (table_.pass_due()) Do(table_.Schedule(at_));
  }

  /// An event, and the pass of the scheduler after it.
  JobOrders WithPass(JobOrders orders) {
    if (table_.pass_due()) orders.Append(table_.Schedule(at_));
    return orders;
  }

  JobOrders NodeUp(WorkerId worker, std::uint32_t slots) {
    AddNode(nodes_, worker, NameOf(worker), slots);
    return table_.OnNodeUp(worker, at_);
  }
  void Up(WorkerId worker, std::uint32_t slots) { Do(NodeUp(worker, slots)); }

  JobOrders Drain(WorkerId worker) {
    nodes_.Find(worker)->drained = true;
    return table_.OnNodesChanged(at_);
  }
  JobOrders Undrain(WorkerId worker) {
    nodes_.Find(worker)->drained = false;
    return table_.OnNodesChanged(at_);
  }

  void Exits(JobId job, std::uint32_t pid, const ProcessEnd& end) {
    Do(table_.OnExited(job, EpochOf(Record(job)), Pid{pid}, end, at_));
  }

  /// By a signal, in superstep 3.
  void Killed(JobId job, std::uint32_t pid, int signal) {
    Do(table_.OnExited(job, EpochOf(Record(job)), Pid{pid},
                       ProcessEnd{.reached = Reached::kRunning,
                                  .superstep = Superstep{3},
                                  .exit_status = 0,
                                  .signal = signal},
                       at_));
  }

  void NotStarted(JobId job, WorkerId host, const std::string& reason, int status) {
    Do(table_.OnNotStarted(job, EpochOf(Record(job)),
                           {.node = NameOf(host), .reason = reason, .exit_status = status}, at_));
  }

  /// So long after: what is due then happens.
  void Later(std::uint64_t ns) {
    at_.now_ns += ns;
    at_.unix_ms += static_cast<std::int64_t>(ns / 1'000'000);
    Do(table_.OnTime(at_));
  }

  void Cleared(JobId job, WorkerId worker) {
    Do(table_.OnCleared(job, EpochOf(Record(job)), worker, at_));
  }

  void Resumed(JobId job, WorkerId host) {
    Do(table_.OnResumed(job, EpochOf(Record(job)), host, at_));
  }

  JobOrders NodeLost(WorkerId worker, const std::map<JobId, Superstep>& superstep_of) {
    nodes_.Remove(worker, absl::OkStatus());
    return table_.OnNodeLost(worker, "worker " + NameOf(worker) + " lost", "lease expired",
                             superstep_of, at_);
  }
  void Lost(WorkerId worker) { Do(NodeLost(worker, {})); }

  const JobRecord& Record(JobId job) { return *table_.Find(job); }
  const proto::Job& Shown(JobId job) { return Record(job).job(); }
  proto::JobState State(JobId job) { return Shown(job).state(); }
  /// Who has the first processes of the job.
  WorkerId FirstHost(JobId job) { return WorkerOf(Record(job).hosts(0)); }

  std::string Lines() {
    std::string lines;
    for (const LauncherLine& line : all_.lines) lines += line.text;
    return lines;
  }

  Nodes nodes_{1};
  JobTable table_{nodes_};
  Moment at_{.now_ns = kSecondNs, .unix_ms = 1000};
  absl::Status output_durable_{};  ///< What becomes of a finished job's output.
  JobOrders all_;
  std::uint64_t stored_ = 0;  ///< The last transition that was stored.
  int keys_ = 0;
};

/// Two nodes of two slots each: a job of two runs on one, of three on both.
class JobTableRecoveryTest : public JobTableTest {
 protected:
  JobTableRecoveryTest() {
    Up(kOne, 2);
    Up(kTwo, 2);
  }

  JobId Run(const proto::JobSpec& spec) {
    const JobId job = Submit(spec);
    EXPECT_EQ(State(job), proto::RUNNING);
    ResumedByAll(job, {});
    all_ = {};
    return job;
  }

  JobId RunWithRestarts(std::uint32_t nprocs, std::int32_t restarts_max) {
    proto::JobSpec spec = Request(nprocs);
    spec.set_restarts_max(restarts_max);
    return Run(spec);
  }

  void ClearedByAll(JobId job) {
    const std::vector<NodeShare> shares = SharesOf(Record(job));
    for (const NodeShare& share : shares) Cleared(job, share.worker);
  }

  void ResumedByAll(JobId job, const ResumePoint& point) {
    table_.SetResumePoint(job, EpochOf(Record(job)), point);
    const std::vector<NodeShare> shares = SharesOf(Record(job));
    for (const NodeShare& share : shares) Resumed(job, share.worker);
  }

  bool ShouldMove(JobId job) {
    JobTable::SpareRoom room = table_.SpareRoomNow();
    return table_.ShouldMove(job, room);
  }

  const StartOrder& LastStart() { return all_.starts.back(); }
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_JOB_TABLE_FIXTURE_H_
