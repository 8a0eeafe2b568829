#include "client/options/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"
#include "files/unfinished_files.h"

namespace bspnow::client {
namespace {

absl::StatusOr<OutputFile> Create(const std::string& path) {
  return OutputFile::Create(path, std::make_shared<files::UnfinishedFiles>());
}

TEST(OutputFileTest, PutsTheJobsIdIntoItsName) {
  EXPECT_EQ(OutputPath("out", 7), "out");
  EXPECT_EQ(OutputPath("out-%j.%j", 7), "out-7.7");
  EXPECT_EQ(OutputPath("100%%-%%j", 7), "100%-%j");
  EXPECT_TRUE(HasJobId("a%j"));
  EXPECT_FALSE(HasJobId("a%%j"));
}

TEST(OutputFileTest, RefusesPatternsThatMeanNothing) {
  EXPECT_EQ(CheckOutputPattern("out-%j%%"), "");
  EXPECT_NE(CheckOutputPattern(""), "");
  EXPECT_NE(CheckOutputPattern("-"), "");
  EXPECT_EQ(CheckOutputPattern("./-"), "");
  EXPECT_NE(CheckOutputPattern("out-%x"), "");
  EXPECT_NE(CheckOutputPattern("out-%"), "");
}

TEST(OutputFileTest, SaysWhichFileCannotBeWritten) {
  const ScratchDirectory scratch;
  EXPECT_TRUE(OpenOutput(scratch.path() + "/new").ok());
  const auto refused = OpenOutput(scratch.path() + "/no/such");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            "--output " + scratch.path() + "/no/such: No such file or directory");
}

TEST(OutputFileTest, ReplacesAFileOnceTheNewOneIsWhole) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/results";
  std::ofstream(path) << "old";
  chmod(path.c_str(), 0640);
  {
    absl::StatusOr<OutputFile> file = Create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ(write(file->fd(), "half", 4), 4);
  }
  EXPECT_EQ(FileText(path), "old");
  absl::StatusOr<OutputFile> file = Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(write(file->fd(), "new", 3), 3);
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_EQ(FileText(path), "new");
  struct stat now {};
  stat(path.c_str(), &now);
  EXPECT_EQ(now.st_mode & 0777, 0640u);
  for (const auto& each : std::filesystem::directory_iterator(scratch.path()))
    EXPECT_EQ(each.path(), path);
}

TEST(OutputFileTest, KeepsTheOldFileThoughOneOfADeadProcessLiesBeside) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/results";
  const std::string stale = path + ".new-" + std::to_string(getpid()) + "-0";
  std::ofstream(path) << "old";
  std::ofstream(stale) << "stale";
  absl::StatusOr<OutputFile> file = Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(write(file->fd(), "new", 3), 3);
  EXPECT_EQ(FileText(path), "old");
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_EQ(FileText(path), "new");
  EXPECT_EQ(FileText(stale), "stale");
}

TEST(OutputFileTest, WritesToAFileWithTwoNamesInItsPlace) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/results";
  std::ofstream(path) << "old";
  std::filesystem::create_hard_link(path, path + "-too");
  absl::StatusOr<OutputFile> file = Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(write(file->fd(), "new", 3), 3);
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_EQ(FileText(path + "-too"), "new");
}

TEST(OutputFileTest, DoesNotReplaceAFileThatMayNotBeWrittenTo) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/results";
  std::ofstream(path) << "old";
  chmod(path.c_str(), 0444);
  struct stat before {};
  stat(path.c_str(), &before);
  const bool is_root = geteuid() == 0;  // Who may write to it all the same.
  EXPECT_EQ(CheckOutputPlace(path).ok(), is_root);
  absl::StatusOr<OutputFile> file = Create(path);
  ASSERT_EQ(file.ok(), is_root) << file.status();
  if (is_root) {
    EXPECT_TRUE(file->Commit().ok());
  }
  struct stat after {};
  stat(path.c_str(), &after);
  EXPECT_EQ(after.st_ino, before.st_ino);
}

TEST(OutputFileTest, KnowsBeforeTheJobWhetherItsFileCanBeMade) {
  const ScratchDirectory scratch;
  const std::string directory = scratch.path();
  for (const char* name : {"/out", "/out-%j", "/%j/out", "/%%-%j"})
    EXPECT_TRUE(CheckOutputPlace(directory + name).ok()) << name;
  EXPECT_TRUE(CheckOutputPlace("out").ok());
  EXPECT_TRUE(CheckOutputPlace("/dev/null").ok());
  for (const char* name : {"/no/such", "/no/such-%j", "/no%%/such"})
    EXPECT_EQ(CheckOutputPlace(directory + name).message(),
              "--output " + directory + name + ": No such file or directory");
}

TEST(OutputFileTest, WritesToWhatIsNoOrdinaryFileInItsPlace) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/link";
  std::ofstream(scratch.path() + "/target") << "old";
  std::filesystem::create_symlink("target", path);
  for (const std::string& name : {path, std::string("/dev/null")}) {
    absl::StatusOr<OutputFile> file = Create(name);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ(write(file->fd(), "new", 3), 3);
    EXPECT_TRUE(file->Commit().ok());
  }
  EXPECT_EQ(FileText(scratch.path() + "/target"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const auto refused = Create(scratch.path() + "/no/such");
  EXPECT_EQ(refused.status().message(),
            "--output " + scratch.path() + "/no/such: No such file or directory");
}

}  // namespace
}  // namespace bspnow::client
