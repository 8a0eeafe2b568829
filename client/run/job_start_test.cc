#include "client/run/job_start.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "client/cluster/testing/fake_jobs_service.h"

namespace bspnow::client {
namespace {

class JobStartTest : public testing::Test {
 protected:
  // While there is a thread that still waits it holds what it would say, and with that the token.
  ~JobStartTest() override {
    start_.reset();
    while (token_.use_count() != 1) {
      loop_.AddTimer(1, [] {});
      loop_.RunOnce();
    }
  }

  absl::StatusOr<JobStart::Accepted> Run() {
    return start_->Run({.place = {.address = service_.address(), .tls_dir = ""},
                        .patience_ms = 0,
                        .reconnect_ms = 0,
                        .make =
                            [] {
                              Submission submission;
                              submission.request.set_submission_key("key");
                              return submission;
                            },
                        .unseen = "nobody knows"});
  }

  void InterruptFromElsewhere() {
    loop_.Post([this] { start_->Interrupt(); });
  }

  FakeJobs jobs_;
  FakeJobsService service_{jobs_};
  EventLoop loop_;
  std::shared_ptr<int> token_ = std::make_shared<int>();
  std::unique_ptr<JobStart> start_ =
      std::make_unique<JobStart>(loop_, [token = token_](const std::string&) {});
};

TEST_F(JobStartTest, GivesTheJobAndItsKey) {
  const auto accepted = Run();
  ASSERT_TRUE(accepted.ok()) << accepted.status();
  EXPECT_EQ(accepted->reply.job(), 1u);
  EXPECT_EQ(accepted->key, "key");
}

TEST_F(JobStartTest, CancelsWhatIsAcceptedAfterAnInterruption) {
  jobs_.submitting = [this] { InterruptFromElsewhere(); };
  EXPECT_EQ(Run().status(), absl::CancelledError("cancelled job 1"));
  EXPECT_EQ(jobs_.cancelled, (std::vector<std::uint64_t>{1}));
}

TEST_F(JobStartTest, DoesNotWaitForAnAnswerOnceItIsInterrupted) {
  std::promise<void> answer;
  jobs_.submitting = [&] {
    InterruptFromElsewhere();
    answer.get_future().wait();
  };
  const std::uint64_t begun_ns = NowNs();
  EXPECT_EQ(Run().status(), absl::CancelledError("nobody knows"));
  EXPECT_LT(NowNs() - begun_ns, 10 * kNsPerS);  // Of a loaded machine.
  answer.set_value();
}

TEST_F(JobStartTest, SubmitsNothingOnceItIsInterrupted) {
  InterruptFromElsewhere();
  EXPECT_EQ(Run().status(), absl::CancelledError(""));
  EXPECT_EQ(jobs_.submissions, 0);
}

}  // namespace
}  // namespace bspnow::client
