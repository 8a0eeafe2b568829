#include "client/options/spelling.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

TEST(SpellingTest, CountsInsertedRemovedReplacedAndSwappedLetters) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("jobs", "jobs"), 0u);
  EXPECT_EQ(EditDistance("job", "jobs"), 1u);
  EXPECT_EQ(EditDistance("jobss", "jobs"), 1u);
  EXPECT_EQ(EditDistance("jabs", "jobs"), 1u);
  EXPECT_EQ(EditDistance("jbos", "jobs"), 1u);
  EXPECT_EQ(EditDistance("", "jobs"), 4u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(SpellingTest, NamesTheNearestOfThoseThatAreNear) {
  const std::vector<std::string> known = {"show", "submit", "suspend", "jobs"};
  EXPECT_EQ(NearestWord("submti", known), "submit");
  EXPECT_EQ(NearestWord("jbo", known), "jobs");
  EXPECT_EQ(NearestWord("frobnicate", known), "");
  EXPECT_EQ(NearestWord("xy", known), "");
  EXPECT_EQ(NearestWord("", known), "");
}

TEST(SpellingTest, MeansOptionsByADashAndElseCommands) {
  CLI::App app("", "bsp");
  std::string value;
  app.add_option("-n,--nodes", value);
  app.add_subcommand("nodes", "");
  EXPECT_EQ(DidYouMean(app, "--ndoes=3"), "; did you mean --nodes?");
  EXPECT_EQ(DidYouMean(app, "ndoes"), "; did you mean nodes?");
  EXPECT_EQ(DidYouMean(app, "--frobnicate"), "");
  EXPECT_EQ(DidYouMean(app, "-x"), "");
}

}  // namespace
}  // namespace bspnow::client
