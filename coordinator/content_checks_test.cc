#include "coordinator/content_checks.h"

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <string>
#include <utility>

#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

constexpr char kSha256OfHello[] =
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
constexpr char kSha256OfX[] = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";

class ContentChecksTest : public testing::Test {
 protected:
  ContentChecksTest() : state_(*StateDirectory::Open(scratch_.path())), uploads_(state_, kept_) {
    const auto sink = uploads_.Take("anna");
    EXPECT_TRUE(sink->Begin({.name = kSha256OfHello, .bytes = 5, .mode = 0}).ok());
    EXPECT_TRUE(sink->Append("hello").ok());
    EXPECT_TRUE(sink->Finish().ok());
  }

  std::string Missing(const std::string& user, std::set<std::string> contents) {
    std::promise<std::string> missing;
    checks_.FindMissing(user, std::move(contents),
                        [&](const std::string& sha256) { missing.set_value(sha256); });
    return missing.get_future().get();
  }

  const ScratchDirectory scratch_;
  const StateDirectory state_;
  KeptBytes kept_{0};
  const Uploads uploads_;
  ContentChecks checks_{uploads_, [](const Timers::Event& event) { event(); }};
};

TEST_F(ContentChecksTest, NamesWhatThisUserHasNotSent) {
  EXPECT_EQ(Missing("anna", {kSha256OfHello}), "");
  EXPECT_EQ(Missing("anna", {kSha256OfHello, kSha256OfX}), kSha256OfX);
  EXPECT_EQ(Missing("eve", {kSha256OfHello}), kSha256OfHello);
  EXPECT_EQ(Missing("anna", {}), "");
}

TEST_F(ContentChecksTest, WhoAsksDoesNotWait) {
  std::promise<void> go_on, second;
  checks_.FindMissing("anna", {}, [&](const std::string&) { go_on.get_future().wait(); });
  checks_.FindMissing("anna", {}, [&](const std::string&) { second.set_value(); });
  go_on.set_value();
  second.get_future().wait();
}

}  // namespace
}  // namespace bspnow::coordinator
