#include "coordinator/core/attachment.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kStartNs = 1'000'000'000;
constexpr std::uint64_t kReconnectNs = 60'000'000'000;

using Said = std::vector<std::uint64_t>;

class CountingClient final : public AttachedClient {
 public:
  ClientIdentity identity() const override { return {}; }
  void InputTaken(std::uint64_t bytes) override { taken.push_back(bytes); }
  void Replaced() override { ++replaced; }
  Said taken;
  int replaced = 0;
};

class AttachmentTest : public testing::Test {
 protected:
  Attachment attachment_{{.attach_ns = kAttachWithinNs, .reconnect_ns = kReconnectNs}, kStartNs};
  std::shared_ptr<CountingClient> client_ = std::make_shared<CountingClient>();
};

TEST_F(AttachmentTest, KeepsInputUntilTheJobIsStarted) {
  attachment_.Attach(client_);
  ASSERT_TRUE(attachment_.OnInput({.data = "a"}).ok());
  ASSERT_TRUE(attachment_.OnInput({.end = true}).ok());
  EXPECT_TRUE(attachment_.TakeInput().empty());
  attachment_.OnStarted();
  const auto input = attachment_.TakeInput();
  ASSERT_EQ(input.size(), 2u);
  EXPECT_EQ(input[0].data, "a");
  EXPECT_TRUE(input[1].end);
  EXPECT_TRUE(attachment_.TakeInput().empty());
}

TEST_F(AttachmentTest, AFurtherEpochGetsWhatCameSinceAndTheEndAgain) {
  attachment_.Attach(client_);
  attachment_.OnStarted();
  attachment_.OnStopped();
  ASSERT_TRUE(attachment_.OnInput({.end = true}).ok());
  EXPECT_TRUE(attachment_.TakeInput().empty());
  for (int epoch = 2; epoch <= 3; ++epoch) {
    attachment_.OnStarted();
    const auto input = attachment_.TakeInput();
    ASSERT_EQ(input.size(), 1u);
    EXPECT_TRUE(input[0].end);
    attachment_.OnStopped();
  }
}

TEST_F(AttachmentTest, RefusesInputBeforeTheLastWasTaken) {
  attachment_.Attach(client_);
  ASSERT_TRUE(attachment_.OnInput({.offset = 0, .data = "a"}).ok());
  EXPECT_FALSE(attachment_.OnInput({.offset = 1, .data = "b"}).ok());
  attachment_.OnInputTaken(1);
  EXPECT_EQ(client_->taken, Said({1}));
  EXPECT_TRUE(attachment_.OnInput({.offset = 1, .data = "b"}).ok());
}

TEST_F(AttachmentTest, SendsRepeatedInputOnceAndSaysWhenItIsTaken) {
  attachment_.Attach(client_);
  attachment_.OnStarted();
  ASSERT_TRUE(attachment_.OnInput({.offset = 0, .data = "a"}).ok());
  EXPECT_EQ(attachment_.TakeInput().size(), 1u);
  ASSERT_TRUE(attachment_.OnInput({.offset = 0, .data = "a"}).ok());
  EXPECT_TRUE(attachment_.TakeInput().empty());
  EXPECT_TRUE(client_->taken.empty());
  attachment_.OnInputTaken(1);
  ASSERT_TRUE(attachment_.OnInput({.offset = 0, .data = "a"}).ok());
  EXPECT_TRUE(attachment_.TakeInput().empty());
  EXPECT_EQ(client_->taken, Said({1, 1}));
}

TEST_F(AttachmentTest, ANewCoordinatorHandsOnWhateverTheClientRepeats) {
  attachment_.Attach(client_);
  attachment_.OnStarted();
  attachment_.OnInputTaken(100);  // Repeated by the worker, of the chunk before.
  ASSERT_TRUE(attachment_.OnInput({.offset = 100, .data = "a"}).ok());
  const auto input = attachment_.TakeInput();
  ASSERT_EQ(input.size(), 1u);
  EXPECT_EQ(input[0].offset, 100u);
  attachment_.OnInputTaken(101);
  EXPECT_EQ(client_->taken, Said({100, 101}));
}

TEST_F(AttachmentTest, TakesTheEndOfInputAgain) {
  attachment_.Attach(client_);
  attachment_.OnStarted();
  ASSERT_TRUE(attachment_.OnInput({.end = true}).ok());
  ASSERT_TRUE(attachment_.OnInput({.end = true}).ok());
  EXPECT_EQ(attachment_.TakeInput().size(), 1u);
}

TEST_F(AttachmentTest, RefusesInputThatIsTooLargeOrAfterTheEnd) {
  attachment_.Attach(client_);
  EXPECT_FALSE(attachment_.OnInput({.data = std::string(kInputBytesMax + 1, 'x')}).ok());
  ASSERT_TRUE(attachment_.OnInput({.end = true}).ok());
  EXPECT_FALSE(attachment_.OnInput({.data = "late"}).ok());
}

TEST_F(AttachmentTest, InputWhoseEndCannotBeCountedIsRefusedAndTakesNothing) {
  attachment_.Attach(client_);
  const absl::Status refused = attachment_.OnInput({.offset = ~std::uint64_t{0}, .data = "a"});
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_TRUE(client_->taken.empty());
}

TEST_F(AttachmentTest, PiecesOfNothingAreNotKept) {
  attachment_.Attach(client_);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(attachment_.OnInput({.offset = 5}).ok());
  attachment_.OnStarted();
  EXPECT_TRUE(attachment_.TakeInput().empty());
}

TEST_F(AttachmentTest, ANewStreamReplacesTheOldOneWhoseEndMeansNothing) {
  attachment_.Attach(client_);
  const auto again = std::make_shared<CountingClient>();
  attachment_.Attach(again);
  EXPECT_EQ(client_->replaced, 1);
  EXPECT_EQ(again->replaced, 0);
  EXPECT_TRUE(attachment_.IsClient(again.get()));
  attachment_.OnBroken(client_.get(), kStartNs);
  EXPECT_TRUE(attachment_.IsClient(again.get()));
}

TEST_F(AttachmentTest, GivesAClientTimeToComeBack) {
  attachment_.Attach(client_);
  attachment_.OnBroken(client_.get(), kStartNs);
  EXPECT_FALSE(attachment_.TakeAbandoned(kStartNs + kReconnectNs - 1));
  attachment_.Attach(client_);
  EXPECT_FALSE(attachment_.TakeAbandoned(kStartNs + 2 * kReconnectNs));
  attachment_.OnBroken(client_.get(), kStartNs + 2 * kReconnectNs);
  EXPECT_TRUE(attachment_.TakeAbandoned(kStartNs + 3 * kReconnectNs));
  EXPECT_FALSE(attachment_.TakeAbandoned(kStartNs + 4 * kReconnectNs));
}

TEST_F(AttachmentTest, NamesOnceTheJobWhoseClientNeverCame) {
  EXPECT_FALSE(attachment_.TakeAbandoned(kStartNs + kAttachWithinNs - 1));
  EXPECT_TRUE(attachment_.TakeAbandoned(kStartNs + kAttachWithinNs));
  EXPECT_FALSE(attachment_.TakeAbandoned(kStartNs + 2 * kAttachWithinNs));
}

TEST_F(AttachmentTest, ClientThatCameIsNotAbandoned) {
  attachment_.Attach(client_);
  EXPECT_FALSE(attachment_.TakeAbandoned(kStartNs + 2 * kAttachWithinNs));
}

}  // namespace
}  // namespace bspnow::coordinator
