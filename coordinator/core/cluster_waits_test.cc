// What nodes say of processes that wait, as a job shows it.
#include <gtest/gtest.h>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

using ClusterWaitsTest = ClusterFixture;

TEST_F(ClusterWaitsTest, ShowsWhomABarrierWaitsForUntilItMoves) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  proto::BarrierWait& wait = *event.mutable_barrier_wait();
  wait.set_arrived(1);
  wait.set_late_count(1);
  wait.set_for_ms(500);
  wait.add_late()->set_pid(1);
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  world_.timers.Advance(2'000);
  const proto::Job shown = Show(job);
  ASSERT_EQ(shown.barrier_waits_size(), 1);
  EXPECT_EQ(shown.barrier_waits(0).node(), "w1");
  EXPECT_EQ(shown.barrier_waits(0).late(0).pid(), 1u);
  EXPECT_EQ(shown.barrier_waits(0).for_ms(), 2'500u);
  proto::WorkerEvent older = event;
  older.set_epoch(7);
  older.mutable_barrier_wait()->Clear();
  EXPECT_EQ(Report(worker, older), absl::OkStatus());
  EXPECT_EQ(Show(job).barrier_waits_size(), 1);
  wait.Clear();
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  EXPECT_EQ(Show(job).barrier_waits_size(), 0);
}

TEST_F(ClusterWaitsTest, SaysThatAChangeWaitsForTheJournal) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_broken()->set_reason("no memory");
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  ASSERT_FALSE(world_.journal.calls.empty());
  EXPECT_EQ(Show(job).reason(), "no memory");
  world_.timers.Advance(6'000);
  EXPECT_EQ(Show(job).reason(),
            "no memory; waits until the coordinator's disk takes its journal, for 6 s; waits until "
            "w1 has sent what is left of it and cleared it away, for 6 s");
  Settle();
  EXPECT_EQ(Show(job).reason().find("journal"), std::string::npos);
}

TEST_F(ClusterWaitsTest, NamesNodesThatDoNotClearAJobAway) {
  FakeWorker one = Join("w1", 1);
  FakeWorker two = Join("w2", 1);
  const JobId job = Submit(Request("key"));
  ReportBegun(one, job, Epoch{1}, {0});
  ReportBegun(two, job, Epoch{1}, {1});
  ReportExited(one, job, Epoch{1}, 0, 0);
  ReportExited(two, job, Epoch{1}, 1, 0);
  Settle();
  ASSERT_EQ(Show(job).state(), proto::ENDING);
  ReportCleared(one, job, Epoch{1});
  world_.timers.Advance(4'000);
  EXPECT_EQ(Show(job).reason(), "");
  world_.timers.Advance(2'000);
  EXPECT_EQ(Show(job).reason(),
            "waits until w2 has sent what is left of it and cleared it away, for 6 s");
  ReportCleared(two, job, Epoch{1});
  Settle();
  EXPECT_EQ(Show(job).reason(), "");
}

TEST_F(ClusterWaitsTest, ShowsSinceWhenGroupsHinderACheckpoint) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_groups_open()->set_processes(2);
  event.mutable_groups_open()->set_for_ms(6'000);  // More than the clock has run.
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  world_.timers.Advance(1'000);
  EXPECT_EQ(Show(job).checkpoints().in_groups(), 2u);
  EXPECT_EQ(Show(job).checkpoints().in_groups_ms(), 2'000u);
  proto::WorkerEvent older = event;
  older.set_epoch(7);
  older.mutable_groups_open()->Clear();
  EXPECT_EQ(Report(worker, older), absl::OkStatus());
  EXPECT_EQ(Show(job).checkpoints().in_groups(), 2u);
  event.mutable_groups_open()->Clear();
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  EXPECT_EQ(Show(job).checkpoints().in_groups(), 0u);
  EXPECT_EQ(Show(job).checkpoints().in_groups_ms(), 0u);
  event.mutable_groups_open()->set_in_calls(true);
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  EXPECT_TRUE(Show(job).checkpoints().in_calls());
  event.mutable_groups_open()->Clear();
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  EXPECT_FALSE(Show(job).checkpoints().in_calls());
}

// Its nodes cannot tell: the coordinator releases it.
TEST_F(ClusterWaitsTest, CollectiveCallsHinderNoCheckpointThatIsNotDue) {
  FakeWorker first = Join("w1", 1);
  FakeWorker second = Join("w2", 1);
  proto::SubmitJobRequest request = Request("key");
  request.mutable_spec()->mutable_checkpoints()->set_every_supersteps(1000);
  const JobId job = Submit(request);
  ReportBegun(first, job, Epoch{1}, {0});
  ReportBegun(second, job, Epoch{1}, {1});
  Settle();
  ASSERT_FALSE(world_.journal.records[job].direct());
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_groups_open()->set_in_calls(true);
  event.mutable_groups_open()->set_for_ms(2'000);
  EXPECT_EQ(Report(first, event), absl::OkStatus());
  world_.timers.Advance(1'000);
  EXPECT_FALSE(Show(job).checkpoints().in_calls());
  EXPECT_EQ(Show(job).checkpoints().in_groups_ms(), 0u);
  cluster_->Checkpoint(job, nullptr);
  EXPECT_TRUE(Show(job).checkpoints().in_calls());
  EXPECT_NE(Show(job).checkpoints().in_groups_ms(), 0u);
}

// Two looks at each of both nodes; see standstills.h.
TEST_F(ClusterWaitsTest, EndsAJobWhoseProcessesWaitForEachOtherOverSeveralNodes) {
  FakeWorker first = Join("w1", 1);
  FakeWorker second = Join("w2", 1);
  const JobId job = Submit(Request("key"));
  ReportBegun(first, job, Epoch{1}, {0});
  ReportBegun(second, job, Epoch{1}, {1});
  Settle();
  const auto looks = [](const FakeWorker& worker) {
    return OrdersOf(worker, &proto::Order::has_look_again).size();
  };
  const auto say = [&](FakeWorker& worker, std::uint32_t pid, std::uint64_t look) {
    proto::WorkerEvent event = EventOf(job, Epoch{1});
    proto::StandStill& word = *event.mutable_stand_still();
    word.set_number(5);
    word.set_look(look);
    proto::StandingGroup& group = *word.add_groups();
    group.set_key(7 + pid);
    group.add_members(0);
    group.add_members(1);
    proto::StandingMember& here = *group.add_here();
    here.set_pid(pid);
    here.set_arrived(2);
    here.set_waits_at("in a group");
    EXPECT_EQ(Report(worker, event), absl::OkStatus());
  };
  say(first, 0, 0);
  EXPECT_EQ(looks(second), 0u);
  say(second, 1, 0);
  EXPECT_EQ(looks(first), 1u);
  EXPECT_EQ(looks(second), 1u);
  say(second, 1, 1);
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
  say(first, 0, 1);
  EXPECT_NE(Show(job).state(), proto::RUNNING);
  EXPECT_NE(Show(job).reason().find("pid 0 waits in a group for pid 1, which waits in a group for"
                                    " pid 0;"),
            std::string::npos)
      << Show(job).reason();
}

TEST_F(ClusterWaitsTest, ShowsSinceWhenTheDiskOfItsLogDoesNotAnswer) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  ReportExited(worker, job, Epoch{1}, 0, 0);
  ReportExited(worker, job, Epoch{1}, 1, 0);
  EXPECT_EQ(Waiting(world_.logs.calls), std::vector<std::string>{"sync 1"});
  // The thread of the log looks at the clock when it likes.
  world_.logs.since_ns = world_.timers.Now().now_ns + 1;
  EXPECT_EQ(Show(job).reason(), "");
  world_.logs.since_ns = world_.timers.Now().now_ns;
  world_.timers.Advance(4'000);
  EXPECT_EQ(Show(job).reason(), "");
  world_.timers.Advance(2'000);
  EXPECT_EQ(Show(job).reason(), "waits until the coordinator's disk takes its output, for 6 s");
  world_.logs.full = "no space left on device";
  EXPECT_EQ(Show(job).reason(),
            "its output waits until the coordinator's disk takes it: no space left on device");
}

TEST_F(ClusterWaitsTest, ShowsWhatFilesWaitForAndThatTheyAreLost) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  for (const std::uint32_t pid : {0u, 1u}) ReportExited(worker, job, Epoch{1}, pid, 0);
  Settle();
  cluster_->OnFilesTaken(job, absl::UnavailableError("no space left"));
  EXPECT_EQ(Show(job).reason(), "the files that it left wait: no space left");
  ReportCleared(worker, job, Epoch{1}, "file a: too large");
  ReportCleared(worker, job, Epoch{1}, "file a: too large");
  Settle();
  EXPECT_EQ(Show(job).state(), proto::SUCCEEDED);
  EXPECT_EQ(Show(job).reason(), "files that it left are lost: file a: too large");
  EXPECT_EQ(Show(job).files_lost(), "file a: too large");
  EXPECT_EQ(
      world_.logs.launcher_lines,
      std::vector<std::string>{"files that it left on node w1 are lost: file a: too large\n"});
}

// Its worker was shut down, say.
TEST_F(ClusterWaitsTest, FilesOfAJobThatGoesOnElsewhereAreNotLost) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  proto::WorkerEvent broken = EventOf(job, Epoch{1});
  broken.mutable_broken()->set_reason("worker w1 was shut down");
  EXPECT_EQ(Report(worker, broken), absl::OkStatus());
  Settle();
  ReportCleared(worker, job, Epoch{1}, "worker w1 was shut down (if it left any)");
  Settle();
  EXPECT_EQ(Show(job).reason().find("files"), std::string::npos) << Show(job).reason();
  for (const std::string& line : world_.logs.launcher_lines)
    EXPECT_EQ(line.find("files that it left"), std::string::npos) << line;
}

TEST_F(ClusterWaitsTest, ThatFilesOfAFailedJobAreLostIsNotHiddenByItsReason) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_exited()->set_exit_status(3);
  event.mutable_exited()->set_reached(static_cast<std::uint32_t>(Reached::kEnded));
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  Settle();
  ReportExited(worker, job, Epoch{1}, 1, 0);
  Settle();
  ReportCleared(worker, job, Epoch{1}, "file a: too large");
  Settle();
  EXPECT_EQ(Show(job).state(), proto::FAILED);
  EXPECT_EQ(Show(job).reason().find("lost"), std::string::npos) << Show(job).reason();
  EXPECT_EQ(Show(job).files_lost(), "file a: too large");
}

}  // namespace
}  // namespace bspnow::coordinator
