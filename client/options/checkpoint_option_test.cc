#include "client/options/checkpoint_option.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

using Kind = CheckpointOption::Kind;

TEST(CheckpointOptionTest, ReadsEveryPolicy) {
  EXPECT_EQ(ParseCheckpointOption("auto")->kind, Kind::kAuto);
  EXPECT_EQ(ParseCheckpointOption("off")->kind, Kind::kOff);
  EXPECT_EQ(ParseCheckpointOption("every=100")->kind, Kind::kSupersteps);
  EXPECT_EQ(ParseCheckpointOption("every=100")->every, 100u);
  for (const auto& [text, ms] :
       {std::pair("every=300ms", 300u), std::pair("every=30s", 30'000u),
        std::pair("every=2m", 120'000u), std::pair("every=1.5h", 5'400'000u)}) {
    EXPECT_EQ(ParseCheckpointOption(text)->kind, Kind::kTime) << text;
    EXPECT_EQ(ParseCheckpointOption(text)->every, ms) << text;
  }
}

TEST(CheckpointOptionTest, RefusesWhatIsNone) {
  for (const char* text : {"", "on", "every", "every=", "every=0", "every=0s", "every=-1",
                           "every=1.5", "every=3x", "every=s", "every=99999999999999999999"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseCheckpointOption(text).status())) << text;
  }
}

}  // namespace
}  // namespace bspnow::client
