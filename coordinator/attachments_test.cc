#include "coordinator/attachments.h"

#include <gtest/gtest.h>

#include <memory>

namespace bspnow {
namespace {

constexpr JobId kJob{7};
constexpr std::uint64_t kStartNs = 1'000'000'000;

class CountingClient final : public AttachedClient {
 public:
  void InputTaken() override { ++taken; }
  int taken = 0;
};

class AttachmentsTest : public testing::Test {
 protected:
  AttachmentsTest() { attachments_.Await(kJob, kStartNs); }

  Attachments attachments_;
  std::shared_ptr<CountingClient> client_ = std::make_shared<CountingClient>();
};

TEST_F(AttachmentsTest, KeepsInputUntilTheJobIsStarted) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  ASSERT_TRUE(attachments_.OnInput(kJob, {.data = "a"}).ok());
  ASSERT_TRUE(attachments_.OnInput(kJob, {.data = "", .end = true}).ok());
  EXPECT_TRUE(attachments_.TakeInput(kJob).empty());
  attachments_.OnStarted(kJob);
  const auto input = attachments_.TakeInput(kJob);
  ASSERT_EQ(input.size(), 2u);
  EXPECT_EQ(input[0].data, "a");
  EXPECT_TRUE(input[1].end);
  EXPECT_TRUE(attachments_.TakeInput(kJob).empty());
}

TEST_F(AttachmentsTest, AFurtherEpochGetsWhatCameSinceAndTheEndAgain) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  attachments_.OnStarted(kJob);
  attachments_.OnStopped(kJob);
  ASSERT_TRUE(attachments_.OnInput(kJob, {.data = "", .end = true}).ok());
  EXPECT_TRUE(attachments_.TakeInput(kJob).empty());
  for (int epoch = 2; epoch <= 3; ++epoch) {
    attachments_.OnStarted(kJob);
    const auto input = attachments_.TakeInput(kJob);
    ASSERT_EQ(input.size(), 1u);
    EXPECT_TRUE(input[0].end);
    attachments_.OnStopped(kJob);
  }
}

TEST_F(AttachmentsTest, RefusesInputBeforeTheLastWasTaken) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  ASSERT_TRUE(attachments_.OnInput(kJob, {.data = "a"}).ok());
  EXPECT_FALSE(attachments_.OnInput(kJob, {.data = "b"}).ok());
  attachments_.OnInputTaken(kJob);
  EXPECT_EQ(client_->taken, 1);
  EXPECT_TRUE(attachments_.OnInput(kJob, {.data = "b"}).ok());
}

TEST_F(AttachmentsTest, RefusesInputThatIsTooLargeOrBehindTheEnd) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  EXPECT_FALSE(attachments_.OnInput(kJob, {.data = std::string(kInputBytesMax + 1, 'x')}).ok());
  ASSERT_TRUE(attachments_.OnInput(kJob, {.data = "", .end = true}).ok());
  EXPECT_FALSE(attachments_.OnInput(kJob, {.data = "late"}).ok());
}

TEST_F(AttachmentsTest, TakesOneClientOnly) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  EXPECT_FALSE(attachments_.Attach(kJob, std::make_shared<CountingClient>()).ok());
  EXPECT_TRUE(attachments_.IsClient(kJob, client_.get()));
  EXPECT_FALSE(attachments_.Attach(JobId{8}, client_).ok());
}

TEST_F(AttachmentsTest, NamesOnceTheJobWhoseClientNeverCame) {
  EXPECT_TRUE(attachments_.TakeAbandoned(kStartNs + kAttachWithinNs - 1).empty());
  EXPECT_EQ(attachments_.TakeAbandoned(kStartNs + kAttachWithinNs).size(), 1u);
  EXPECT_TRUE(attachments_.TakeAbandoned(kStartNs + 2 * kAttachWithinNs).empty());
}

TEST_F(AttachmentsTest, ClientThatCameIsNotAbandoned) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  EXPECT_TRUE(attachments_.TakeAbandoned(kStartNs + 2 * kAttachWithinNs).empty());
}

TEST_F(AttachmentsTest, InputOfAJobThatHasEndedIsDropped) {
  attachments_.Forget(kJob);
  EXPECT_TRUE(attachments_.OnInput(kJob, {.data = "a"}).ok());
  EXPECT_TRUE(attachments_.TakeInput(kJob).empty());
}

}  // namespace
}  // namespace bspnow
