#include "worker/restore/path.h"

#include <gtest/gtest.h>

#include <string>

namespace bspnow::worker::restore {
namespace {

std::string Moved(const char* path, const char* old_directory, const char* new_directory) {
  Path from;
  from << old_directory;
  Path to;
  to << new_directory;
  return MovedPath(path, from, to).text();
}

TEST(MovedPathTest, TakesWhatLiesBelowTheOldDirectoryToTheNew) {
  EXPECT_EQ(Moved("/jobs/1-1/out/a.txt", "/jobs/1-1", "/other/2"), "/other/2/out/a.txt");
  EXPECT_EQ(Moved("/jobs/1-1", "/jobs/1-1", "/other/2"), "/other/2");
}

TEST(MovedPathTest, LeavesOtherPathsAlone) {
  EXPECT_EQ(Moved("/jobs/1-11/a.txt", "/jobs/1-1", "/other"), "/jobs/1-11/a.txt");
  EXPECT_EQ(Moved("/jobs", "/jobs/1-1", "/other"), "/jobs");
  EXPECT_EQ(Moved("/data/a.txt", "", ""), "/data/a.txt");
}

TEST(MovedPathTest, CutsWhatIsTooLongForThePathOfAFile) {
  const std::string longest(2 * Path::kBytesMax, 'x');
  EXPECT_EQ(Moved(longest.c_str(), "", "").size(), Path::kBytesMax - 1);
}

}  // namespace
}  // namespace bspnow::worker::restore
