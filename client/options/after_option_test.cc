#include "client/options/after_option.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

using When = AfterOption::When;

TEST(ParseAfterOptionTest, TakesJobsEachWithItsOwnCondition) {
  const auto options = ParseAfterOption("3,17:any,4:ok");
  ASSERT_TRUE(options.ok()) << options.status();
  ASSERT_EQ(options->size(), 3u);
  EXPECT_EQ((*options)[0].job, 3u);
  EXPECT_EQ((*options)[0].when, When::kSucceeded);
  EXPECT_EQ((*options)[1].job, 17u);
  EXPECT_EQ((*options)[1].when, When::kEnded);
  EXPECT_EQ((*options)[2].when, When::kSucceeded);
}

TEST(ParseAfterOptionTest, TakesRangesOfJobs) {
  const auto options = ParseAfterOption("12-14:any,3");
  ASSERT_TRUE(options.ok()) << options.status();
  ASSERT_EQ(options->size(), 4u);
  EXPECT_EQ((*options)[2].job, 14u);
  EXPECT_EQ((*options)[2].when, When::kEnded);
}

TEST(ParseAfterOptionTest, RefusesWhatNamesNoJob) {
  for (const char* text : {"3-2", "0-3", "3-", "1-99999999999", "", "0", "x", "3,", "3:", "3:all",
                           ":any", "-3", "3 4"})
    EXPECT_FALSE(ParseAfterOption(text).ok()) << text;
}

}  // namespace
}  // namespace bspnow::client
