// Orders in, events out, with a real bsp-host and real programs; the coordinator is this test.
#include <signal.h>

#include <latch>

#include "worker/job/testing/node_job_fixture.h"

namespace bspnow::worker {
namespace {

TEST_F(NodeJobTest, RunsABspProgramOfOneProcessAndOfTwo) {
  const std::string hash = AddContent(kBspProgram);
  Open();
  for (const std::uint32_t nprocs : {1u, 2u}) {
    events_.clear();
    jobs_->OnOrder(StartOrder(nprocs, hash, nprocs));
    ASSERT_TRUE(RunUntilExited(nprocs));
    EXPECT_EQ(Count(proto::WorkerEvent::kStarted), 1u);
    EXPECT_EQ(Count(proto::WorkerEvent::kBegun), nprocs);
    for (const proto::WorkerEvent& event : events_) {
      if (!event.has_exited()) continue;
      EXPECT_EQ(event.exited().exit_status(), 0);
      EXPECT_EQ(event.exited().signal(), 0);
      EXPECT_EQ(event.exited().reached(), static_cast<std::uint32_t>(ProcessState::kEnded));
    }
    EXPECT_FALSE(Output().empty());
    ASSERT_TRUE(End(nprocs));
    EXPECT_EQ(Count(proto::WorkerEvent::kCleared), 1u);
    EXPECT_TRUE(JobsDirectoryIsEmpty());
  }
}

TEST_F(NodeJobTest, RunsManyJobsAtOnce) {
  const std::string hash = AddContent(kBspProgram);
  Open();
  constexpr std::uint64_t kJobs = 20;
  for (std::uint64_t job = 1; job <= kJobs; ++job) jobs_->OnOrder(StartOrder(job, hash, 4));
  ASSERT_TRUE(RunUntilExited(4 * kJobs));
  for (std::uint64_t job = 1; job <= kJobs; ++job) jobs_->OnOrder(EndOrder(job));
  ASSERT_TRUE(RunUntil([this] { return jobs_->jobs() == 0; }));
  EXPECT_EQ(Count(proto::WorkerEvent::kCleared), kJobs);
  EXPECT_EQ(Count(proto::WorkerEvent::kNotStarted), 0u);
}

// A node that takes too long to clear one job is given up, with all others.
TEST_F(NodeJobTest, ClearsWhileEveryTransferIsSlow) {
  const std::string hash = AddScript("exec sleep 1000");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kStarted) == 1; }));
  const auto slow = std::make_shared<std::latch>(1);
  for (int i = 0; i < kThreadsOfEach; ++i) threads_->transfers.Run([slow] { slow->wait(); });
  jobs_->OnOrder(StartOrder(2, hash, 1));  // Its turn does not come.
  for (const std::uint64_t job : {1, 2}) {
    proto::Order end = EndOrder(job);
    end.mutable_end()->set_keep_files(false);
    jobs_->OnOrder(end);
  }
  EXPECT_TRUE(RunUntil([this] { return jobs_->jobs() == 0; }));
  slow->count_down();
}

TEST_F(NodeJobTest, TheEndOfAJobBreaksTheFetchOfItsProgramOff) {
  std::latch begun(1);
  fetch_ = [&begun](OpenCalls& calls) {
    begun.count_down();
    while (!calls.stopping()) calls.Pause(std::chrono::hours(1));
    return absl::CancelledError("stopped");
  };
  Open();
  jobs_->OnOrder(StartOrder(1, std::string(64, 'a'), 1));
  begun.wait();
  EXPECT_TRUE(End(1));
}

TEST_F(NodeJobTest, TakesRepeatedOrdersOnce) {
  const std::string hash = AddScript("exit 0");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntilExited(1));
  jobs_->OnOrder(EndOrder(1));
  ASSERT_TRUE(End(1));
  EXPECT_EQ(Count(proto::WorkerEvent::kStarted), 1u);
  EXPECT_EQ(Count(proto::WorkerEvent::kCleared), 1u);
}

TEST_F(NodeJobTest, SaysOfAnUnknownJobThatItIsCleared) {
  Open();
  jobs_->OnOrder(EndOrder(99));
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_TRUE(events_[0].has_cleared());
  EXPECT_EQ(events_[0].job(), 99u);
}

TEST_F(NodeJobTest, RefusesAnOrderThatMakesNoSense) {
  Open();
  proto::Order missing = StartOrder(1, std::string(64, 'f'), 2);
  missing.mutable_start()->mutable_hosts(0)->mutable_pids()->RemoveLast();
  proto::Order twice = StartOrder(2, std::string(64, 'f'), 2);
  twice.mutable_start()->mutable_hosts(0)->add_pids(1);
  proto::Order beyond = StartOrder(3, std::string(64, 'f'), 2);
  beyond.mutable_start()->mutable_hosts(0)->set_pids(1, 7);
  proto::Order elsewhere = StartOrder(4, std::string(64, 'f'), 2);
  elsewhere.mutable_start()->mutable_hosts(0)->set_worker(kSelf + 1);
  for (const proto::Order& order : {missing, twice, beyond, elsewhere}) jobs_->OnOrder(order);
  EXPECT_EQ(Count(proto::WorkerEvent::kNotStarted), 4u);
  EXPECT_EQ(jobs_->jobs(), 0u);
}

TEST_F(NodeJobTest, ClearsAJobThatIsEndedBeforeItsProcessesRun) {
  const std::string hash = AddScript("exit 0");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(End(1));
  EXPECT_EQ(Count(proto::WorkerEvent::kStarted), 0u);
  EXPECT_TRUE(JobsDirectoryIsEmpty());
}

TEST_F(NodeJobTest, SaysWhyAJobCannotStart) {
  const std::string no_program = AddText("neither ELF nor script");
  Open();
  jobs_->OnOrder(StartOrder(1, no_program, 1));
  jobs_->OnOrder(StartOrder(2, std::string(64, 'f'), 1));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kNotStarted) == 2; }));
  for (const proto::WorkerEvent& event : events_) {
    const proto::JobNotStarted& why = event.not_started();
    if (event.job() == 1) {
      EXPECT_EQ(why.exit_status(), 126);
      EXPECT_EQ(why.reason(), "program: Exec format error");
    } else {
      EXPECT_EQ(why.exit_status(), 1);
      EXPECT_EQ(why.reason(), "no such content");
    }
  }
}

TEST_F(NodeJobTest, EndsProgramsThatStillRun) {
  const std::string hash = AddScript("echo ready; exec sleep 1000");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 2));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kOutput) == 2; }));
  ASSERT_TRUE(End(1));
  EXPECT_EQ(Count(proto::WorkerEvent::kExited), 2u);
  EXPECT_EQ(First(proto::WorkerEvent::kExited).exited().signal(), SIGKILL);
}

TEST_F(NodeJobTest, SaysThatAJobIsBrokenWhenItsHostIsKilled) {
  const std::string hash = AddScript("kill -KILL $PPID; sleep 1000");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kBroken) == 1; }));
  ASSERT_TRUE(End(1));
}

TEST_F(NodeJobTest, HandsInputToPidZeroAndSaysWhenItIsTaken) {
  const std::string hash = AddScript("cat");
  Open();
  proto::Order start = StartOrder(1, hash, 2);
  start.mutable_start()->set_reads_input(true);
  jobs_->OnOrder(start);
  proto::Order input;
  input.mutable_input()->set_job(1);
  input.mutable_input()->set_epoch(1);
  input.mutable_input()->set_data("words\n");
  input.mutable_input()->set_end(true);
  jobs_->OnOrder(input);
  ASSERT_TRUE(RunUntilExited(2));
  EXPECT_EQ(Count(proto::WorkerEvent::kInputTaken), 1u);
  EXPECT_EQ(Output(), "words\n");
  EXPECT_EQ(First(proto::WorkerEvent::kOutput).output().pid(), 0u);
  ASSERT_TRUE(End(1));
}

TEST_F(NodeJobTest, AFileThatCameWithTheJobIsInputOfPidZeroAtEachStart) {
  const std::string hash = AddScript("cat");
  const std::string words = AddText("words\n");
  Open();
  for (const std::uint64_t job : {1u, 2u}) {
    events_.clear();
    proto::Order start = StartOrder(job, hash, 2);
    proto::JobSpec& spec = *start.mutable_start()->mutable_spec();
    spec.set_input("data");
    spec.add_files()->set_name("data");
    spec.mutable_files(0)->set_sha256(words);
    spec.mutable_files(0)->set_mode(0444);
    jobs_->OnOrder(start);
    ASSERT_TRUE(RunUntilExited(2));
    EXPECT_EQ(Output(), "words\n");
    EXPECT_EQ(First(proto::WorkerEvent::kOutput).output().pid(), 0u);
    ASSERT_TRUE(End(job));
  }
}

TEST_F(NodeJobTest, KeepsTheFilesThatFit) {
  const std::string hash = AddScript(
      "echo result > out.txt; for i in 0 1 2 3 4 5 6 7 8 9; do head -c 20000 /dev/zero > huge$i; "
      "done; : > y; : > z");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntilExited(1));
  ASSERT_TRUE(End(1));
  ASSERT_EQ(stored_.size(), 2u);
  EXPECT_EQ(stored_[0].name, "out.txt");
  EXPECT_EQ(stored_[1].name, "y");
  const std::string lost = First(proto::WorkerEvent::kCleared).cleared().files_lost();
  EXPECT_EQ(
      lost.substr(0, lost.find("; ")),
      "file huge0: it takes 20000 bytes, and of a job 10000 are kept in all (--files-bytes of the "
      "worker)");
  EXPECT_EQ(lost.substr(lost.rfind("; ")), "; and 3 more");
}

TEST_F(NodeJobTest, FilesAreSentUntilTheCoordinatorHasRoomAndOthersGoOnMeanwhile) {
  const std::string hash = AddScript("echo result > out.txt");
  const std::string other = AddScript("exit 0");
  Open();
  refusals_ = {absl::UnavailableError("no space"), absl::UnauthenticatedError("it is over")};
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntilExited(1));
  jobs_->OnOrder(EndOrder(1));
  jobs_->OnOrder(StartOrder(2, other, 1));
  ASSERT_TRUE(RunUntilExited(2));
  jobs_->OnOrder(EndOrder(2));
  ASSERT_TRUE(RunUntil([this] { return jobs_->jobs() == 0; }));
  EXPECT_EQ(First(proto::WorkerEvent::kCleared).job(), 2u);
  EXPECT_EQ(stored_.size(), 1u);
  for (const proto::WorkerEvent& event : events_) EXPECT_EQ(event.cleared().files_lost(), "");
}

TEST_F(NodeJobTest, WhyFilesAreRefusedForGoodIsSaid) {
  const std::string hash = AddScript("echo result > out.txt");
  Open();
  refusals_ = {absl::ResourceExhaustedError("too large")};
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntilExited(1));
  ASSERT_TRUE(End(1));
  EXPECT_EQ(First(proto::WorkerEvent::kCleared).cleared().files_lost(), "too large");
}

TEST_F(NodeJobTest, RunsInTheDirectoryThatWasAskedFor) {
  const std::string hash = AddScript("pwd");
  Open();
  proto::Order start = StartOrder(1, hash, 1);
  start.mutable_start()->mutable_spec()->set_directory("/usr");
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntilExited(1));
  EXPECT_EQ(Output(), "/usr\n");
  ASSERT_TRUE(End(1));
  events_.clear();
  start.mutable_start()->mutable_spec()->set_directory("/no/such/place");
  start.mutable_start()->mutable_spec()->set_directory_optional(true);
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntilExited(1));
  EXPECT_EQ(Output(), fs::canonical(root_).string() + "/jobs/1\n");
  ASSERT_TRUE(End(1));
}

TEST_F(NodeJobTest, TellsTheCLibraryWhatOfTheProcessorItMayUse) {
  const std::string hash = AddScript("echo $GLIBC_TUNABLES");
  Open();
  proto::Order order = StartOrder(1, hash, 1);
  proto::StartJob& start = *order.mutable_start();
  start.mutable_spec()->add_environment("GLIBC_TUNABLES=glibc.malloc.check=1");
  for (const std::string& feature : CpuFeatures()) {
    if (feature != "sse4_2" && feature != "popcnt") start.add_cpu_features(feature);
  }
  jobs_->OnOrder(order);
  ASSERT_TRUE(RunUntilExited(1));
  EXPECT_EQ(Output(), "glibc.malloc.check=1:glibc.cpu.hwcaps=-POPCNT,-SSE4_2\n");
  ASSERT_TRUE(End(1));
}

TEST_F(NodeJobTest, EndsAllWithAReasonWhenTheWorkerEnds) {
  const std::string hash = AddScript("sleep 1000");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  jobs_->OnOrder(StartOrder(2, hash, 1));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kStarted) == 2; }));
  bool empty = false;
  jobs_->EndAll("shut down", [&empty] { empty = true; });
  ASSERT_TRUE(RunUntil([&empty] { return empty; }));
  EXPECT_EQ(Count(proto::WorkerEvent::kBroken), 2u);
  EXPECT_EQ(First(proto::WorkerEvent::kBroken).broken().reason(), "shut down");
  EXPECT_TRUE(JobsDirectoryIsEmpty());
}

TEST_F(NodeJobTest, ReportsNothingOfAbandonedJobs) {
  const std::string hash = AddScript("sleep 1000");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kStarted) == 1; }));
  events_.clear();
  jobs_->AbandonAllBut({});
  ASSERT_TRUE(RunUntil([this] { return jobs_->jobs() == 0; }));
  EXPECT_TRUE(events_.empty());
}

TEST_F(NodeJobTest, KeepsTheJobsThatARestartedCoordinatorKnows) {
  const std::string hash = AddScript("sleep 1000");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  jobs_->OnOrder(StartOrder(2, hash, 1));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kStarted) == 2; }));
  jobs_->AbandonAllBut({JobId{2}});
  ASSERT_TRUE(RunUntil([this] { return jobs_->jobs() == 1; }));
  const std::vector<proto::HeldJob> held = jobs_->Held();
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].job(), 2u);
  EXPECT_EQ(held[0].epoch(), 1u);
  EXPECT_FALSE(held[0].clearing());
  ASSERT_TRUE(End(2));
}

TEST_F(NodeJobTest, HoldsWhoHasBegunAndWhoHasExited) {
  const std::string hash = AddContent(kBspProgram);
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 2));
  ASSERT_TRUE(RunUntilExited(2));
  const std::vector<proto::HeldJob> held = jobs_->Held();
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].participants(), 2u);
  EXPECT_GT(held[0].barriers(), 0u);
  EXPECT_EQ(held[0].begun_size(), 2);
  ASSERT_EQ(held[0].exited_size(), 2);
  EXPECT_EQ(held[0].exited(0).exit_status(), 0);
  EXPECT_EQ(held[0].exited(0).reached(), static_cast<std::uint32_t>(ProcessState::kEnded));
  ASSERT_TRUE(End(1));
}

TEST_F(NodeJobTest, LetsNoProcessPassABarrierWithoutALease) {
  const std::string hash = AddContent(kBspProgram);
  OpenWithoutLease();
  jobs_->OnOrder(StartOrder(1, hash, 2));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kBegun) == 2; }));
  EXPECT_EQ(Output(), "");
  jobs_->OnLeaseRenewed(NowNs() - kLeaseMs * 1'000'000);  // It has just ended.
  EXPECT_EQ(Output(), "");
  jobs_->OnLeaseRenewed(NowNs());
  ASSERT_TRUE(RunUntilExited(2));
  EXPECT_NE(Output(), "");
  ASSERT_TRUE(End(1));
}

// Pid 2 had left at bsp_begin: a job of two of three processes goes on without it.
TEST_F(NodeJobTest, ANodeWhoseProcessesHadLeftStaysWithTheJobThatGoesOn) {
  const std::string hash = AddContent(kBspProgram);
  Open();
  proto::Order order = StartOrder(1, hash, 3);
  proto::StartJob& start = *order.mutable_start();
  start.mutable_hosts(0)->clear_pids();
  start.mutable_hosts(0)->add_pids(2);
  proto::Host& other = *start.add_hosts();
  other.set_worker(kSelf + 1);
  other.set_data_address("127.0.0.1:9");
  for (const std::uint32_t pid : {0u, 1u}) other.add_pids(pid);
  start.set_key(std::string(32, 'k'));  // Several hosts have one in common.
  start.mutable_resume()->set_checkpoint(4);
  start.mutable_resume()->set_superstep(10);
  start.mutable_resume()->set_participants(2);
  jobs_->OnOrder(order);
  ASSERT_TRUE(RunUntil([this] { return !events_.empty(); }));
  EXPECT_EQ(events_[0].what_case(), proto::WorkerEvent::kResumed);
  ASSERT_EQ(jobs_->Held().size(), 1u);
  EXPECT_EQ(jobs_->Held()[0].participants(), 2u);
  EXPECT_EQ(jobs_->Held()[0].resumed_from(), 10u);
  EXPECT_TRUE(jobs_->Held()[0].put_back());
  EXPECT_EQ(jobs_->Held()[0].begun_size(), 1);
  ASSERT_TRUE(End(1));
  EXPECT_EQ(Count(proto::WorkerEvent::kCleared), 1u);
}

TEST_F(NodeJobTest, TheNextEpochHasThePathOfTheLastOnceThatIsGone) {
  const std::string hash = AddScript("ls; pwd; touch left; kill -STOP $$");
  Open();
  proto::Order start = StartOrder(1, hash, 1);
  jobs_->OnOrder(start);
  const std::string path = fs::canonical(root_).string() + "/jobs/1\n";
  ASSERT_TRUE(RunUntil([&] { return Output() == "program\n" + path; }));
  events_.clear();
  start.mutable_start()->set_epoch(2);
  jobs_->OnOrder(start);
  jobs_->OnOrder(EndOrder(1));
  EXPECT_TRUE(RunUntil([&] { return Output() == "program\n" + path; })) << Output();
  EXPECT_EQ(Count(proto::WorkerEvent::kCleared), 1u);
  proto::Order end = EndOrder(1);
  end.mutable_end()->set_epoch(2);
  jobs_->OnOrder(end);
  ASSERT_TRUE(RunUntil([&] { return jobs_->jobs() == 0; }));
  EXPECT_TRUE(JobsDirectoryIsEmpty());
}

TEST_F(NodeJobTest, ClearsWhatAnEarlierRunLeft) {
  fs::create_directories(root_ + "/jobs/7/data");
  Open();
  EXPECT_TRUE(JobsDirectoryIsEmpty());
}

}  // namespace
}  // namespace bspnow::worker
