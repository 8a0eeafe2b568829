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
  EXPECT_EQ(NearestWord("susp", known), "suspend") << "it begins so, and no other does";
  EXPECT_EQ(NearestWord("su", known), "");
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

TEST(SpellingTest, TakesAWordOfAnotherSystemForWhatItMeansThere) {
  CLI::App app("", "bsp");
  for (const char* name : {"top", "cancel", "jobs"}) app.add_subcommand(name, "");
  EXPECT_EQ(DidYouMean(app, "stop"), "; did you mean cancel?");
  EXPECT_EQ(DidYouMean(app, "squeue"), "; did you mean jobs?");
  EXPECT_EQ(DidYouMean(app, "--exclusive"), "; there is nothing like it here");
}

TEST(SpellingTest, FindsASecondProgramAsMpirunHasIt) {
  CLI::App app("", "bsprun");
  std::string value;
  app.add_option("-n,--nodes", value);
  for (const char* option : {"-n", "-np", "--nodes=2"})
    EXPECT_NE(SecondProgram(app, {"./a", "x", ":", option, "./b"}).find("write -- before ./a"),
              std::string::npos);
  EXPECT_EQ(SecondProgram(app, {"./a", ":", "x", "-n"}), "");
  EXPECT_EQ(SecondProgram(app, {"./a", ":", "-x"}), "");
  EXPECT_EQ(SecondProgram(app, {"./a", "--", ":", "-n"}), "");
  EXPECT_EQ(SecondProgram(app, {"--", "./a", ":", "-n"}), "");
  EXPECT_EQ(SecondProgram(app, {"./a", ":"}), "");
}

TEST(SpellingTest, FindsOurOptionsAmongTheProgramsArguments) {
  CLI::App app("", "bsprun");
  std::string value;
  app.add_option("-n,--nodes", value);
  EXPECT_EQ(MisplacedOption(app, {"./a.out", "x", "-n", "4"}),
            "; -n stands after the program, and so is an argument of it: write -n before ./a.out");
  EXPECT_NE(MisplacedOption(app, {"./a.out", "--nodes=4"}).find("write --nodes before"),
            std::string::npos);
  EXPECT_NE(MisplacedOption(app, {"./a.out", "-np", "4"}), "");
  EXPECT_EQ(MisplacedOption(app, {"./a.out", "nodes", "-x", "-", "--", "-n"}), "");
  EXPECT_EQ(MisplacedOption(app, {"-n"}), "");
  EXPECT_EQ(MisplacedOption(app, {"./a.out", "--help"}), "");
  app.parse("-n 4");
  EXPECT_EQ(MisplacedOption(app, {"./a.out", "-n", "10"}), "") << "that one is the program's";
}

}  // namespace
}  // namespace bspnow::client
