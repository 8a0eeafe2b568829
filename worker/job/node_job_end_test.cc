// What is cleared away when a job has ended, and who waits for that.
#include <atomic>

#include "worker/job/testing/node_job_fixture.h"

namespace bspnow::worker {
namespace {

// A coordinator whose disk is full says so at once, and again to whoever asks again.
TEST_F(NodeJobTest, AProfileThatIsRefusedIsOfferedAgainAndNobodyWaitsForIt) {
  constexpr std::uint64_t kJobs = 4 * kThreadsOfEach;
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> kept = 0;
  std::atomic<bool> has_room = false;
  profile_ = [&]() -> absl::Status {
    (has_room ? kept : refused) += 1;
    return has_room ? absl::OkStatus() : absl::UnavailableError("no room");
  };
  const std::string hash = AddContent(kBspProgram);
  Open();
  for (std::uint64_t job = 1; job <= kJobs; ++job) jobs_->OnOrder(StartOrder(job, hash, 1));
  ASSERT_TRUE(RunUntilExited(kJobs));
  for (std::uint64_t job = 1; job <= kJobs; ++job) jobs_->OnOrder(EndOrder(job));
  ASSERT_TRUE(RunUntil([&] { return refused >= kJobs; })) << "those of some jobs keep the threads";
  has_room = true;
  ASSERT_TRUE(RunUntil([this] { return jobs_->jobs() == 0; }));
  EXPECT_EQ(Count(proto::WorkerEvent::kCleared), kJobs);
  EXPECT_EQ(kept, kJobs);
}

// As in a container where the worker may make no groups.
TEST_F(NodeJobTest, OfAProcessThatIsKilledWhileMemoryIsWantingThatIsSaid) {
  const std::string events = root_ + "/memory.events";
  std::ofstream(events) << "oom_kill 4\n";
  cgroups_ = {};
  memory_kills_ = {events};
  const std::string killed = AddScript("kill -9 $$");
  const std::string for_memory = AddScript("echo oom_kill 5 > '" + events + "'; kill -9 $$");
  const std::string host_for_memory =
      AddScript("echo oom_kill 6 > '" + events + "'; kill -9 $PPID; sleep 60");
  Open();
  jobs_->OnOrder(StartOrder(1, killed, 1));
  ASSERT_TRUE(RunUntilExited(1));
  EXPECT_EQ(First(proto::WorkerEvent::kExited).exited().killed_for(), "");
  events_.clear();
  jobs_->OnOrder(StartOrder(2, for_memory, 1));
  ASSERT_TRUE(RunUntilExited(1));
  EXPECT_NE(First(proto::WorkerEvent::kExited).exited().killed_for().find("want of memory"),
            std::string::npos);
  events_.clear();
  jobs_->OnOrder(StartOrder(3, host_for_memory, 1));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kBroken) == 1; }));
  EXPECT_NE(
      First(proto::WorkerEvent::kBroken).broken().reason().find("bsp-host, probably for want"),
      std::string::npos);
  for (const std::uint64_t job : {1, 2, 3}) jobs_->OnOrder(EndOrder(job));
  ASSERT_TRUE(RunUntil([this] { return jobs_->jobs() == 0; }));
}

// The kernel kills who writes an image first: no process that ends later was killed for that.
TEST_F(NodeJobTest, AKillForMemoryThatCostACheckpointIsNotCountedAgain) {
  const std::string events = root_ + "/memory.events";
  std::ofstream(events) << "oom_kill 4\n";
  cgroups_ = {};
  memory_kills_ = {events};
  proto::Order start = StartOrder(1, AddContent("worker/job/testing/countdown"), 2);
  const std::string now = root_ + "/now";
  for (const std::string& argument :
       {std::string("100000"), std::string("1"), std::string("pipe"), now})
    start.mutable_start()->mutable_spec()->add_arguments(argument);
  Open();
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kOutput) > 20; }));
  std::ofstream(events) << "oom_kill 5\n";
  proto::Order take;
  take.mutable_take_checkpoint()->set_job(1);
  take.mutable_take_checkpoint()->set_epoch(1);
  take.mutable_take_checkpoint()->set_checkpoint(1);
  jobs_->OnOrder(take);
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kCheckpointFailed) == 1; }));
  std::ofstream{now};
  ASSERT_TRUE(RunUntilExited(1));
  EXPECT_EQ(First(proto::WorkerEvent::kExited).exited().killed_for(), "");
  jobs_->OnOrder(EndOrder(1));
  ASSERT_TRUE(RunUntil([this] { return jobs_->jobs() == 0; }));
}

// No path leads to what the job has moved together.
TEST_F(NodeJobTest, ADirectoryWhoseFilesCannotBeKeptIsNamed) {
  const std::string hash = AddScript(
      "d=$(printf %0200d 0); p=$d; for i in 1 2 3 4 5 6 7 8 9 10 11; do p=$p/$d; done; "
      "mkdir -p x/$p y/$p; mv y x/$p; echo result > out.txt");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntilExited(1));
  ASSERT_TRUE(End(1));
  ASSERT_EQ(stored_.size(), 1u);
  EXPECT_EQ(stored_[0].name, "out.txt");
  const std::string lost = First(proto::WorkerEvent::kCleared).cleared().files_lost();
  EXPECT_TRUE(lost.starts_with("directory x/000")) << lost;
  EXPECT_TRUE(lost.ends_with("...: File name too long")) << lost;
}

}  // namespace
}  // namespace bspnow::worker
