#include "coordinator/state_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/testing/capability.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

namespace fs = std::filesystem;

class StateDirectoryTest : public testing::Test {
 protected:
  fs::perms ModeOf(const std::string& name) {
    return fs::status(scratch_.path() + name).permissions();
  }

  const ScratchDirectory scratch_;
};

TEST_F(StateDirectoryTest, IsForNobodyElse) {
  ASSERT_TRUE(StateDirectory::Open(scratch_.path() + "/new").ok());
  for (const char* part : {"/new", "/new/jobs", "/new/blobs", "/new/senders"}) {
    EXPECT_EQ(ModeOf(part), fs::perms::owner_all) << part;
  }
}

TEST_F(StateDirectoryTest, LeavesADirectoryThatWasThereAsItIs) {
  const fs::perms open = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec;
  fs::create_directory(scratch_.path() + "/there");
  fs::permissions(scratch_.path() + "/there", open);
  ASSERT_TRUE(StateDirectory::Open(scratch_.path() + "/there").ok());
  EXPECT_EQ(ModeOf("/there"), open);
  EXPECT_EQ(ModeOf("/there/jobs"), fs::perms::owner_all);
  EXPECT_EQ(ModeOf("/there/blobs"), fs::perms::owner_all);
}

// A directory that is like /tmp, whose sticky bit would keep nobody from making the file of tokens.
TEST_F(StateDirectoryTest, IsNoneToWhichEverybodyMayWrite) {
  const std::string open = scratch_.path() + "/open";
  fs::create_directory(open);
  for (const fs::perms sticky : {fs::perms::none, fs::perms::sticky_bit}) {
    fs::permissions(open, fs::perms::all | sticky);
    const absl::Status refused = StateDirectory::Open(open).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_NE(refused.message().find("chmod o-w " + open), std::string::npos) << refused;
    EXPECT_TRUE(fs::is_empty(open));
  }
  EXPECT_TRUE(StateDirectory::Open(open + "/below").ok());
}

TEST_F(StateDirectoryTest, IsNotMadeForAQuestion) {
  EXPECT_TRUE(absl::IsNotFound(StateDirectory::OpenExisting(scratch_.path() + "/none").status()));
  EXPECT_FALSE(fs::exists(scratch_.path() + "/none"));
  fs::create_directory(scratch_.path() + "/there");
  EXPECT_TRUE(StateDirectory::OpenExisting(scratch_.path() + "/there").ok());
  EXPECT_TRUE(fs::is_empty(scratch_.path() + "/there"));
}

TEST_F(StateDirectoryTest, HasServedOnceItHasAnAddress) {
  const auto state = StateDirectory::Open(scratch_.path() + "/new");
  ASSERT_TRUE(state.ok());
  EXPECT_FALSE(state->HasServed());
  ASSERT_TRUE(state->WriteAddress("listen=127.0.0.1:7070\n").ok());
  EXPECT_TRUE(state->HasServed());
}

// Who opens it hears that.
TEST_F(StateDirectoryTest, OneThatMayNotBeLookedIntoIsNotTakenForANewOne) {
  const auto state = StateDirectory::Open(scratch_.path() + "/new");
  ASSERT_TRUE(state.ok());
  ASSERT_EQ(chmod(state->path().c_str(), 0), 0);
  std::thread([&] {
    if (geteuid() == 0) {
      ASSERT_TRUE(DropCapability(CAP_DAC_OVERRIDE));
      ASSERT_TRUE(DropCapability(CAP_DAC_READ_SEARCH));
    }
    EXPECT_TRUE(state->HasServed());
  }).join();
  chmod(state->path().c_str(), S_IRWXU);
}

// As the directory of a group's project is: what is made in it has the bit, too.
TEST_F(StateDirectoryTest, LiesInADirectoryThatGivesItsGroup) {
  ASSERT_EQ(chmod(scratch_.path().c_str(), S_ISGID | S_IRWXU), 0);
  fs::create_directory(scratch_.path() + "/there");
  ASSERT_TRUE((ModeOf("/there") & fs::perms::set_gid) != fs::perms::none);
  for (const char* path : {"/new", "/there"}) {
    EXPECT_TRUE(StateDirectory::Open(scratch_.path() + path).ok()) << path;
    for (const char* part : {"/jobs", "/blobs", "/senders"})
      EXPECT_EQ(ModeOf(std::string(path) + part), fs::perms::owner_all) << path << part;
  }
}

TEST_F(StateDirectoryTest, OfRootIsNoOtherUsers) {
  constexpr uid_t kService = 4711;
  if (geteuid() != 0 || chown(scratch_.path().c_str(), kService, kService) != 0)
    GTEST_SKIP() << "nobody but root gives files away";
  const absl::Status refused = StateDirectory::Open(scratch_.path()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_NE(refused.message().find("uid 4711"), std::string::npos) << refused;
  EXPECT_TRUE(fs::is_empty(scratch_.path()));
  EXPECT_TRUE(StateDirectory::OpenExisting(scratch_.path()).ok()) << "a question of root's";
}

}  // namespace
}  // namespace bspnow::coordinator
