#include "files/file_store.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include "base/testing/capability.h"
#include "base/testing/scratch_directory.h"
#include "base/testing/synced_paths.h"
#include "base/unique_fd.h"

namespace bspnow::files {
namespace {

constexpr std::uint64_t kLeast = FileSizes::kEntryBytesLeast;
constexpr std::uint64_t kLimit = 4 * kLeast;

TEST(FileStoreTest, GivesBackWhatItTookAndSyncedAtTheEnd) {
  const ScratchDirectory scratch;
  FileReceiver receiver({.directory = scratch.path() + "/files",
                         .bytes_max = kLimit,
                         .durability = Durability::kSynced});
  ASSERT_TRUE(receiver.Begin({.name = "b", .bytes = 0, .mode = 0600}).ok());
  ASSERT_TRUE(receiver.Begin({.name = "a/x", .bytes = 5, .mode = 0755}).ok());
  ASSERT_TRUE(receiver.Append("he").ok());
  ASSERT_TRUE(receiver.Append("llo").ok());
  EXPECT_TRUE(SyncedPaths().empty());
  ASSERT_TRUE(receiver.Finish().ok());
  EXPECT_TRUE(SyncedPaths().contains(scratch.path() + "/files"));
  const auto files = ListFiles(scratch.path() + "/files", {});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].name, "a/x");
  EXPECT_EQ((*files)[0].bytes, 5u);
  EXPECT_EQ((*files)[0].mode & 0700, 0700u);
  EXPECT_EQ((*files)[1].name, "b");
}

TEST(FileStoreTest, RefusesFileThatEndsEarly) {
  const ScratchDirectory scratch;
  FileReceiver receiver(
      {.directory = scratch.path(), .bytes_max = kLimit, .durability = Durability::kSynced});
  ASSERT_TRUE(receiver.Begin({.name = "a", .bytes = 5, .mode = 0600}).ok());
  ASSERT_TRUE(receiver.Append("four").ok());
  EXPECT_FALSE(receiver.Begin({.name = "b", .bytes = 0, .mode = 0600}).ok());
  EXPECT_FALSE(receiver.Finish().ok());
}

TEST(FileStoreTest, AFileThatDidNotComeWholeIsGoneAndThoseBeforeItStay) {
  const ScratchDirectory scratch;
  for (const bool announced : {true, false}) {
    FileReceiver receiver(
        {.directory = scratch.path(), .bytes_max = kLimit, .durability = Durability::kSynced});
    ASSERT_TRUE(receiver.Begin({.name = "a", .bytes = 2, .mode = 0600}).ok());
    ASSERT_TRUE(receiver.Append("ab").ok());
    ASSERT_TRUE(receiver.Begin({.name = "b", .bytes = 5, .mode = 0600}).ok());
    ASSERT_TRUE(receiver.Append("four").ok());
    if (announced) {
      EXPECT_FALSE(receiver.Finish().ok());
    }
  }
  const std::vector<StoredFile> files = FilesBelow(scratch.path())->files;
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "a");
}

TEST(FileStoreTest, AStreamThatBreaksTakesNothingFromTheOneThatCameAfterIt) {
  const ScratchDirectory scratch;
  const FileReceiver::Settings settings{
      .directory = scratch.path(), .bytes_max = kLimit, .durability = Durability::kCached};
  const auto all = [&] {
    FileReceiver second(settings);
    EXPECT_TRUE(second.Begin({.name = "a", .bytes = 4, .mode = 0600}).ok());
    EXPECT_TRUE(second.Append("all ").ok());
    EXPECT_TRUE(second.Begin({.name = "b", .bytes = 2, .mode = 0600}).ok());
    EXPECT_TRUE(second.Append("of").ok());
    EXPECT_TRUE(second.Finish().ok());
  };
  for (const bool late : {false, true}) {
    FileReceiver first(settings);
    ASSERT_TRUE(first.Begin({.name = "a", .bytes = 4, .mode = 0600}).ok());
    ASSERT_TRUE(first.Append("al").ok());
    all();
    if (!late) continue;
    ASSERT_TRUE(first.Append("l ").ok());
    ASSERT_TRUE(first.Begin({.name = "b", .bytes = 2, .mode = 0600}).ok());
    ASSERT_TRUE(first.Append("o").ok());
    EXPECT_EQ(FilesBelow(scratch.path())->files.size(), 2u);
  }
  const std::vector<StoredFile> files = FilesBelow(scratch.path())->files;
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].bytes, 4u);
  EXPECT_EQ(files[1].bytes, 2u);
}

TEST(FileStoreTest, WhatACrashHasLeftOfAFileIsNoFile) {
  const ScratchDirectory scratch;
  const FileReceiver::Settings settings{
      .directory = scratch.path(), .bytes_max = kLimit, .durability = Durability::kCached};
  FileReceiver dead(settings);
  ASSERT_TRUE(dead.Begin({.name = "in/a", .bytes = 4, .mode = 0600}).ok());
  ASSERT_TRUE(dead.Append("al").ok());
  EXPECT_TRUE(FilesBelow(scratch.path())->files.empty());
  FileReceiver next(settings);
  ASSERT_TRUE(next.Begin({.name = "in/a", .bytes = 0, .mode = 0600}).ok());
  ASSERT_TRUE(next.Finish().ok());
  EXPECT_EQ(FilesBelow(scratch.path())->files.size(), 1u);
}

// Each level of directories takes a descriptor while it is listed.
TEST(FileStoreTest, FilesThatCannotBeListedAreNotLeftOut) {
  const ScratchDirectory scratch;
  const std::string deep = scratch.path() + "/0/1/2/3/4/5/6/7/8/9";
  std::filesystem::create_directories(deep);
  std::ofstream(deep + "/file") << "text";
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const UniqueFd next(open("/dev/null", O_RDONLY));
  const rlimit few{.rlim_cur = static_cast<rlim_t>(next.get()) + 4, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto files = FilesBelow(scratch.path());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(absl::IsInternal(files.status())) << files.status();
  EXPECT_EQ(FilesBelow(scratch.path())->files.size(), 1u);
  EXPECT_TRUE(FilesBelow(scratch.path() + "/nothing")->files.empty());
}

TEST(FileStoreTest, NamesDirectoriesThatMayNotBeListedAndFilesThatMayNotBeLookedAt) {
  const ScratchDirectory scratch;
  for (const std::string name : {"a/hidden", "b/c/blind", "d"}) {
    std::filesystem::create_directories(scratch.path() + "/" + name);
    std::ofstream(scratch.path() + "/" + name + "/file") << "text";
  }
  std::filesystem::create_symlink("file", scratch.path() + "/b/c/blind/link");
  const std::map<std::string, mode_t> modes{{scratch.path() + "/a/hidden", S_IWUSR | S_IXUSR},
                                            {scratch.path() + "/b/c/blind", S_IRUSR}};
  for (const auto& [path, mode] : modes) ASSERT_EQ(chmod(path.c_str(), mode), 0);
  absl::StatusOr<FilesFound> found;
  std::jthread([&] {  // Without what root may.
    for (const int right : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH})
      EXPECT_TRUE(DropCapability(right));
    found = FilesBelow(scratch.path());
  })
      .join();
  for (const auto& [path, mode] : modes) ASSERT_EQ(chmod(path.c_str(), S_IRWXU), 0);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->files.size(), 1u);
  EXPECT_EQ(found->files[0].name, "d/file");
  EXPECT_EQ(found->left_out,
            (std::map<std::string, std::string>{{"directory a/hidden", "Permission denied"},
                                                {"file b/c/blind/file", "Permission denied"}}));
}

TEST(FileStoreTest, NamesDirectoriesToWhichNoPathLeads) {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() + "/file") << "text";
  const std::string part(200, 'd');
  UniqueFd at(open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY));
  for (int level = 0; level < 30; ++level) {
    ASSERT_EQ(mkdirat(at.get(), part.c_str(), S_IRWXU), 0);
    at = UniqueFd(openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY));
  }
  const auto found = FilesBelow(scratch.path());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->files.size(), 1u);
  ASSERT_EQ(found->left_out.size(), 1u);
  EXPECT_TRUE(found->left_out.begin()->first.starts_with("directory " + part));
  EXPECT_EQ(found->left_out.begin()->second, "File name too long");
}

TEST(FileStoreTest, RefusesMoreBytesThanAnnounced) {
  const ScratchDirectory scratch;
  FileReceiver receiver(
      {.directory = scratch.path(), .bytes_max = kLimit, .durability = Durability::kSynced});
  ASSERT_TRUE(receiver.Begin({.name = "a", .bytes = 2, .mode = 0600}).ok());
  EXPECT_FALSE(receiver.Append("abc").ok());
}

TEST(FileStoreTest, ZerosAndHolesTakeNoRoomAndAreThere) {
  constexpr std::uint64_t kPart = 1 << 20;
  const ScratchDirectory scratch;
  FileReceiver receiver(
      {.directory = scratch.path(), .bytes_max = 8 * kPart, .durability = Durability::kCached});
  ASSERT_TRUE(receiver.Begin({.name = "a", .bytes = 3 * kPart + 1, .mode = 0600}).ok());
  ASSERT_TRUE(receiver.Append(std::string(kPart, 0)).ok());
  ASSERT_TRUE(receiver.Append("x").ok());
  ASSERT_TRUE(receiver.AppendHole(2 * kPart).ok());
  ASSERT_TRUE(receiver.Finish().ok());
  std::string text;
  std::getline(std::ifstream(scratch.path() + "/a"), text, '\n');
  EXPECT_TRUE(text == std::string(kPart, 0) + "x" + std::string(2 * kPart, 0));
  struct stat status {};
  ASSERT_EQ(stat((scratch.path() + "/a").c_str(), &status), 0);
  EXPECT_LT(status.st_blocks, 1024) << "512 KiB";
}

TEST(FileStoreTest, RefusesAHoleOfMoreBytesThanAnnounced) {
  const ScratchDirectory scratch;
  FileReceiver receiver(
      {.directory = scratch.path(), .bytes_max = kLimit, .durability = Durability::kCached});
  EXPECT_FALSE(receiver.AppendHole(1).ok());
  ASSERT_TRUE(receiver.Begin({.name = "a", .bytes = 2, .mode = 0600}).ok());
  for (const std::uint64_t bytes : {std::uint64_t{3}, ~std::uint64_t{0}})
    EXPECT_FALSE(receiver.AppendHole(bytes).ok());
}

TEST(FileStoreTest, LimitsTheSumOfAllFiles) {
  const ScratchDirectory scratch;
  FileReceiver receiver(
      {.directory = scratch.path(), .bytes_max = 20'000, .durability = Durability::kSynced});
  const std::string most(12'000, 'x');
  ASSERT_TRUE(receiver.Begin({.name = "a", .bytes = most.size(), .mode = 0600}).ok());
  ASSERT_TRUE(receiver.Append(most).ok());
  for (const std::uint64_t bytes : {std::uint64_t{8'001}, ~std::uint64_t{0} - kLeast + 1})
    EXPECT_EQ(receiver.Begin({.name = "b/c", .bytes = bytes, .mode = 0600}).code(),
              absl::StatusCode::kResourceExhausted);
}

TEST(FileStoreTest, LimitsTheNumberOfFilesWithoutBytesAndOfTheirDirectories) {
  for (const std::string in : {"", "a/b/c/"}) {
    const ScratchDirectory scratch;
    FileReceiver receiver(
        {.directory = scratch.path(), .bytes_max = 8 * kLeast, .durability = Durability::kCached});
    const int most = in.empty() ? 8 : 5;
    for (int i = 0; i < most; ++i)
      EXPECT_TRUE(receiver.Begin({.name = in + std::to_string(i), .bytes = 0, .mode = 0600}).ok());
    const absl::Status refused = receiver.Begin({.name = in + "x", .bytes = 0, .mode = 0600});
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  }
}

TEST(FileStoreTest, ReplacesWhatIsThereAndDoesNotWriteThroughIt) {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() + "/elsewhere") << "old";
  std::filesystem::create_directory(scratch.path() + "/files");
  std::filesystem::create_symlink("../elsewhere", scratch.path() + "/files/a");
  FileReceiver receiver({.directory = scratch.path() + "/files",
                         .bytes_max = kLimit,
                         .durability = Durability::kCached});
  ASSERT_TRUE(receiver.Begin({.name = "a", .bytes = 3, .mode = 0600}).ok());
  ASSERT_TRUE(receiver.Append("new").ok());
  ASSERT_TRUE(receiver.Finish().ok());
  EXPECT_EQ(std::filesystem::file_size(scratch.path() + "/files/a"), 3u);
  EXPECT_FALSE(std::filesystem::is_symlink(scratch.path() + "/files/a"));
  std::string old;
  std::ifstream(scratch.path() + "/elsewhere") >> old;
  EXPECT_EQ(old, "old");
}

TEST(FileStoreTest, ListsWhatIsNamedOnceEach) {
  const ScratchDirectory scratch;
  for (const char* name : {"c", "a", "b"}) std::ofstream(scratch.path() + "/" + name) << name;
  const auto files = ListFiles(scratch.path(), {"c", "a"});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].name, "c");
  EXPECT_EQ((*files)[1].name, "a");
  EXPECT_TRUE(absl::IsInvalidArgument(ListFiles(scratch.path(), {"a", "b", "a"}).status()));
}

TEST(FileStoreTest, NamesTheFileThatIsMissing) {
  const ScratchDirectory scratch;
  const auto files = ListFiles(scratch.path(), {"no-such"});
  EXPECT_EQ(files.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(files.status().ToString().find("no-such"), std::string::npos);
}

}  // namespace
}  // namespace bspnow::files
