// Of a user of whom nothing else is on this machine. Only root can be another user for a while.
#include "worker/host/leftovers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/testing/capability.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kUser = 54'321;

class LeftoversTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0 || StatusOf(Start([] {})) != 0)
      GTEST_SKIP() << "only root can become another user";
    chmod(scratch_.path().c_str(), 01777);
  }

  pid_t Start(const std::function<void()>& program) {
    const pid_t child = fork();
    if (child != 0) return child;
    if (!Become(account_)) _exit(1);
    program();
    _exit(0);
  }
  static int StatusOf(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child ? status : -1;
  }
  void Run(const std::function<void()>& program) { ASSERT_EQ(StatusOf(Start(program)), 0); }
  std::string Path(const std::string& name) const { return scratch_.path() + "/" + name; }
  bool Remove() const { return RemoveLeftovers(account_, {scratch_.path()}).ok(); }

  const ScratchDirectory scratch_ = ScratchDirectory::InMemory();
  const Account account_{
      .name = "somebody", .user = kUser, .group = kUser, .groups = {}, .home = "/"};
};

TEST_F(LeftoversTest, RemovesWhatIsTheAccountsAndNothingElse) {
  fs::create_directory(Path("ours"));
  std::ofstream(Path("ours/file")) << "ours";
  Run([this] {
    fs::create_directories(Path("theirs/deep"));
    std::ofstream(Path("theirs/deep/file")) << "secret";
    chmod(Path("theirs/deep").c_str(), 0);
    std::ofstream(Path("file")) << "secret";
    fs::create_symlink(Path("ours"), Path("link"));
  });
  EXPECT_TRUE(Remove());
  EXPECT_FALSE(fs::exists(Path("theirs")));
  EXPECT_FALSE(fs::exists(Path("file")));
  EXPECT_FALSE(fs::is_symlink(fs::symlink_status(Path("link"))));
  EXPECT_TRUE(fs::exists(Path("ours/file")));
}

TEST_F(LeftoversTest, RemovesWhatIsInDirectoriesOfOthers) {
  fs::create_directories(Path("ours/open"));
  ASSERT_EQ(chmod(Path("ours/open").c_str(), 01777), 0);
  std::ofstream(Path("ours/open/file")) << "ours";
  Run([this] {
    fs::create_directories(Path("ours/open/theirs"));
    std::ofstream(Path("ours/open/theirs/file")) << "secret";
    fs::create_symlink(Path("ours"), Path("ours/open/link"));
  });
  EXPECT_TRUE(Remove());
  EXPECT_FALSE(fs::exists(Path("ours/open/theirs")));
  EXPECT_FALSE(fs::is_symlink(fs::symlink_status(Path("ours/open/link"))));
  EXPECT_TRUE(fs::exists(Path("ours/open/file")));
}

TEST_F(LeftoversTest, ManyOfItsOwnHideNothing) {
  constexpr int kMoreThanAreLookedAt = 21'000;
  fs::create_directories(Path("ours/open"));
  ASSERT_EQ(chmod(Path("ours/open").c_str(), 01777), 0);
  Run([this] {
    std::ofstream(Path("ours/open/theirs")) << "secret";
    for (int i = 0; i < kMoreThanAreLookedAt; ++i)
      if (mknod(Path(std::to_string(i)).c_str(), S_IFREG | 0600, 0) != 0) _exit(1);
  });
  EXPECT_TRUE(Remove());
  EXPECT_FALSE(fs::exists(Path("ours/open/theirs")));
  EXPECT_FALSE(fs::exists(Path("0")));
}

// Else a third user could have the images of another job removed.
TEST_F(LeftoversTest, FollowsNoLinkThatIsPutThereMeanwhile) {
  constexpr int kTimes = 200;
  fs::create_directory(Path("elsewhere"));
  ASSERT_EQ(chmod(Path("elsewhere").c_str(), 01777), 0);
  Run([this] { std::ofstream(Path("elsewhere/theirs")) << "kept"; });
  fs::create_directories(Path("common/a"));
  fs::create_directory_symlink(Path("elsewhere"), Path("common/b"));
  const pid_t changes = fork();
  ASSERT_GE(changes, 0);
  while (changes == 0)
    renameat2(AT_FDCWD, Path("common/a").c_str(), AT_FDCWD, Path("common/b").c_str(),
              RENAME_EXCHANGE);
  for (int i = 0; i < kTimes; ++i) EXPECT_TRUE(RemoveLeftovers(account_, {Path("common")}).ok());
  kill(changes, SIGKILL);
  waitpid(changes, nullptr, 0);
  EXPECT_TRUE(fs::exists(Path("elsewhere/theirs")));
}

// A job's images in a share, say.
TEST_F(LeftoversTest, LeavesWhatWasGivenToTheAccount) {
  fs::create_directories(Path("share/7"));
  std::ofstream(Path("share/7/image")) << "given";
  ASSERT_EQ(chown(Path("share/7").c_str(), kUser, kUser), 0);
  ASSERT_EQ(chown(Path("share/7/image").c_str(), kUser, kUser), 0);
  EXPECT_TRUE(Remove());
  EXPECT_TRUE(fs::exists(Path("share/7/image")));
}

TEST_F(LeftoversTest, NoTreeOfOthersHidesWhatLiesBesideIt) {
  constexpr int kMoreThanAreLookedAt = 21'000;
  Run([this] { std::ofstream(Path("theirs")) << "secret"; });
  fs::create_directory(Path("ours"));
  for (int i = 0; i < kMoreThanAreLookedAt; ++i)
    ASSERT_EQ(mkdir(Path("ours/" + std::to_string(i)).c_str(), 0700), 0);
  EXPECT_TRUE(Remove());
  EXPECT_FALSE(fs::exists(Path("theirs")));
}

// As the packages' daemon, which is root and may not do all (bspnow-worker.service).
TEST_F(LeftoversTest, RemovesSharedMemoryOfSystemV) {
  const int ours = shmget(IPC_PRIVATE, 4096, 0600);
  if (ours < 0) GTEST_SKIP() << "no System V here";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Run([&ends] {
    const int shm = shmget(IPC_PRIVATE, 4096, 0600);
    if (write(ends[1], &shm, sizeof shm) != sizeof shm) _exit(1);
  });
  int theirs = -1;
  ASSERT_EQ(read(ends[0], &theirs, sizeof theirs), static_cast<ssize_t>(sizeof theirs));
  shmid_ds state{};
  ASSERT_EQ(shmctl(theirs, IPC_STAT, &state), 0);
  const pid_t daemon = fork();
  if (daemon == 0) _exit(DropCapability(CAP_SYS_ADMIN) && Remove() ? 0 : 1);
  EXPECT_EQ(StatusOf(daemon), 0);
  EXPECT_NE(shmctl(theirs, IPC_STAT, &state), 0);
  EXPECT_EQ(shmctl(ours, IPC_STAT, &state), 0);
  shmctl(ours, IPC_RMID, nullptr);
}

// A process of somebody else would keep what the account's programs have left for the next one.
TEST_F(LeftoversTest, NoNameOfAProcessSaysWhoseItIs) {
  const auto named = [this](const Account* account, const std::string& name) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      if (account != nullptr && !Become(*account)) _exit(1);
      prctl(PR_SET_NAME, name.c_str());
      if (write(ends[1], "!", 1) == 1) pause();
      _exit(1);
    }
    char lives = 0;
    EXPECT_EQ(read(ends[0], &lives, 1), 1);
    const bool removed = Remove();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return removed;
  };
  EXPECT_TRUE(named(nullptr, "Uid: " + std::to_string(kUser)));
  EXPECT_FALSE(named(&account_, "Uid: 1"));
}

TEST_F(LeftoversTest, LeavesAllToAProcessThatLives) {
  Run([this] { std::ofstream(Path("file")) << "in use"; });
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = Start([&ends] {
    if (write(ends[1], "!", 1) == 1) pause();
  });
  char lives = 0;
  ASSERT_EQ(read(ends[0], &lives, 1), 1);
  EXPECT_FALSE(Remove());
  EXPECT_TRUE(fs::exists(Path("file")));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(Remove());
  EXPECT_FALSE(fs::exists(Path("file")));
}

}  // namespace
}  // namespace bspnow::worker
