#include "base/file_owner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/durable_file.h"
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"

namespace bspnow {
namespace {

constexpr uid_t kService = 4711;
constexpr gid_t kGroup = 4712;

struct stat StatOf(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(stat(path.c_str(), &found), 0) << path;
  return found;
}

mode_t ModeOf(const std::string& path) { return StatOf(path).st_mode & 07777; }

class FileOwnerTest : public testing::Test {
 protected:
  void ExpectOfService(const std::string& path) {
    EXPECT_EQ(StatOf(path).st_uid, kService);
    EXPECT_EQ(StatOf(path).st_gid, kGroup);
  }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.path() + "/tokens";
};

class FileOwnerOfRootTest : public FileOwnerTest {
 protected:
  void SetUp() override {
    if (chown(scratch_.path().c_str(), kService, kGroup) != 0)
      GTEST_SKIP() << "nobody but root gives files away";
  }
};

TEST_F(FileOwnerOfRootTest, ANewFileIsThatOfItsDirectory) {
  ASSERT_TRUE(ReplaceFile(path_, "new").ok());
  ExpectOfService(path_);
  EXPECT_EQ(ModeOf(path_), 0600u);
}

TEST_F(FileOwnerOfRootTest, AReplacedFileKeepsItsOwnerAndMode) {
  ASSERT_EQ(chown(scratch_.path().c_str(), 0, 0), 0);
  std::ofstream(path_) << "old";
  ASSERT_EQ(chown(path_.c_str(), kService, kGroup), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
  ASSERT_TRUE(ReplaceFile(path_, "new").ok());
  ExpectOfService(path_);
  EXPECT_EQ(ModeOf(path_), 0640u);
}

// A service that root once ran by mistake mends what is its own.
TEST_F(FileOwnerOfRootTest, WhoMayNotGiveFilesAwayKeepsThem) {
  std::ofstream(path_) << "old";
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  ASSERT_EQ(setegid(kGroup), 0);
  ASSERT_EQ(seteuid(kService), 0);
  const absl::Status replaced = ReplaceFile(path_, "new");
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(setegid(0), 0);
  EXPECT_TRUE(replaced.ok()) << replaced;
  ExpectOfService(path_);
  EXPECT_EQ(ModeOf(path_), 0600u);
}

TEST_F(FileOwnerTest, NamesWhatCannotBeLookedAt) {
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const absl::Status lost = TakeOwnerAndMode(file.get(), scratch_.path() + "/none/file", 0600);
  EXPECT_TRUE(absl::IsNotFound(lost)) << lost;
}

TEST_F(FileOwnerTest, APathMayLackADirectory) {
  const UniqueFd file(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_EQ(chdir(scratch_.path().c_str()), 0);
  EXPECT_TRUE(TakeOwnerAndMode(file.get(), "new", 0600).ok());
  EXPECT_EQ(ModeOf(path_), 0600u);
}

}  // namespace
}  // namespace bspnow
