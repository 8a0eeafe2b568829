#include "base/failpoint.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <string>

namespace bspnow {
namespace {

using Action = Failpoints::Action;

TEST(FailpointsTest, HappensEveryTimeOrAtTheTimeThatIsNamed) {
  std::string malformed;
  Failpoints points("a=error,b=crash@2,c=sleep:7", malformed);
  EXPECT_EQ(malformed, "");
  EXPECT_EQ(points.Reach("a").action, Action::kError);
  EXPECT_EQ(points.Reach("a").action, Action::kError);
  EXPECT_EQ(points.Reach("b").action, Action::kNone);
  EXPECT_EQ(points.Reach("b").action, Action::kCrash);
  EXPECT_EQ(points.Reach("b").action, Action::kNone);
  EXPECT_EQ(points.Reach("c").sleep_ms, 7u);
  EXPECT_EQ(points.Reach("d").action, Action::kNone);
}

TEST(FailpointsTest, OnePlaceMayFailInSeveralWays) {
  std::string malformed;
  Failpoints points("a=stop@1,a=enospc@2", malformed);
  EXPECT_EQ(points.Reach("a").action, Action::kStop);
  EXPECT_EQ(points.Reach("a").action, Action::kFull);
}

TEST(FailpointsTest, SaysWhichPartIsMalformed) {
  for (const char* wrong : {"a", "=crash", "a=", "a=crahs", "a=crash@", "a=crash@0", "a=sleep:x"}) {
    std::string malformed;
    const Failpoints points("x=error," + std::string(wrong) + ",y=crash", malformed);
    EXPECT_EQ(malformed, wrong);
  }
}

TEST(FailpointDeathTest, DoesWhatTheEnvironmentSays) {
  testing::FLAGS_gtest_death_test_style =
      "threadsafe";  // A new process each: the text is read once.
  setenv(kFailpointsVariable, "a=error@1,a=enospc@2,b=crash", 1);
  EXPECT_EXIT(
      {
        const bool failed = FailpointStatus("a").message().find("failpoint a") == 0;
        exit(failed && Failpoint("a") == ENOSPC && Failpoint("a") == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(static_cast<void>(Failpoint("b")), testing::KilledBySignal(SIGKILL), "");
  setenv(kFailpointsVariable, "a=eror", 1);
  EXPECT_EXIT(static_cast<void>(Failpoint("b")), testing::ExitedWithCode(2),
              "cannot read \"a=eror\"");
}

}  // namespace
}  // namespace bspnow
