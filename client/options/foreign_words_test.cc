#include "client/options/foreign_words.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

class ForeignWordsTest : public testing::Test {
 protected:
  ForeignWordsTest() {
    app_.add_subcommand("jobs", "")->add_option("--state", value_);
    app_.add_subcommand("submit", "")->add_option("-n,--time-limit", value_);
  }

  CLI::App app_{"", "bsp"};
  std::string value_;
};

TEST_F(ForeignWordsTest, KnowsCommandsOfSlurmAndTheShell) {
  EXPECT_EQ(OurWordFor(app_, "squeue"), "jobs");
  EXPECT_EQ(OurWordFor(app_, "ls"), "jobs");
  EXPECT_EQ(OurWordFor(app_, "frobnicate"), "");
}

TEST_F(ForeignWordsTest, NamesNothingThatIsNotThere) {
  EXPECT_EQ(OurWordFor(app_, "scancel"), "");
  EXPECT_EQ(OurWordFor(*app_.get_subcommand("jobs"), "--mem"), "");
}

TEST_F(ForeignWordsTest, MeansByOneLetterWhatTheCommandHas) {
  EXPECT_EQ(OurWordFor(*app_.get_subcommand("submit"), "-t"), "--time-limit");
  EXPECT_EQ(OurWordFor(*app_.get_subcommand("jobs"), "-t"), "--state");
}

TEST_F(ForeignWordsTest, KnowsWhichCommandHasWhatTheOtherHasNot) {
  EXPECT_EQ(CommandWith("--input=data"), "bsp submit");
  EXPECT_EQ(CommandWith("--timing"), "bsprun");
  EXPECT_EQ(CommandWith("--output"), "") << "both have it";
}

TEST_F(ForeignWordsTest, SaysOfWhatHasNoCounterpartThatThereIsNone) {
  EXPECT_EQ(WhyWithout("--bind-to"), "it is not needed here");
  EXPECT_EQ(WhyWithout("--gres=gpu:1"), "there is nothing like it here");
  EXPECT_EQ(WhyWithout("--nodes"), "");
}

TEST_F(ForeignWordsTest, LeavesAnOptionsValueOut) {
  EXPECT_EQ(OurWordFor(*app_.get_subcommand("submit"), "--ntasks=4"), "-n");
}

}  // namespace
}  // namespace bspnow::client
