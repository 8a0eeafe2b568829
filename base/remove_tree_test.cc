#include "base/remove_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

class RemoveTreeTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return scratch_.path() + "/" + name; }
  bool IsThere(const std::string& name) const { return fs::exists(fs::symlink_status(Path(name))); }

  const ScratchDirectory scratch_ = ScratchDirectory::InMemory();
};

TEST_F(RemoveTreeTest, RemovesFilesLinksAndNothing) {
  std::ofstream(Path("file")) << "x";
  fs::create_symlink("file", Path("link"));
  EXPECT_TRUE(RemoveTree(Path("link")));
  EXPECT_TRUE(IsThere("file"));
  EXPECT_TRUE(RemoveTree(Path("file")));
  EXPECT_TRUE(RemoveTree(Path("none")));
  EXPECT_TRUE(fs::is_empty(scratch_.path()));
}

TEST_F(RemoveTreeTest, FollowsNoLink) {
  fs::create_directories(Path("ours/deep"));
  std::ofstream(Path("ours/file")) << "x";
  fs::create_directories(Path("tree/0/0/0"));
  fs::create_directory_symlink(Path("ours"), Path("tree/0/0/0/link"));
  fs::create_directory_symlink(Path("ours"), Path("tree/link"));
  EXPECT_TRUE(RemoveTree(Path("tree")));
  EXPECT_FALSE(IsThere("tree"));
  EXPECT_TRUE(IsThere("ours/file") && IsThere("ours/deep"));
  fs::create_directory_symlink(Path("ours"), Path("tree"));
  EXPECT_TRUE(RemoveTree(Path("tree")));
  EXPECT_TRUE(IsThere("ours/file"));
}

TEST_F(RemoveTreeTest, RemovesWhatIsClosedAndHasTheNamesThatItGives) {
  for (const char* const name : {"tree/0/0/0/x", "tree/0/1/1/x", "tree/1/0/x", "tree/2/3/0/0/x"})
    fs::create_directories(Path(name));
  std::ofstream(Path("tree/3")) << "x";
  std::ofstream(Path("tree/0/0/0/file")) << "x";
  for (const char* const name : {"tree/0/0/0", "tree/0/1/1/x", "tree/1/0", "tree/2", "tree"})
    chmod(Path(name).c_str(), 0);
  EXPECT_TRUE(RemoveTree(Path("tree")));
  EXPECT_FALSE(IsThere("tree"));
}

// A process that lives may go on making files.
TEST_F(RemoveTreeTest, EndsInTime) {
  fs::create_directories(Path("tree/0/x"));
  EXPECT_FALSE(RemoveTree(Path("tree"), std::chrono::milliseconds(0)));
  EXPECT_TRUE(IsThere("tree/0/x"));
  EXPECT_TRUE(RemoveTree(Path("tree"), std::chrono::minutes(1)));
}

// A program makes such a tree in a second.
TEST_F(RemoveTreeTest, ADeepTreeTakesFewDescriptors) {
  constexpr int kDeep = 3000;
  constexpr rlim_t kFew = 64;
  ASSERT_TRUE(fs::create_directory(Path("tree")));
  UniqueFd at(open(Path("tree").c_str(), O_RDONLY | O_DIRECTORY));
  for (int i = 0; i < kDeep; ++i) {
    ASSERT_EQ(mkdirat(at.get(), "d", 0700), 0);
    at = UniqueFd(openat(at.get(), "d", O_RDONLY | O_DIRECTORY));
  }
  ASSERT_TRUE(at.valid());
  rlimit had{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &had), 0);
  const rlimit few{kFew, had.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_TRUE(RemoveTree(Path("tree")));
  setrlimit(RLIMIT_NOFILE, &had);
  EXPECT_FALSE(IsThere("tree"));
}

}  // namespace
}  // namespace bspnow
