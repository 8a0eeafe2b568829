#include "worker/state_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

TEST(StateDirectoryTest, ProgramsPassThroughItAndSeeNothing) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/new";
  ASSERT_TRUE(StateDirectory::Open(path).ok());
  const fs::perms passed = fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec;
  EXPECT_EQ(fs::status(path).permissions(), passed);
  EXPECT_EQ(fs::status(path + "/jobs").permissions(), passed);
  EXPECT_EQ(fs::status(path + "/cache").permissions(), fs::perms::owner_all);
}

TEST(StateDirectoryTest, IsOneWorkersAtATime) {
  const ScratchDirectory scratch;
  const auto first = StateDirectory::Open(scratch.path());
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = StateDirectory::Open(scratch.path()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(second)) << second;
}

// They would be exchanged by that user: the programs, and the directories, of others' jobs.
TEST(StateDirectoryTest, OfRootIsNoOtherUsersNorIsAPart) {
  constexpr uid_t kService = 4711;
  const ScratchDirectory scratch;
  for (const char* part : {"", "/jobs", "/cache"}) {
    const std::string path = scratch.path() + part;
    fs::create_directories(path);
    if (geteuid() != 0 || chown(path.c_str(), kService, kService) != 0)
      GTEST_SKIP() << "nobody but root gives files away";
    const absl::Status refused = StateDirectory::Open(scratch.path()).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_NE(refused.message().find("chown root " + path), std::string::npos) << refused;
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_TRUE(StateDirectory::Open(scratch.path()).ok());
}

}  // namespace
}  // namespace bspnow::worker
