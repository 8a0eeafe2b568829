#include "client/cluster/jobs_stub.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/cluster/testing/fake_jobs_service.h"
#include "client/options/checkpoint_option.h"
#include "client/options/submission.h"

namespace bspnow::client {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class JobsStubTest : public testing::Test {
 protected:
  JobsStub Connect() {
    absl::StatusOr<JobsStub> stub =
        JobsStub::Connect({.address = service_.address(), .tls_dir = ""}, Hear(), 0);
    EXPECT_TRUE(stub.ok()) << stub.status();
    return std::move(*stub);
  }

  JobsStub::Say Hear() {
    return [this](const std::string& line) { heard_.push_back(line); };
  }

  static std::string WriteFile(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  static Submission SubmissionOf(const std::string& program) {
    JobOptions options;
    options.nprocs = 4;
    options.program = {"./program", "an argument"};
    absl::StatusOr<Submission> submission = MakeSubmission(options, program);
    EXPECT_TRUE(submission.ok()) << submission.status();
    return std::move(*submission);
  }

  static absl::Status Silent(std::uint64_t, std::uint64_t) { return absl::OkStatus(); }

  std::vector<std::string> heard_;  ///< What was for the user.
  FakeJobs jobs_;
  FakeJobsService service_{jobs_};
};

TEST_F(JobsStubTest, SaysHowToNameACoordinatorWhenNobodyAnswers) {
  const absl::StatusOr<JobsStub> stub =
      JobsStub::Connect({.address = "127.0.0.1:1", .tls_dir = ""}, Hear(), 0);
  ASSERT_TRUE(absl::IsUnavailable(stub.status()));
  EXPECT_NE(stub.status().ToString().find("127.0.0.1:1"), std::string::npos);
  EXPECT_NE(stub.status().ToString().find("BSP_COORDINATOR"), std::string::npos);
}

// The service here knows no such call.
TEST_F(JobsStubTest, SaysThatACoordinatorOfAnOlderVersionDoesNotKnowACall) {
  const absl::StatusOr<proto::Node> forgotten = Connect().Forget({});
  EXPECT_EQ(forgotten.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(forgotten.status().ToString().find("older version"), std::string::npos);
}

TEST_F(JobsStubTest, UploadsInOrderAndInChunksOfAMebibyteAtMost) {
  std::string text(3 * kMiB + 17, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 4096);
  JobsStub stub = Connect();
  const Submission submission = SubmissionOf(WriteFile("large", text));
  const absl::StatusOr<proto::SubmitJobReply> job = Submit(stub, submission, Silent);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(jobs_.largest_chunk, kMiB);
  EXPECT_TRUE(jobs_.blobs.at(submission.contents[0].sha256) == text);
}

TEST_F(JobsStubTest, UploadsAnEmptyFile) {
  JobsStub stub = Connect();
  ASSERT_TRUE(Submit(stub, SubmissionOf(WriteFile("empty", "")), Silent).ok());
  EXPECT_EQ(jobs_.uploads, 1);
}

TEST_F(JobsStubTest, UploadsNothingThatIsThere) {
  JobsStub stub = Connect();
  const std::string program = WriteFile("same", "the same content");
  ASSERT_TRUE(Submit(stub, SubmissionOf(program), Silent).ok());
  ASSERT_TRUE(Submit(stub, SubmissionOf(program), Silent).ok());
  EXPECT_EQ(jobs_.uploads, 1);
  EXPECT_EQ(jobs_.jobs.size(), 2u);
}

TEST_F(JobsStubTest, SubmitsNamesAndArgumentsThatAreNotUtf8) {
  JobOptions options;
  options.nprocs = 1;
  options.program = {"./na\xffme", "\xff"};
  options.environment = {"NAME=\xff"};
  const absl::StatusOr<Submission> submission =
      MakeAttachedSubmission(options, WriteFile("na\xffme", "content"));
  ASSERT_TRUE(submission.ok()) << submission.status();
  JobsStub stub = Connect();
  const absl::StatusOr<proto::SubmitJobReply> job = Submit(stub, *submission, Silent);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(jobs_.jobs.at(0).program().name(), "na\xffme");
  EXPECT_EQ(jobs_.jobs.at(0).arguments(1), "\xff");
}

TEST_F(JobsStubTest, RepeatsASubmissionWhoseReplyWasLostWithoutASecondJob) {
  jobs_.broken_submissions = 2;
  JobsStub stub = Connect();
  const absl::StatusOr<proto::SubmitJobReply> job =
      Submit(stub, SubmissionOf(WriteFile("program", "content")), Silent);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->job(), 1u);
  EXPECT_EQ(jobs_.submissions, 3);
  EXPECT_EQ(jobs_.jobs.size(), 1u);
}

TEST_F(JobsStubTest, GivesUpWhenTheReconnectTimeoutIsOver) {
  jobs_.broken_submissions = 1;
  JobsStub stub = Connect();
  stub.SetReconnectTimeout(0);
  const absl::Status lost =
      Submit(stub, SubmissionOf(WriteFile("program", "content")), Silent).status();
  EXPECT_EQ(lost.message(), "no answer from the coordinator " + service_.address() +
                                " for 0 s; gave up: the reply is lost");
  EXPECT_EQ(jobs_.submissions, 1);
}

TEST_F(JobsStubTest, StopsAnUploadThatIsNoLongerWanted) {
  JobsStub stub = Connect();
  const auto enough = [](std::uint64_t, std::uint64_t) { return absl::CancelledError("enough"); };
  const absl::StatusOr<proto::SubmitJobReply> job =
      Submit(stub, SubmissionOf(WriteFile("program", "content")), enough);
  EXPECT_TRUE(absl::IsCancelled(job.status()));
  EXPECT_EQ(jobs_.submissions, 0);
}

TEST_F(JobsStubTest, HandsOnWhatTheCoordinatorSays) {
  proto::ShowJobRequest request;
  request.set_job(99);
  const absl::StatusOr<proto::Job> job = Connect().Show(request);
  EXPECT_TRUE(absl::IsNotFound(job.status()));
  EXPECT_EQ(job.status().message(), "there is no job 99");
}

TEST_F(JobsStubTest, WaitGivesTheEnd) {
  jobs_.end.set_state(proto::FAILED);
  jobs_.end.set_exit_status(3);
  const absl::StatusOr<proto::Job> job = Connect().Wait(proto::WaitJobRequest());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->exit_status(), 3);
}

TEST_F(JobsStubTest, ACheckpointIsCommittedOrGivenUpWithAReason) {
  JobsStub stub = Connect();
  EXPECT_EQ(stub.Checkpoint({}, 0)->checkpoints().committed(), 1u);
  jobs_.given_up = "pid 3: descriptor 5 is a socket";
  const absl::Status given_up = stub.Checkpoint({}, 0).status();
  EXPECT_TRUE(absl::IsAborted(given_up)) << given_up;
  EXPECT_EQ(given_up.message(), jobs_.given_up);
}

TEST_F(JobsStubTest, SuspendsAndResumes) {
  JobsStub stub = Connect();
  proto::SuspendJobRequest request;
  request.set_job(7);
  EXPECT_EQ(stub.Suspend(request, 0)->state(), proto::SUSPENDED);
  EXPECT_EQ(jobs_.suspended, std::vector<std::uint64_t>{7});
  EXPECT_EQ(stub.Resume({})->state(), proto::WAITING);
}

TEST_F(JobsStubTest, ReadsALogToItsEndOrUntilItIsNotWanted) {
  for (const char* text : {"one\n", "two\n", "three\n"}) {
    jobs_.log.emplace_back();
    jobs_.log.back().set_text(text);
  }
  JobsStub stub = Connect();
  std::string all;
  const absl::Status read = stub.ReadLog({}, [&all](const proto::LogLine& line) {
    all += line.text();
    return absl::OkStatus();
  });
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_EQ(all, "one\ntwo\nthree\n");
  const absl::Status stopped =
      stub.ReadLog({}, [](const proto::LogLine&) { return absl::DataLossError("disk full"); });
  EXPECT_EQ(stopped.message(), "disk full");
  // Not as an error of the call, after which the next one would begin after this piece.
  const absl::Status away =
      stub.ReadLog({}, [](const proto::LogLine&) { return absl::UnavailableError("no reader"); });
  EXPECT_EQ(away.message(), "no reader");
  EXPECT_EQ(heard_, std::vector<std::string>());
}

TEST_F(JobsStubTest, ReadsEachPieceOfALogOnceThoughTheCallBreaks) {
  for (const char* text : {"one\n", "two\n", "three\n"}) {
    jobs_.log.emplace_back();
    jobs_.log.back().set_text(text);
  }
  jobs_.breaks = 2;
  std::string all;
  const absl::Status read = Connect().ReadLog({}, [&all](const proto::LogLine& line) {
    all += line.text();
    return absl::OkStatus();
  });
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_EQ(all, "one\ntwo\nthree\n");
  const std::string said = "lost the coordinator " + service_.address() + ": cut; trying again";
  EXPECT_EQ(heard_, std::vector<std::string>({said, said}));
}

// As files::FileReceiver has it: what is unavailable may be sent again.
TEST_F(JobsStubTest, AFullDiskHereIsNoCoordinatorThatIsLost) {
  class Full : public files::FileSink {
    absl::Status Begin(const files::FileHead&) override { return absl::OkStatus(); }
    absl::Status Append(std::string_view) override {
      return absl::UnavailableError("results: No space left on device");
    }
    absl::Status Finish() override { return absl::OkStatus(); }
  } full;
  jobs_.files = {{"results", "some"}};
  EXPECT_EQ(Connect().Fetch({}, full).status().message(), "results: No space left on device");
}

class Nowhere : public files::FileSink {
  absl::Status Begin(const files::FileHead&) override { return absl::OkStatus(); }
  absl::Status Append(std::string_view) override { return absl::OkStatus(); }
  absl::Status OnUnread(std::string_view) override { return absl::OkStatus(); }
  absl::Status Finish() override { return absl::OkStatus(); }
};

TEST_F(JobsStubTest, SaysWhichFilesTheCoordinatorCannotRead) {
  jobs_.files = {{"results", "some"}};
  Nowhere nowhere;
  EXPECT_EQ(Connect().Fetch({}, nowhere).value(), "");
  jobs_.unread = {"a: why", "b: why"};
  EXPECT_EQ(Connect().Fetch({}, nowhere).value(), "a: why; b: why");
  jobs_.unread.assign(12, "x");
  EXPECT_EQ(Connect().Fetch({}, nowhere).value(), "x; x; x; x; x; x; x; x; x; x; and 2 more");
}

TEST_F(JobsStubTest, NamesACoordinatorThatIsStoppedWhileItSendsFiles) {
  jobs_.files = {{"results", "some"}};
  jobs_.stops = true;
  Nowhere nowhere;
  const absl::Status lost = Connect().Fetch({}, nowhere).status();
  EXPECT_TRUE(absl::IsUnavailable(lost)) << lost;
  EXPECT_EQ(lost.message().find("lost the coordinator " + service_.address()), 0u) << lost;
}

TEST_F(JobsStubTest, NamesACoordinatorThatIsLostWhileItSendsFiles) {
  Nowhere nowhere;
  auto service = std::make_unique<FakeJobsService>(jobs_);
  const std::string address = service->address();
  absl::StatusOr<JobsStub> stub = JobsStub::Connect({.address = address, .tls_dir = ""}, Hear(), 0);
  ASSERT_TRUE(stub.ok()) << stub.status();
  service.reset();
  for (const absl::Status& lost :
       {stub->Fetch({}, nowhere).status(), stub->ReadProfile({}, nowhere)}) {
    EXPECT_TRUE(absl::IsUnavailable(lost)) << lost;
    EXPECT_EQ(lost.message().find("lost the coordinator " + address + ": "), 0u) << lost;
  }
}

TEST(SubmissionTest, SaysWhenToSaveTheJobAndHowOftenToStartItAgain) {
  JobOptions options;
  options.nprocs = 2;
  options.program = {"true"};
  const auto spec_of = [&options](const char* policy) {
    options.checkpoint = *ParseCheckpointOption(policy);
    return MakeSubmission(options, "/bin/true")->request.spec();
  };
  EXPECT_TRUE(spec_of("auto").checkpoints().automatic());
  EXPECT_TRUE(spec_of("off").checkpoints().off());
  EXPECT_EQ(spec_of("every=7").checkpoints().every_supersteps(), 7u);
  EXPECT_EQ(spec_of("every=2s").checkpoints().every_ms(), 2000u);
  EXPECT_FALSE(spec_of("every=2s").checkpoints().automatic());
  options.restarts_max = -1;
  EXPECT_EQ(spec_of("auto").restarts_max(), -1);
}

TEST(SubmissionTest, AttachedJobsTakeTheEnvironmentButNotTheCoordinator) {
  setenv("BSP_COORDINATOR", "elsewhere:1", 1);
  setenv("MINE", "0", 1);
  JobOptions options;
  options.nprocs = 2;
  options.program = {"true"};
  options.environment = {"MINE=1"};
  options.checks.full = true;
  const absl::StatusOr<Submission> submission = MakeAttachedSubmission(options, "/bin/true");
  unsetenv("BSP_COORDINATOR");
  unsetenv("MINE");
  ASSERT_TRUE(submission.ok()) << submission.status();
  const proto::JobSpec& spec = submission->request.spec();
  EXPECT_TRUE(spec.check_full());
  EXPECT_TRUE(spec.replace_environment());
  EXPECT_TRUE(spec.directory_optional());
  std::vector<std::string> mine;
  for (const std::string& variable : spec.environment()) {
    EXPECT_NE(variable.substr(0, 16), "BSP_COORDINATOR=");
    if (variable.starts_with("MINE=")) mine.push_back(variable);
  }
  EXPECT_EQ(mine, std::vector<std::string>{"MINE=1"}) << "a program would find the first one";
}

}  // namespace
}  // namespace bspnow::client
