// Orders in, events out, with a real bsp-host and real programs; the coordinator is this test.
#include "worker/hosted_jobs.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "worker/node_facts.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPatienceMs = 100'000;
constexpr std::uint32_t kSelf = 3;
constexpr char kBspProgram[] = "examples/hello";

class HostedJobsTest : public testing::Test {
 protected:
  HostedJobsTest() {
    char directory[] = "/tmp/hosted_jobs_testXXXXXX";
    root_ = mkdtemp(directory);
    fs::create_directories(root_ + "/cache");
    fs::create_directories(root_ + "/jobs");
  }
  ~HostedJobsTest() override {
    threads_.reset();
    jobs_.reset();
    data_plane_.reset();
    RemoveTree(root_);
  }

  // What is in the cache's directory when it is opened is believed.
  std::string AddContent(const fs::path& from) {
    const std::string hash(64, static_cast<char>('a' + contents_++));
    fs::copy_file(from, root_ + "/cache/" + hash);
    chmod((root_ + "/cache/" + hash).c_str(), 0555);
    return hash;
  }
  std::string AddScript(const std::string& text) {
    const std::string path = root_ + "/script";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    return AddContent(path);
  }

  void Open() {
    auto data_plane = DataPlane::Create(
        loop_, {.listen = "127.0.0.1:0", .congestion = "default", .incarnation = 1},
        {.job_broken = [](JobId, Epoch, const std::string&) {},
         .lease_renewed = [](std::uint64_t) {},
         .note = [](const std::string&) {}});
    ASSERT_TRUE(data_plane.ok());
    data_plane_ = std::move(*data_plane);
    // Nobody is there; jobs on one node do not need it.
    data_plane_->JoinCoordinator(
        {.self = WorkerId{kSelf}, .barrier_address = "127.0.0.1:9", .heartbeat_ms = 1000});
    auto cache = BlobCache::Open(root_ + "/cache", 1 << 30, [](const std::string&, int) {
      return absl::NotFoundError("no such content");
    });
    ASSERT_TRUE(cache.ok());
    cache_ = std::move(*cache);
    threads_ = std::make_unique<WorkThreads>(2);
    jobs_ = std::make_unique<HostedJobs>(HostingContext{
        .loop = loop_,
        .data_plane = *data_plane_,
        .cache = *cache_,
        .threads = *threads_,
        .limits = limits_,
        .jobs_directory = root_ + "/jobs",
        .host_program = fs::absolute("worker/bsp-host").string(),
        .processors = UsableProcessors(),
        .memory_bytes = MemoryBytes(),
        .files_bytes_max = 1000,
        .address_space_bytes = {},
        .report = [this](proto::WorkerEvent event) { events_.push_back(std::move(event)); },
        .store_files =
            [this](JobId, const std::string&, const std::vector<LeftFile>& files) {
              const std::scoped_lock lock(stored_mutex_);
              stored_ = files;
              return absl::OkStatus();
            }});
    jobs_->SetSelf(WorkerId{kSelf});
  }

  static proto::Order StartOrder(std::uint64_t job, const std::string& hash, std::uint32_t nprocs) {
    proto::Order order;
    proto::StartJob& start = *order.mutable_start();
    start.set_job(job);
    start.set_epoch(1);
    start.mutable_spec()->set_nprocs(nprocs);
    start.mutable_spec()->mutable_program()->set_name("program");
    start.mutable_spec()->mutable_program()->set_sha256(hash);
    start.mutable_spec()->add_arguments("program");
    proto::Host& host = *start.add_hosts();
    host.set_worker(kSelf);
    for (std::uint32_t pid = 0; pid < nprocs; ++pid) host.add_pids(pid);
    return order;
  }
  static proto::Order EndOrder(std::uint64_t job) {
    proto::Order order;
    order.mutable_end()->set_job(job);
    order.mutable_end()->set_epoch(1);
    order.mutable_end()->set_keep_files(true);
    return order;
  }

  template <typename Condition>
  bool RunUntil(Condition condition) {
    bool late = false;
    loop_.SetTimer(kPatienceMs, [&late] { late = true; });
    while (!condition() && !late) loop_.RunOnce();
    loop_.CancelTimer();
    return !late;
  }
  std::size_t Count(proto::WorkerEvent::WhatCase what) const {
    return static_cast<std::size_t>(
        std::count_if(events_.begin(), events_.end(),
                      [what](const auto& event) { return event.what_case() == what; }));
  }
  bool RunUntilExited(std::size_t processes) {
    return RunUntil([&] { return Count(proto::WorkerEvent::kExited) == processes; });
  }
  bool End(std::uint64_t job) {
    jobs_->OnOrder(EndOrder(job));
    return RunUntil([&] { return jobs_->jobs() == 0; });
  }
  std::string Output() const {
    std::string text;
    for (const proto::WorkerEvent& event : events_) text += event.output().text();
    return text;
  }
  const proto::WorkerEvent& First(proto::WorkerEvent::WhatCase what) const {
    return *std::find_if(events_.begin(), events_.end(),
                         [what](const auto& event) { return event.what_case() == what; });
  }
  bool JobsDirectoryIsEmpty() const { return fs::is_empty(root_ + "/jobs"); }

  const RaisedLimits limits_;
  std::string root_;
  int contents_ = 0;
  EventLoop loop_;
  std::unique_ptr<DataPlane> data_plane_;
  std::unique_ptr<BlobCache> cache_;
  std::unique_ptr<WorkThreads> threads_;
  std::unique_ptr<HostedJobs> jobs_;
  std::vector<proto::WorkerEvent> events_;
  std::mutex stored_mutex_;
  std::vector<LeftFile> stored_;
};

TEST_F(HostedJobsTest, RunsABspProgramOfOneProcessAndOfTwo) {
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

TEST_F(HostedJobsTest, RunsManyJobsAtOnce) {
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

TEST_F(HostedJobsTest, TakesRepeatedOrdersOnce) {
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

TEST_F(HostedJobsTest, SaysOfAnUnknownJobThatItIsCleared) {
  Open();
  jobs_->OnOrder(EndOrder(99));
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_TRUE(events_[0].has_cleared());
  EXPECT_EQ(events_[0].job(), 99u);
}

TEST_F(HostedJobsTest, RefusesAnOrderThatMakesNoSense) {
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

TEST_F(HostedJobsTest, ClearsAJobThatIsEndedBeforeItsProcessesRun) {
  const std::string hash = AddScript("exit 0");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(End(1));
  EXPECT_EQ(Count(proto::WorkerEvent::kStarted), 0u);
  EXPECT_TRUE(JobsDirectoryIsEmpty());
}

TEST_F(HostedJobsTest, SaysWhyAJobCannotStart) {
  const std::string no_program = AddScript("");
  std::ofstream(root_ + "/cache/" + no_program) << "neither ELF nor script";
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

TEST_F(HostedJobsTest, EndsProgramsThatStillRun) {
  const std::string hash = AddScript("echo ready; exec sleep 1000");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 2));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kOutput) == 2; }));
  ASSERT_TRUE(End(1));
  EXPECT_EQ(Count(proto::WorkerEvent::kExited), 2u);
  EXPECT_EQ(First(proto::WorkerEvent::kExited).exited().signal(), SIGKILL);
}

TEST_F(HostedJobsTest, SaysThatAJobIsBrokenWhenItsHostIsKilled) {
  const std::string hash = AddScript("kill -KILL $PPID; sleep 1000");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kBroken) == 1; }));
  ASSERT_TRUE(End(1));
}

TEST_F(HostedJobsTest, HandsInputToPidZeroAndSaysWhenItIsTaken) {
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

TEST_F(HostedJobsTest, KeepsTheFilesThatFit) {
  const std::string hash = AddScript("echo result > out.txt; head -c 2000 /dev/zero > huge");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntilExited(1));
  ASSERT_TRUE(End(1));
  ASSERT_EQ(stored_.size(), 1u);
  EXPECT_EQ(stored_[0].name, "out.txt");
}

TEST_F(HostedJobsTest, RunsInTheDirectoryThatWasAskedFor) {
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
  EXPECT_EQ(Output(), fs::canonical(root_).string() + "/jobs/1-1\n");
  ASSERT_TRUE(End(1));
}

TEST_F(HostedJobsTest, EndsAllWithAReasonWhenTheWorkerEnds) {
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

TEST_F(HostedJobsTest, ReportsNothingOfAbandonedJobs) {
  const std::string hash = AddScript("sleep 1000");
  Open();
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kStarted) == 1; }));
  events_.clear();
  jobs_->AbandonAll();
  ASSERT_TRUE(RunUntil([this] { return jobs_->jobs() == 0; }));
  EXPECT_TRUE(events_.empty());
}

TEST_F(HostedJobsTest, ClearsWhatAnEarlierRunLeft) {
  fs::create_directories(root_ + "/jobs/7-1/data");
  Open();
  EXPECT_TRUE(JobsDirectoryIsEmpty());
}

}  // namespace
}  // namespace bspnow
