#include "worker/restore/text.h"

#include <gtest/gtest.h>

#include <string>

namespace bspnow::restore {
namespace {

std::string Moved(const char* path, const char* old_directory, const char* new_directory) {
  Path moved;
  MovePath(path, old_directory, new_directory, moved);
  return moved.text;
}

TEST(MovePathTest, TakesWhatLiesBelowTheOldDirectoryToTheNew) {
  EXPECT_EQ(Moved("/jobs/1-1/out/a.txt", "/jobs/1-1", "/other/2"), "/other/2/out/a.txt");
  EXPECT_EQ(Moved("/jobs/1-1", "/jobs/1-1", "/other/2"), "/other/2");
}

TEST(MovePathTest, LeavesOtherPathsAlone) {
  EXPECT_EQ(Moved("/jobs/1-11/a.txt", "/jobs/1-1", "/other"), "/jobs/1-11/a.txt");
  EXPECT_EQ(Moved("/jobs", "/jobs/1-1", "/other"), "/jobs");
  EXPECT_EQ(Moved("/data/a.txt", "", ""), "/data/a.txt");
}

TEST(MovePathTest, CutsWhatIsTooLongForThePathOfAFile) {
  const std::string longest(2 * kPathBytes, 'x');
  EXPECT_EQ(Moved(longest.c_str(), "", "").size(), kPathBytes - 1);
}

}  // namespace
}  // namespace bspnow::restore
