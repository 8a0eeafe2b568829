#include "worker/node_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

TEST(NodeFactsTest, DescribeThisMachine) {
  EXPECT_GE(UsableProcessors(), 1u);
  EXPECT_GE(LoadAverage(), 0);
}

// Else each of many nodes that calm down says so every five seconds, for minutes.
TEST(NodeFactsTest, OfAHighLoadOnlyALargeChangeIsNews) {
  EXPECT_FALSE(IsNewsOfLoad(0.2, 0));
  EXPECT_TRUE(IsNewsOfLoad(0.3, 0));
  EXPECT_TRUE(IsNewsOfLoad(0, 0.3));
  EXPECT_FALSE(IsNewsOfLoad(46, 50));
  EXPECT_TRUE(IsNewsOfLoad(37, 50));
  EXPECT_TRUE(IsNewsOfLoad(63, 50));
}

TEST(NodeFactsTest, FeaturesAreSortedWords) {
  const std::vector<std::string> features = CpuFeatures();
  EXPECT_TRUE(std::is_sorted(features.begin(), features.end()));
  for (const std::string& feature : features) {
    EXPECT_EQ(feature.find_first_of(" \t\n:"), std::string::npos) << feature;
  }
}

TEST(NodeFactsTest, TheRateIsMeasuredOnceAndKept) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/flops";
  EXPECT_GT(FlopsOf(path), 1e6);
  std::ofstream(path) << "12345\n";
  EXPECT_EQ(FlopsOf(path), 12345);
}

}  // namespace
}  // namespace bspnow::worker
