#include "worker/job/job_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kOne[] = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";

class JobDirectoryTest : public testing::Test {
 protected:
  JobDirectoryTest() {
    auto cache = BlobCache::Open(
        root_ + "/cache", 1000, [](const std::string&, const files::BlobStore& into, OpenCalls&) {
          files::BlobSink upload(into, Durability::kCached);
          const bool put =
              upload.Begin({.name = kOne, .bytes = 3, .mode = 0}).ok() && upload.Append("one").ok();
          return put ? upload.Finish() : absl::InternalError("upload");
        });
    EXPECT_TRUE(cache.ok());
    cache_ = std::move(*cache);
    spec_.mutable_program()->set_name("prog");
    spec_.mutable_program()->set_sha256(kOne);
  }

  void AddFile(const std::string& name) {
    proto::FileSpec& file = *spec_.add_files();
    file.set_name(name);
    file.set_sha256(kOne);
    file.set_mode(0644);
  }
  absl::StatusOr<JobDirectory> Create() {
    return JobDirectory::Create(root_ + "/1", spec_, *cache_, calls_);
  }

  const ScratchDirectory scratch_;
  const std::string root_ = scratch_.path();
  std::unique_ptr<BlobCache> cache_;
  OpenCalls calls_;
  proto::JobSpec spec_;
};

TEST_F(JobDirectoryTest, HoldsProgramAndFiles) {
  AddFile("data/in.txt");
  const auto directory = Create();
  ASSERT_TRUE(directory.ok());
  EXPECT_EQ(access(directory->program_path().c_str(), X_OK), 0);
  EXPECT_EQ(access((directory->path() + "/data/in.txt").c_str(), W_OK), 0);
  EXPECT_TRUE(directory->LeftFiles()->files.empty());
}

// A worker whose state directory was cleaned up while it runs would start no job ever after.
TEST_F(JobDirectoryTest, IsMadeThoughWhatItStandsInWasRemoved) {
  const std::string state = root_ + "/state";
  const std::string path = state + "/jobs/1";
  const auto directory = JobDirectory::Create(path, spec_, *cache_, calls_);
  ASSERT_TRUE(directory.ok()) << directory.status();
  for (const std::string& passed : {state, state + "/jobs"})
    EXPECT_EQ(fs::status(passed).permissions(),
              fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
}

TEST_F(JobDirectoryTest, CoreFilesOfOtherNodesBearTheirNames) {
  std::vector<LeftFile> left;
  for (const char* const name : {"core", "sub/core.4711", "core/part", "corefu", "result"}) {
    LeftFile& file = left.emplace_back();
    file.name = name;
  }
  const std::vector<LeftFile> cores = CoresOf(left, "w2");
  ASSERT_EQ(cores.size(), 2u);
  EXPECT_EQ(cores[0].name, "core.w2");
  EXPECT_EQ(cores[1].name, "sub/core.4711.w2");
}

TEST_F(JobDirectoryTest, AProgramThatIsWrittenToLeavesTheCacheAsItWas) {
  {
    const auto directory = Create();
    ASSERT_TRUE(directory.ok());
    chmod(directory->program_path().c_str(), 0700);
    std::ofstream(directory->program_path()) << "changed";
  }
  const auto again = Create();
  ASSERT_TRUE(again.ok());
  std::string text;
  std::ifstream(again->program_path()) >> text;
  EXPECT_EQ(text, "one");
}

TEST_F(JobDirectoryTest, RefusesNamesThatLeadElsewhere) {
  AddFile("../outside");
  EXPECT_FALSE(Create().ok());
  EXPECT_FALSE(fs::exists(root_ + "/outside"));
  EXPECT_FALSE(fs::exists(root_ + "/1"));
}

TEST_F(JobDirectoryTest, FindsNewAndChangedRegularFilesOnly) {
  AddFile("kept.txt");
  AddFile("changed.txt");
  const auto directory = Create();
  ASSERT_TRUE(directory.ok());
  const std::string path = directory->path();
  std::ofstream(path + "/changed.txt") << "longer than before";
  fs::create_directories(path + "/out");
  std::ofstream(path + "/out/new.txt") << "12345";
  fs::create_symlink("/etc/passwd", path + "/link");
  fs::create_directory_symlink("/etc", path + "/etc");
  const std::vector<LeftFile> files = directory->LeftFiles()->files;
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "changed.txt");
  EXPECT_EQ(files[1].name, "out/new.txt");
  EXPECT_EQ(files[1].bytes, 5u);
}

TEST_F(JobDirectoryTest, AFileWithOtherPermissionsHasChanged) {
  AddFile("script");
  const auto directory = Create();
  ASSERT_TRUE(directory.ok());
  const std::string path = directory->path() + "/script";
  fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add);
  const std::vector<LeftFile> files = directory->LeftFiles()->files;
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "script");
  EXPECT_NE(files[0].mode & S_IXUSR, 0u);
}

// Some file systems count in seconds, and FAT in two; a change may be as long as what it replaces.
TEST_F(JobDirectoryTest, FilesAreOlderThanAChangeMayBe) {
  const std::int64_t before_s = UnixMs() / 1000;
  AddFile("data");
  const auto directory = Create();
  ASSERT_TRUE(directory.ok());
  EXPECT_TRUE(directory->LeftFiles()->files.empty());
  const auto given = directory->given();
  ASSERT_EQ(given.size(), 2u);
  for (const files::GivenFile& file : given)
    EXPECT_LT(file.changed_ns, (before_s & ~std::int64_t{1}) * 1'000'000'000);
}

TEST_F(JobDirectoryTest, AFileUnderAnothersNameHasChanged) {
  AddFile("in.0");
  AddFile("in.1");
  const auto directory = Create();
  ASSERT_TRUE(directory.ok());
  fs::rename(directory->path() + "/in.1", directory->path() + "/in.0");
  const std::vector<LeftFile> files = directory->LeftFiles()->files;
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "in.0");
}

TEST_F(JobDirectoryTest, IsRemovedWithAllThatIsInIt) {
  std::string path;
  {
    const auto directory = Create();
    ASSERT_TRUE(directory.ok());
    path = directory->path();
    fs::create_directories(path + "/locked");
    std::ofstream(path + "/locked/file") << "x";
    chmod((path + "/locked").c_str(), 0);
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(path + ".old"));
}

TEST_F(JobDirectoryTest, HoldsNothingThatASlowProcessHasLeftThere) {
  fs::create_directories(root_ + "/1/left");
  const auto directory = Create();
  ASSERT_TRUE(directory.ok());
  EXPECT_FALSE(fs::exists(directory->path() + "/left"));
}

}  // namespace
}  // namespace bspnow::worker
