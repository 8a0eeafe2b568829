#include "files/unfinished_files.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"

namespace bspnow::files {
namespace {

constexpr mode_t kMode = 0600;

/// What a program leaves that makes `new`, finishes `whole` and is ended by this signal.
std::set<std::string> LeftBy(int ending, const std::string& directory) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const UniqueFd told(ends[0]);
  UniqueFd tells(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    auto files = std::make_shared<UnfinishedFiles>();
    RemoveWhenEnded(files, "");
    files->Make(directory + "/new", kMode);
    files->Make(directory + "/half", kMode);
    const bool finished = files->Finish(directory + "/half", directory + "/whole");
    if (!finished || write(tells.get(), "!", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char ready = 0;
  tells.Reset();
  EXPECT_EQ(read(told.get(), &ready, 1), 1);
  kill(child, ending);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == ending) << status;
  std::set<std::string> left;
  for (const auto& each : std::filesystem::directory_iterator(directory))
    left.insert(each.path().filename());
  return left;
}

TEST(UnfinishedFilesTest, SignalsThatEndTheProgramLeaveWhatIsWhole) {
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) {
    const ScratchDirectory scratch;
    EXPECT_EQ(LeftBy(ending, scratch.path()), (std::set<std::string>{"whole"})) << ending;
  }
}

TEST(UnfinishedFilesTest, RemovesOnlyWhatItHasMade) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";
  UnfinishedFiles others;
  EXPECT_TRUE(others.Make(path, kMode).valid());
  UnfinishedFiles files;
  EXPECT_FALSE(files.Make(path, kMode).valid());
  EXPECT_EQ(errno, EEXIST);
  files.Remove(path);
  EXPECT_TRUE(std::filesystem::exists(path));
  others.Remove(path);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace bspnow::files
