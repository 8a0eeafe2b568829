#include "client/options/output_file.h"

#include <gtest/gtest.h>

#include "base/testing/scratch_directory.h"

namespace bspnow::client {
namespace {

TEST(OutputFileTest, PutsTheJobsIdIntoItsName) {
  EXPECT_EQ(OutputPath("out", 7), "out");
  EXPECT_EQ(OutputPath("out-%j.%j", 7), "out-7.7");
  EXPECT_EQ(OutputPath("100%%-%%j", 7), "100%-%j");
  EXPECT_TRUE(HasJobId("a%j"));
  EXPECT_FALSE(HasJobId("a%%j"));
}

TEST(OutputFileTest, RefusesPatternsThatMeanNothing) {
  EXPECT_EQ(CheckOutputPattern("out-%j%%"), "");
  EXPECT_NE(CheckOutputPattern(""), "");
  EXPECT_NE(CheckOutputPattern("out-%x"), "");
  EXPECT_NE(CheckOutputPattern("out-%"), "");
}

TEST(OutputFileTest, SaysWhichFileCannotBeWritten) {
  const ScratchDirectory scratch;
  EXPECT_TRUE(OpenOutput(scratch.path() + "/new").ok());
  const auto refused = OpenOutput(scratch.path() + "/no/such");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            "--output " + scratch.path() + "/no/such: No such file or directory");
}

}  // namespace
}  // namespace bspnow::client
