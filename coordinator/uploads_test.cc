#include "coordinator/uploads.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/testing/no_descriptors.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

constexpr char kSha256OfHello[] =
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

class UploadsTest : public testing::Test {
 protected:
  UploadsTest()
      : state_(*StateDirectory::Open(scratch_.path())), kept_(6), uploads_(state_, kept_) {}

  bool Send(const std::string& user, const std::string& text) const {
    const auto sink = uploads_.Take(user);
    return sink->Begin({.name = kSha256OfHello, .bytes = 5, .mode = 0}).ok() &&
           sink->Append(text).ok() && sink->Finish().ok();
  }

  const ScratchDirectory scratch_;
  const StateDirectory state_;
  KeptBytes kept_;
  const Uploads uploads_;
};

TEST_F(UploadsTest, WhoHasNotSentAContentDoesNotHaveIt) {
  ASSERT_TRUE(Send("anna", "hello"));
  EXPECT_TRUE(uploads_.Has("anna", kSha256OfHello));
  EXPECT_FALSE(uploads_.Has("eve", kSha256OfHello));
  ASSERT_TRUE(Send("eve", "hello"));
  EXPECT_TRUE(uploads_.Has("eve", kSha256OfHello));
  EXPECT_EQ(uploads_.contents().List().size(), 1u);
}

TEST_F(UploadsTest, WhoSendsSomethingElseDoesNotHaveIt) {
  ASSERT_TRUE(Send("anna", "hello"));
  EXPECT_FALSE(Send("eve", "hallo"));
  EXPECT_FALSE(uploads_.Has("eve", kSha256OfHello));
}

TEST_F(UploadsTest, WhoAnnouncesASecondContentDoesNotHaveIt) {
  ASSERT_TRUE(Send("anna", "hello"));
  constexpr char kSha256OfX[] = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
  const auto sink = uploads_.Take("eve");
  ASSERT_TRUE(sink->Begin({.name = kSha256OfX, .bytes = 1, .mode = 0}).ok());
  ASSERT_TRUE(sink->Append("x").ok());
  EXPECT_FALSE(sink->Begin({.name = kSha256OfHello, .bytes = 5, .mode = 0}).ok());
  EXPECT_TRUE(sink->Finish().ok());
  EXPECT_TRUE(uploads_.Has("eve", kSha256OfX));
  EXPECT_FALSE(uploads_.Has("eve", kSha256OfHello));
}

TEST_F(UploadsTest, ARestartForgetsNothing) {
  ASSERT_TRUE(Send("anna", "hello"));
  const Uploads again(state_, kept_);
  EXPECT_TRUE(again.Has("anna", kSha256OfHello));
  EXPECT_FALSE(again.Has("eve", kSha256OfHello));
}

TEST_F(UploadsTest, AContentThatWasRemovedIsNobodys) {
  ASSERT_TRUE(Send("anna", "hello"));
  uploads_.contents().Remove(kSha256OfHello);
  EXPECT_FALSE(uploads_.Has("anna", kSha256OfHello));
}

TEST_F(UploadsTest, AContentThatIsDamagedIsSentAgain) {
  ASSERT_TRUE(Send("anna", "hello"));
  EXPECT_TRUE(uploads_.Recheck(kSha256OfHello).ok());
  EXPECT_TRUE(uploads_.Has("anna", kSha256OfHello));
  std::ofstream(state_.blobs() + "/" + kSha256OfHello) << "hallo";
  {
    const NoDescriptors none;
    EXPECT_FALSE(uploads_.Recheck(kSha256OfHello).ok());
  }
  EXPECT_TRUE(uploads_.Has("anna", kSha256OfHello)) << "nothing is known of it";
  EXPECT_TRUE(absl::IsDataLoss(uploads_.Recheck(kSha256OfHello)));
  EXPECT_FALSE(uploads_.Has("anna", kSha256OfHello));
  ASSERT_TRUE(Send("bob", "hello"));
  EXPECT_TRUE(uploads_.Recheck(kSha256OfHello).ok());
  EXPECT_TRUE(uploads_.Has("anna", kSha256OfHello)) << "she had sent it";
}

TEST_F(UploadsTest, WhoHasNoRoomSendsNothing) {
  EXPECT_FALSE(Send("anna", "hallo"));  // Gives its room back.
  ASSERT_TRUE(Send("anna", "hello"));
  const auto more = uploads_.Take("anna");
  const absl::Status refused = more->Begin({.name = kSha256OfHello, .bytes = 5, .mode = 0});
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_TRUE(Send("bob", "hello"));
}

TEST_F(UploadsTest, KnowsWhoSentWhat) {
  ASSERT_TRUE(Send("anna", "hello"));
  ASSERT_TRUE(Send("bob", "hello"));
  const std::map<std::string, std::set<std::string>> senders = {{"anna", {kSha256OfHello}},
                                                                {"bob", {kSha256OfHello}}};
  EXPECT_EQ(uploads_.Senders(), senders);
}

TEST_F(UploadsTest, WhatNobodyAsksForIsForgotten) {
  ASSERT_TRUE(Send("anna", "hello"));
  const std::int64_t now_s = static_cast<std::int64_t>(UnixMs() / 1000);
  uploads_.ForgetBefore(now_s - 10);
  EXPECT_TRUE(uploads_.Has("anna", kSha256OfHello));
  uploads_.ForgetBefore(now_s + 10);
  EXPECT_FALSE(uploads_.Has("anna", kSha256OfHello));
}

}  // namespace
}  // namespace bspnow::coordinator
