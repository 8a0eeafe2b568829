// What a job waits for before its processes run, and who waits with it.
#include <errno.h>
#include <poll.h>
#include <pwd.h>

#include <latch>

#include "base/testing/no_descriptors.h"
#include "worker/job/testing/node_job_fixture.h"

namespace {

constexpr char kSlowUser[] = "behind-a-service-that-is-slow";
constexpr uid_t kRoot = 0;

struct Service {
  std::latch asked{1};
  std::latch answers{1};
};

Service& TheService() {
  static Service service;
  return service;
}

// Whoever waits for it on the loop would wait for ever.
bool ComesSoon(const std::latch& latch) {
  constexpr int kTries = 6'000;  // A minute, for a machine under load.
  constexpr int kPauseMs = 10;
  for (int i = 0; i < kTries && !latch.try_wait(); ++i) poll(nullptr, 0, kPauseMs);
  return latch.try_wait();
}

}  // namespace

extern "C" int getpwnam_r(const char* name, passwd*, char*, size_t, passwd** found) {
  *found = nullptr;
  if (name != std::string(kSlowUser)) return ENOENT;
  TheService().asked.count_down();
  return ComesSoon(TheService().answers) ? ETIMEDOUT : 0;
}

namespace bspnow::worker {
namespace {

TEST_F(NodeJobTest, TheLoopDoesNotWaitForWhoKnowsTheAccounts) {
  accounts_ = *Accounts::Of("same", kRoot);
  Open();
  proto::Order start = StartOrder(1, AddScript("exit 0"), 1);
  start.mutable_start()->mutable_spec()->set_user(kSlowUser);
  jobs_->OnOrder(start);
  EXPECT_TRUE(ComesSoon(TheService().asked));
  TheService().answers.count_down();
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kNotStarted) == 1; }));
  // By 126 the job would be refused: nobody was found who could not be looked for.
  EXPECT_EQ(First(proto::WorkerEvent::kNotStarted).not_started().exit_status(), 1);
  ASSERT_TRUE(End(1));
}

// It would compute on an empty input, and say that all of it was taken.
TEST_F(NodeJobTest, DoesNotStartWithoutAPipeForStandardInput) {
  Open();
  proto::Order start = StartOrder(1, AddScript("cat; echo all"), 1);
  start.mutable_start()->set_reads_input(true);
  std::latch go_on{1};
  for (int i = 0; i < kThreadsOfEach; ++i)
    threads_->transfers.Run([&go_on] { go_on.wait(); });  // The directory wants descriptors, too.
  {
    const NoDescriptors none;
    jobs_->OnOrder(start);
  }
  go_on.count_down();
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kNotStarted) == 1; }));
  EXPECT_EQ(First(proto::WorkerEvent::kNotStarted).not_started().reason(),
            "there was no pipe to be had for standard input");
  ASSERT_TRUE(End(1));
  EXPECT_EQ(Output(), "");
}

TEST_F(NodeJobTest, InputThatIsNoFileAnyMoreStartsNothing) {
  const std::string hash = AddScript("cat");
  const std::string words = AddText("words\n");
  Open();
  proto::Order start = StartOrder(1, hash, 1);
  proto::JobSpec& spec = *start.mutable_start()->mutable_spec();
  spec.set_input("data");
  spec.add_files()->set_name("data/words");
  spec.mutable_files(0)->set_sha256(words);
  spec.mutable_files(0)->set_mode(0444);
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kNotStarted) == 1; }));
  EXPECT_EQ(First(proto::WorkerEvent::kNotStarted).not_started().reason(),
            "standard input, data, is no regular file any more");
  ASSERT_TRUE(End(1));
}

}  // namespace
}  // namespace bspnow::worker
