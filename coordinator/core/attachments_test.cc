#include "coordinator/core/attachments.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace bspnow::coordinator {
namespace {

constexpr JobId kJob{7};
constexpr std::uint64_t kStartNs = 1'000'000'000;
constexpr std::uint64_t kReconnectNs = 60'000'000'000;

using Said = std::vector<std::uint64_t>;

class CountingClient final : public AttachedClient {
 public:
  void InputTaken(std::uint64_t bytes) override { taken.push_back(bytes); }
  void Replaced() override { ++replaced; }
  Said taken;
  int replaced = 0;
};

class AttachmentsTest : public testing::Test {
 protected:
  AttachmentsTest() {
    attachments_.Await(kJob, {.attach_ns = kAttachWithinNs, .reconnect_ns = kReconnectNs},
                       kStartNs);
  }

  Attachments attachments_;
  std::shared_ptr<CountingClient> client_ = std::make_shared<CountingClient>();
};

TEST_F(AttachmentsTest, KeepsInputUntilTheJobIsStarted) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  ASSERT_TRUE(attachments_.OnInput(kJob, {.data = "a"}).ok());
  ASSERT_TRUE(attachments_.OnInput(kJob, {.end = true}).ok());
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
  ASSERT_TRUE(attachments_.OnInput(kJob, {.end = true}).ok());
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
  ASSERT_TRUE(attachments_.OnInput(kJob, {.offset = 0, .data = "a"}).ok());
  EXPECT_FALSE(attachments_.OnInput(kJob, {.offset = 1, .data = "b"}).ok());
  attachments_.OnInputTaken(kJob, 1);
  EXPECT_EQ(client_->taken, Said({1}));
  EXPECT_TRUE(attachments_.OnInput(kJob, {.offset = 1, .data = "b"}).ok());
}

TEST_F(AttachmentsTest, SendsRepeatedInputOnceAndSaysWhenItIsTaken) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  attachments_.OnStarted(kJob);
  ASSERT_TRUE(attachments_.OnInput(kJob, {.offset = 0, .data = "a"}).ok());
  EXPECT_EQ(attachments_.TakeInput(kJob).size(), 1u);
  ASSERT_TRUE(attachments_.OnInput(kJob, {.offset = 0, .data = "a"}).ok());
  EXPECT_TRUE(attachments_.TakeInput(kJob).empty());
  EXPECT_TRUE(client_->taken.empty());
  attachments_.OnInputTaken(kJob, 1);
  ASSERT_TRUE(attachments_.OnInput(kJob, {.offset = 0, .data = "a"}).ok());
  EXPECT_TRUE(attachments_.TakeInput(kJob).empty());
  EXPECT_EQ(client_->taken, Said({1, 1}));
}

TEST_F(AttachmentsTest, ANewCoordinatorHandsOnWhateverTheClientRepeats) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  attachments_.OnStarted(kJob);
  attachments_.OnInputTaken(kJob, 100);  // Repeated by the worker, of the chunk before.
  ASSERT_TRUE(attachments_.OnInput(kJob, {.offset = 100, .data = "a"}).ok());
  const auto input = attachments_.TakeInput(kJob);
  ASSERT_EQ(input.size(), 1u);
  EXPECT_EQ(input[0].offset, 100u);
  attachments_.OnInputTaken(kJob, 101);
  EXPECT_EQ(client_->taken, Said({100, 101}));
}

TEST_F(AttachmentsTest, TakesTheEndOfInputAgain) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  attachments_.OnStarted(kJob);
  ASSERT_TRUE(attachments_.OnInput(kJob, {.end = true}).ok());
  ASSERT_TRUE(attachments_.OnInput(kJob, {.end = true}).ok());
  EXPECT_EQ(attachments_.TakeInput(kJob).size(), 1u);
}

TEST_F(AttachmentsTest, RefusesInputThatIsTooLargeOrBehindTheEnd) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  EXPECT_FALSE(attachments_.OnInput(kJob, {.data = std::string(kInputBytesMax + 1, 'x')}).ok());
  ASSERT_TRUE(attachments_.OnInput(kJob, {.end = true}).ok());
  EXPECT_FALSE(attachments_.OnInput(kJob, {.data = "late"}).ok());
}

TEST_F(AttachmentsTest, ANewStreamReplacesTheOldOneWhoseEndMeansNothing) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  const auto again = std::make_shared<CountingClient>();
  ASSERT_TRUE(attachments_.Attach(kJob, again).ok());
  EXPECT_EQ(client_->replaced, 1);
  EXPECT_EQ(again->replaced, 0);
  EXPECT_TRUE(attachments_.IsClient(kJob, again.get()));
  attachments_.OnBroken(kJob, client_.get(), kStartNs);
  EXPECT_TRUE(attachments_.IsClient(kJob, again.get()));
  EXPECT_FALSE(attachments_.Attach(JobId{8}, client_).ok());
}

TEST_F(AttachmentsTest, GivesAClientTimeToComeBack) {
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  attachments_.OnBroken(kJob, client_.get(), kStartNs);
  EXPECT_TRUE(attachments_.TakeAbandoned(kStartNs + kReconnectNs - 1).empty());
  ASSERT_TRUE(attachments_.Attach(kJob, client_).ok());
  EXPECT_TRUE(attachments_.TakeAbandoned(kStartNs + 2 * kReconnectNs).empty());
  attachments_.OnBroken(kJob, client_.get(), kStartNs + 2 * kReconnectNs);
  EXPECT_EQ(attachments_.TakeAbandoned(kStartNs + 3 * kReconnectNs).size(), 1u);
  EXPECT_TRUE(attachments_.TakeAbandoned(kStartNs + 4 * kReconnectNs).empty());
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
}  // namespace bspnow::coordinator
