#include "worker/job/disk_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/remove_tree.h"
#include "base/testing/capability.h"
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class DiskWatchTest : public testing::Test {
 protected:
  UniqueFd Write(const std::string& path, std::uint64_t bytes) {
    UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_TRUE(file.valid()) << path;
    const std::string text(bytes, 'x');
    EXPECT_EQ(write(file.get(), text.data(), bytes), static_cast<ssize_t>(bytes));
    return file;
  }

  /// Of a job with a directory of its own.
  JobFilesHere FilesOf(std::uint64_t job) {
    const std::string directory = scratch_.path() + "/" + std::to_string(job);
    std::filesystem::create_directories(directory);
    return {.job = JobId{job}, .epoch = Epoch{1}, .directory = directory, .processes = {}};
  }

  const ScratchDirectory scratch_ = ScratchDirectory::InMemory();
};

TEST_F(DiskWatchTest, ReserveIsAPartOfASmallDiskAndNoMoreOfALargeOne) {
  EXPECT_EQ((DiskRoom{.bytes = 20 * kMiB, .free_bytes = 0}.reserve_bytes()), kMiB);
  EXPECT_EQ((DiskRoom{.bytes = kMiB << 20, .free_bytes = 0}.reserve_bytes()), 1024 * kMiB);
}

TEST_F(DiskWatchTest, RoomIsThatOfTheDirectorysDisk) {
  const auto room = RoomAt(scratch_.path());
  ASSERT_TRUE(room.has_value());
  EXPECT_GT(room->bytes, 0u);
  EXPECT_LE(room->free_bytes, room->bytes);
  EXPECT_FALSE(RoomAt(scratch_.path() + "/none").has_value());
}

TEST_F(DiskWatchTest, CountsWhatIsOnTheDiskAndNotWhatIsSaidToBe) {
  const JobFilesHere files = FilesOf(1);
  std::filesystem::create_directories(files.directory + "/deep/er");
  Write(files.directory + "/deep/er/file", kMiB);
  const UniqueFd sparse = Write(files.directory + "/sparse", 1);
  ASSERT_EQ(ftruncate(sparse.get(), 1 << 30), 0);
  std::filesystem::create_symlink("/usr", files.directory + "/link");
  const std::uint64_t bytes = UseOfDisk(files).bytes;
  EXPECT_GE(bytes, kMiB);
  EXPECT_LT(bytes, 2 * kMiB);
}

TEST_F(DiskWatchTest, CountsWhatAProcessHoldsWithoutAName) {
  JobFilesHere files = FilesOf(1);
  const std::string path = files.directory + "/hidden";
  const UniqueFd hidden = Write(path, 3 * kMiB);
  const UniqueFd again(dup(hidden.get()));
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(UseOfDisk(files).bytes, 0u);
  files.processes = {getpid()};
  EXPECT_GE(UseOfDisk(files).bytes, 3 * kMiB);
  EXPECT_LT(UseOfDisk(files).bytes, 4 * kMiB);
}

/// The exit status of a child that does that.
template <typename Work>
int StatusOf(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The most that this process has had at once.
std::uint64_t PeakBytes() {
  rusage usage{};
  EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
}

// Of a program that goes on making one directory in the other. What is counted is what grows: a
// limit would count what a sanitizer takes for itself.
TEST_F(DiskWatchTest, ADeepTreeTakesLittleMemory) {
  constexpr int kLevels = 5'000;  // With a path for each it would take more than a GB.
  const JobFilesHere files = FilesOf(1);
  Write(files.directory + "/file", kMiB);
  UniqueFd at(open(files.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int level = 0; level < kLevels; ++level) {
    ASSERT_EQ(mkdirat(at.get(), "d", 0700), 0);
    at = UniqueFd(openat(at.get(), "d", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  EXPECT_EQ(StatusOf([&] {
              rlimit descriptors{};
              getrlimit(RLIMIT_NOFILE, &descriptors);
              descriptors.rlim_cur = descriptors.rlim_max;
              setrlimit(RLIMIT_NOFILE, &descriptors);
              const std::uint64_t before = PeakBytes();
              if (UseOfDisk(files).bytes < kMiB) return 1;
              return PeakBytes() - before < 256 * kMiB ? 0 : 2;
            }),
            0);
  EXPECT_TRUE(RemoveTree(files.directory));
}

// The daemon of the packages is root, and may not trace anybody (bspnow-worker.service).
TEST_F(DiskWatchTest, CountsWhatAProcessOfAnotherUserHoldsWithoutAName) {
  const Account account{
      .name = "somebody", .user = 54'321, .group = 54'321, .groups = {}, .home = {}};
  if (StatusOf([&] { return Become(account) ? 0 : 1; }) != 0)
    GTEST_SKIP() << "only root can become another user";
  JobFilesHere files = FilesOf(1);
  const std::string path = files.directory + "/hidden";
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd told(ends[0]);
  UniqueFd tells(ends[1]);
  const pid_t holder = fork();
  if (holder == 0) {
    const UniqueFd hidden = Write(path, 3 * kMiB);
    unlink(path.c_str());
    // As a program does that is executed: who changes his user is not looked at by anybody.
    if (!Become(account) || prctl(PR_SET_DUMPABLE, 1) != 0 || write(tells.get(), "!", 1) != 1)
      _exit(1);
    for (;;) pause();
  }
  tells.Reset();  // Else a holder that fails would be waited for.
  char holds = 0;
  EXPECT_EQ(read(told.get(), &holds, 1), 1);
  files.processes = {holder};
  files.account = account;
  EXPECT_EQ(StatusOf([&] {
              if (!DropCapability(CAP_SYS_PTRACE)) return 1;
              return UseOfDisk(files).bytes >= 3 * kMiB ? 0 : 2;
            }),
            0);
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
}

TEST_F(DiskWatchTest, WhoHasMostFillsADiskThatIsNearlyFull) {
  const std::vector<JobFilesHere> jobs = {FilesOf(1), FilesOf(2), FilesOf(3)};
  Write(jobs[0].directory + "/file", 2 * kMiB);
  Write(jobs[1].directory + "/file", 4 * kMiB);
  const DiskRoom full{.bytes = 20 * kMiB, .free_bytes = kMiB - 1};
  const auto who = WhoFills(full, jobs);
  ASSERT_TRUE(who.has_value());
  EXPECT_EQ(who->files.job, JobId{2});
  EXPECT_GE(who->use.bytes, 4 * kMiB);
  EXPECT_EQ(who->lacking, Lacking::kBytes);
  EXPECT_FALSE(WhoFills({.bytes = 20 * kMiB, .free_bytes = kMiB}, jobs).has_value());
}

// Empty files and directories take no bytes.
TEST_F(DiskWatchTest, WhoHasMostFilesTakesTheInodesOfADisk) {
  const std::vector<JobFilesHere> jobs = {FilesOf(1), FilesOf(2)};
  Write(jobs[0].directory + "/file", 2 * kMiB);
  for (int i = 0; i < 5; ++i)
    std::filesystem::create_directories(jobs[1].directory + "/" + std::to_string(i) + "/below");
  DiskRoom room{.bytes = 200 * kMiB, .free_bytes = 100 * kMiB, .inodes = 180, .free_inodes = 8};
  const auto who = WhoFills(room, jobs);
  ASSERT_TRUE(who.has_value());
  EXPECT_EQ(who->files.job, JobId{2});
  EXPECT_EQ(who->use.inodes, 10u);
  EXPECT_EQ(who->lacking, Lacking::kInodes);
  room.free_inodes = 9;
  EXPECT_FALSE(WhoFills(room, jobs).has_value());
  room = {.bytes = 200 * kMiB, .free_bytes = 100 * kMiB, .inodes = 400, .free_inodes = 0};
  EXPECT_FALSE(WhoFills(room, jobs).has_value()) << "nobody pays for another's";
  room = {.bytes = 200 * kMiB, .free_bytes = 100 * kMiB};
  EXPECT_FALSE(WhoFills(room, jobs).has_value()) << "it makes them as they are needed";
}

TEST_F(DiskWatchTest, NobodyPaysForAnothersFiles) {
  const std::vector<JobFilesHere> jobs = {FilesOf(1)};
  Write(jobs[0].directory + "/file", kMiB / 2);
  EXPECT_FALSE(WhoFills({.bytes = 20 * kMiB, .free_bytes = 0}, jobs).has_value());
}

}  // namespace
}  // namespace bspnow::worker
