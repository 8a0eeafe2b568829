// The daemon as its clients and workers see it, over gRPC.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"
#include "base/version.h"
#include "coordinator/testing/daemon_fixture.h"
#include "net/socket.h"

namespace bspnow::coordinator {
namespace {

TEST_F(DaemonTest, ServesHealth) { EXPECT_TRUE(client_.CheckHealth().ok()); }

TEST_F(DaemonTest, CrowdOfIdleConnectionsDoesNotMakeItDeaf) {
  rlimit had{};
  prlimit(daemon_.pid(), RLIMIT_NOFILE, nullptr, &had);
  EXPECT_EQ(had.rlim_cur, had.rlim_max);
  const rlimit few{256, 256};
  ASSERT_EQ(prlimit(daemon_.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  const auto where = Resolve(*ParseHostPort(address()));
  ASSERT_TRUE(where.ok());
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 400; ++i) idle.push_back(*BeginConnect(*where, {}));
  const std::uint64_t begin_ns = NowNs();
  bool answers = false;
  while (!answers && NowNs() - begin_ns < 20'000'000'000u)
    answers = TestClient(address()).CheckHealth().ok();
  EXPECT_TRUE(answers);  // Though none of them was closed at this end.
}

TEST_F(DaemonTest, SigtermEndsItAtOnceEvenWithOpenStreams) {
  TestWorker worker(address(), "w1", 1);
  ASSERT_TRUE(worker.Register().ok());
  worker.Attach();
  const JobId job = Submit(AttachedSpec());
  ASSERT_TRUE(worker.Take().has_value());
  client_.Attach(job, "key-1");
  const std::uint64_t begin_ns = NowNs();
  const int status = daemon_.End(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_LT(NowNs() - begin_ns, 10'000'000'000u);  // Sooner than a silent client is given up.
}

TEST_F(DaemonTest, JobRunsFromSubmissionToEnd) {
  const JobId job = Submit(Spec());
  EXPECT_EQ(client_.Show(job)->state(), proto::WAITING);
  EXPECT_NE(client_.Show(job)->reason(), "");
  TestWorker worker(address(), "w1", 1);
  ASSERT_TRUE(worker.Register().ok());
  worker.Attach();
  const auto start = worker.Take();
  ASSERT_TRUE(start && start->has_start());
  EXPECT_EQ(start->start().job(), Value(job));
  ASSERT_EQ(start->start().hosts_size(), 1);
  EXPECT_FALSE(start->start().reads_input());
  EXPECT_EQ(*worker.ReadBlob(kSha256), kProgram);
  worker.Report(Started());
  EXPECT_TRUE(worker.AwaitAcknowledged(worker.Report(Output("hello\n"))));
  worker.Report(Exited(0));
  const auto end = worker.Take();
  ASSERT_TRUE(end && end->has_end());
  EXPECT_TRUE(end->end().keep_files());
  EXPECT_TRUE(end->end().keep_profile());
  EXPECT_TRUE(worker.StoreFile(job, "out/result", "42").ok());
  EXPECT_TRUE(worker.StoreProfile(job, "0", "recorded").ok());
  EXPECT_EQ(client_.ReadProfile(job).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(client_.Fetch(job, "out/result").status().code(),
            absl::StatusCode::kFailedPrecondition);
  worker.Report(Cleared());
  const auto ended = client_.Wait(job);
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->state(), proto::SUCCEEDED);
  EXPECT_EQ(ended->placement(0).node(), "w1");
  EXPECT_EQ(*client_.ReadLog(LogOf(job)), "0:hello\n");
  EXPECT_EQ(*client_.Fetch(job, "out/result"), "42");
  EXPECT_EQ(*client_.ReadProfile(job), std::string("recorded") + kProgram);
  EXPECT_FALSE(worker.StoreProfile(job, "0", "too late").ok());
}

TEST_F(DaemonTest, ImagesThatCameAfterTheEndOfTheirJobAreRemoved) {
  TestWorker worker(address(), "w1", 1);
  ASSERT_TRUE(worker.Register().ok());
  worker.Attach();
  const JobId job = Submit(Spec());
  ASSERT_TRUE(worker.Take().has_value());
  Finish(worker);
  ASSERT_TRUE(client_.ReadLog(LogOf(job)).ok());  // To its end, and so to the job's.
  proto::WorkerEvent stored;
  stored.mutable_checkpoint_stored()->set_checkpoint(7);
  proto::WorkerEvent copied;
  copied.mutable_checkpoint_copied()->set_checkpoint(7);
  copied.mutable_checkpoint_copied()->set_to_node("w1");
  proto::WorkerEvent received;  // By this node, from one that was given up and sent it late.
  received.mutable_checkpoint_copied()->set_checkpoint(7);
  for (const proto::WorkerEvent& late : {stored, copied, received}) {
    worker.Report(late);
    const auto order = worker.Take();
    ASSERT_TRUE(order.has_value());
    ASSERT_TRUE(order->has_keep_checkpoints()) << order->DebugString();
    EXPECT_EQ(order->keep_checkpoints().job(), Value(job));
    EXPECT_EQ(order->keep_checkpoints().checkpoints_size(), 0);
  }
}

TEST_F(DaemonTest, JobThatPrintsMoreThanIsAllowedFailsAndIsNotStartedAgain) {
  const ScratchDirectory scratch;
  const DaemonProcess daemon(scratch.path(), {"--max-log-bytes", "1000"});
  TestClient client(daemon.Address("listen"));
  TestWorker worker(daemon.Address("listen"), "w1", 1);
  ASSERT_TRUE(worker.Register().ok());
  worker.Attach();
  ASSERT_TRUE(client.Upload(kSha256, kProgram).ok());
  const auto job = client.Submit(Spec(), "key");
  ASSERT_TRUE(job.ok());
  ASSERT_TRUE(worker.Take()->has_start());
  worker.Report(Started());
  worker.Report(Output(std::string(2000, 'x')));
  const auto end = worker.Take();
  ASSERT_TRUE(end && end->has_end());
  worker.Report(Cleared());
  const auto ended = client.Wait(*job);
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->state(), proto::FAILED);
  EXPECT_EQ(ended->restarts(), 0u);
  EXPECT_NE(ended->reason().find("--max-log-bytes"), std::string::npos) << ended->reason();
}

TEST_F(DaemonTest, GivesItsWorkersOneKeyOverAllItsStarts) {
  const ScratchDirectory scratch;
  std::vector<std::string> keys;
  for (const char* name : {"w1", "w2"}) {
    const DaemonProcess daemon(scratch.path(), {});
    const auto reply = TestWorker(daemon.Address("listen"), name, 1).Register();
    ASSERT_TRUE(reply.ok()) << reply.status();
    keys.push_back(reply->stream_key());
  }
  EXPECT_EQ(keys[0].size(), 32u);
  EXPECT_EQ(keys[1], keys[0]);
}

TEST_F(DaemonTest, SecondDaemonAtTheSameAddressSaysWhyItEndsAndStoresNothing) {
  const ScratchDirectory scratch;
  const std::string command = "coordinator/bsp-coordinator --listen " + address() +
                              " --state-dir " + scratch.path() + " 2>&1";
  FILE* second = popen(command.c_str(), "r");
  char text[10'000] = {};
  const std::size_t bytes = fread(text, 1, sizeof text - 1, second);
  EXPECT_EQ(WEXITSTATUS(pclose(second)), 1);
  const std::string log(text, bytes);
  EXPECT_NE(log.find("listening on " + address() + ": Address already in use"), std::string::npos)
      << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_FALSE(std::filesystem::exists(scratch.path() + "/jobs.sqlite")) << log;
}

TEST_F(DaemonTest, NamesContentThatMustBeUploadedFirst) {
  const auto job = client_.Submit(Spec(), "key");
  EXPECT_EQ(job.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(job.status().ToString().find(kSha256), std::string::npos);
}

TEST_F(DaemonTest, SaysOfAContentThatIsGoneThatItIsLost) {
  const auto content = TestWorker(address(), "w1", 1).ReadBlob(kSha256);
  EXPECT_TRUE(absl::IsDataLoss(content.status())) << content.status();
}

TEST_F(DaemonTest, RefusesJobsThatCanNeverRun) {
  proto::JobSpec spec = Spec();
  spec.set_nprocs(0);
  EXPECT_EQ(client_.Submit(spec, "key").status().code(), absl::StatusCode::kInvalidArgument);
  spec = Spec();
  spec.mutable_program()->set_name("../hello");
  EXPECT_EQ(client_.Submit(spec, "key").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(DaemonTest, SameKeyGivesTheSameJob) {
  ASSERT_TRUE(client_.Upload(kSha256, kProgram).ok());
  EXPECT_EQ(*client_.Submit(Spec(), "one"), *client_.Submit(Spec(), "one"));
  EXPECT_NE(*client_.Submit(Spec(), "one"), *client_.Submit(Spec(), "two"));
}

TEST_F(DaemonTest, UnknownJobIsNotFound) {
  EXPECT_EQ(client_.Show(JobId{99}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client_.Wait(JobId{99}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client_.Cancel(JobId{99}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client_.ReadLog(LogOf(JobId{99})).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client_.Fetch(JobId{99}, "x").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(DaemonTest, CancelledJobIsNeverStarted) {
  const JobId job = Submit(Spec());
  ASSERT_TRUE(client_.Cancel(job).ok());
  EXPECT_EQ(client_.Wait(job)->state(), proto::CANCELLED);
}

TEST_F(DaemonTest, OrderThatDidNotArriveComesOnTheNextStream) {
  const JobId job = Submit(Spec());
  TestWorker worker(address(), "w1", 1);
  ASSERT_TRUE(worker.Register().ok());
  worker.Attach();
  worker.Break();  // Before it has taken the order, or said so.
  worker.Attach();
  const auto start = worker.Take();
  ASSERT_TRUE(start && start->has_start());
  EXPECT_EQ(start->sequence(), 1u);
  worker.Break();  // It has the order now, and says so.
  worker.Attach();
  Finish(worker);
  EXPECT_EQ(client_.Wait(job)->state(), proto::SUCCEEDED);
}

TEST_F(DaemonTest, NameOfALiveWorkerIsTaken) {
  TestWorker worker(address(), "w1", 1);
  ASSERT_TRUE(worker.Register().ok());
  worker.Attach();
  const JobId job = Submit(Spec());
  ASSERT_TRUE(worker.Take().has_value());
  TestWorker other(address(), "w1", 2);
  const auto refused = other.Register();
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.status().ToString().find("--name"), std::string::npos);
  EXPECT_EQ(client_.Show(job)->state(), proto::RUNNING);
}

TEST_F(DaemonTest, RestartedWorkerReplacesItsOldSelf) {
  TestWorker worker(address(), "w1", 1);
  ASSERT_TRUE(worker.Register().ok());
  worker.Attach();
  const JobId job = Submit(Spec());
  ASSERT_TRUE(worker.Take().has_value());
  ASSERT_TRUE(worker.AwaitAcknowledged(worker.Report(Started())));
  worker.Break();
  worker.BreakFrames();
  TestWorker restarted(address(), "w1", 2);
  while (!restarted.Register().ok()) {  // Until the broken stream is noticed.
  }
  restarted.Attach();
  const auto again = restarted.Take();
  ASSERT_TRUE(again && again->has_start());
  EXPECT_EQ(again->start().epoch(), 2u);
  const auto shown = client_.Show(job);
  ASSERT_EQ(shown->losses_size(), 1);
  EXPECT_NE(shown->losses(0).reason().find("w1"), std::string::npos) << shown->losses(0).reason();
  worker.Attach();
  EXPECT_FALSE(worker.Take().has_value());
  EXPECT_EQ(worker.End().code(), absl::StatusCode::kNotFound);
}

TEST_F(DaemonTest, WorkerThatSpeaksANewerProtocolIsRefused) {
  TestWorker worker(address(), "w1", 1);
  worker.request().mutable_node()->set_version("0.0.1");
  worker.request().set_protocol_oldest(kProtocol + 1);
  worker.request().set_protocol(kProtocol + 1);
  const auto refused = worker.Register();
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.status().ToString().find("0.0.1"), std::string::npos);
}

TEST_F(DaemonTest, WorkerThatKeepsImagesOfAnotherClusterIsNotRegistered) {
  TestWorker worker(address(), "w1", 1);
  worker.request().set_cluster("another");
  worker.request().add_stored()->set_job(1);
  const auto refused = worker.Register();
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_EQ(refused->worker(), 0u);
  EXPECT_FALSE(refused->cluster().empty());
  EXPECT_EQ(client_.Drain("w1").status().code(), absl::StatusCode::kNotFound);
  const auto registered = worker.Register();  // With the id that it has heard now.
  EXPECT_NE(registered->worker(), 0u);
  EXPECT_EQ(registered->cluster(), refused->cluster());
}

TEST_F(DaemonTest, DrainedNodeGetsNoJob) {
  TestWorker worker(address(), "w1", 1);
  ASSERT_TRUE(worker.Register().ok());
  EXPECT_EQ(client_.Drain("w1")->state(), proto::NODE_DRAINED);
  EXPECT_EQ(client_.Drain("w2").status().code(), absl::StatusCode::kNotFound);
  const JobId job = Submit(Spec());
  EXPECT_EQ(client_.Show(job)->state(), proto::WAITING);
}

TEST_F(DaemonTest, WaitingJobSurvivesACrash) {
  const JobId job = Submit(Spec());
  daemon_.End(SIGKILL);
  const DaemonProcess again(scratch_.path(), {});
  TestClient client(again.Address("listen"));
  EXPECT_EQ(client.Show(job)->state(), proto::WAITING);
  TestWorker worker(again.Address("listen"), "w1", 1);
  EXPECT_EQ(worker.Register()->term(), 2u);
  worker.Attach();
  const auto start = worker.Take();
  ASSERT_TRUE(start && start->has_start());
  EXPECT_EQ(start->start().job(), Value(job));
}

TEST_F(DaemonTest, LogOfOnePidLeavesOthersOut) {
  TestWorker worker(address(), "w1", 1);
  ASSERT_TRUE(worker.Register().ok());
  worker.Attach();
  proto::JobSpec spec = Spec();
  spec.set_nprocs(2);
  const JobId job = Submit(spec);
  ASSERT_TRUE(worker.Take().has_value());
  proto::WorkerEvent second = Output("of 1\n");
  second.mutable_output()->set_pid(1);
  worker.Report(Output("of 0\n"));
  ASSERT_TRUE(worker.AwaitAcknowledged(worker.Report(second)));
  proto::ReadLogRequest request;
  request.set_job(Value(job));
  EXPECT_EQ(*client_.ReadLog(request), "0:of 0\n1:of 1\n");
  request.set_one_pid(true);
  request.set_pid(1);
  EXPECT_EQ(*client_.ReadLog(request), "1:of 1\n");
  request.set_pid(2);
  EXPECT_EQ(client_.ReadLog(request).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace bspnow::coordinator
