// What is unpacked is what was there: holes, links, modes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file_state.h"
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"
#include "files/job_files.h"

namespace bspnow::files {
namespace {

namespace fs = std::filesystem;

class UnpackedFilesTest : public testing::Test {
 protected:
  UnpackedFilesTest() {
    fs::create_directories(job());
    fs::create_directories(later());
  }

  std::string job() const { return scratch_.path() + "/job"; }
  std::string later() const { return scratch_.path() + "/later"; }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(job() + "/" + name) << text;
  }

  /// What the job had is what it has later.
  void SaveAndUnpack(const std::vector<GivenFile>& given) {
    const std::string archive = scratch_.path() + "/archive";
    const absl::StatusOr<NotedFiles> noted = NotedFiles::Note(job(), given);
    ASSERT_TRUE(noted.ok()) << noted.status();
    const UniqueFd file(open(archive.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    const absl::Status written = noted->Write(file.get(), {});
    ASSERT_TRUE(written.ok()) << written;
    const absl::StatusOr<JobFilesFacts> facts = UnpackJobFiles(archive, later());
    ASSERT_TRUE(facts.ok()) << facts.status();
  }

  const ScratchDirectory scratch_;
};

// To read a TiB of them takes minutes.
TEST_F(UnpackedFilesTest, HolesOfASparseFileTakeNoTime) {
  constexpr off_t kBytes = off_t{1} << 40;
  Write("sparse", "begin");
  fs::resize_file(job() + "/sparse", kBytes);
  std::ofstream(job() + "/sparse", std::ios::app) << "end";
  Write("hollow", "");
  fs::resize_file(job() + "/hollow", kBytes);
  SaveAndUnpack({});
  EXPECT_EQ(fs::file_size(later() + "/hollow"), std::uintmax_t{kBytes});
  EXPECT_EQ(fs::file_size(later() + "/sparse"), std::uintmax_t{kBytes} + 3);
  const UniqueFd file(open((later() + "/sparse").c_str(), O_RDONLY | O_CLOEXEC));
  std::string ends(8, '\0');
  ASSERT_EQ(pread(file.get(), ends.data(), 5, 0), 5);
  ASSERT_EQ(pread(file.get(), ends.data() + 5, 3, kBytes), 3);
  EXPECT_EQ(ends, "beginend");
}

TEST_F(UnpackedFilesTest, NamesOfOneFileStayNamesOfOneFile) {
  Write("small", "text");
  Write("large", std::string(300'000, 'x'));
  Write("outside", "more");
  fs::rename(job() + "/outside", scratch_.path() + "/outside");
  fs::create_hard_link(scratch_.path() + "/outside", job() + "/inside");
  fs::create_directories(job() + "/sub");
  for (const char* const name : {"small", "large"}) {
    fs::create_hard_link(job() + "/" + name, job() + "/another " + name);
    fs::create_hard_link(job() + "/" + name, job() + "/sub/" + name);
  }
  SaveAndUnpack({});
  for (const char* const name : {"/small", "/large"}) {
    EXPECT_EQ(fs::hard_link_count(later() + name), 3u);
    EXPECT_EQ(fs::file_size(later() + name), fs::file_size(job() + name));
    EXPECT_TRUE(fs::equivalent(later() + name, later() + "/sub" + name));
    EXPECT_EQ(fs::last_write_time(later() + name), fs::last_write_time(job() + name));
  }
  EXPECT_EQ(fs::hard_link_count(later() + "/inside"), 1u);
  EXPECT_EQ(fs::file_size(later() + "/inside"), 4u);
}

TEST_F(UnpackedFilesTest, AnotherNameOfAFileThatCameWithTheJobIsLinkedToIt) {
  Write("data", "text");
  struct stat status {};
  ASSERT_EQ(stat((job() + "/data").c_str(), &status), 0);
  const GivenFile given{.name = "data",
                        .bytes = 4,
                        .changed_ns = FileNs(status.st_mtim),
                        .mode = status.st_mode & ACCESSPERMS};
  fs::create_hard_link(job() + "/data", job() + "/backup");
  std::ofstream(later() + "/data") << "text";
  SaveAndUnpack({given});
  EXPECT_TRUE(fs::equivalent(later() + "/data", later() + "/backup"));
}

TEST_F(UnpackedFilesTest, ModesOfFilesThatCameWithTheJobAreKept) {
  std::vector<GivenFile> given;
  for (const char* const name : {"tool.sh", "same"}) {
    Write(name, "text");
    const std::string path = job() + "/" + name;
    fs::permissions(path, fs::perms{0644});
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    given.push_back({.name = name, .bytes = 4, .changed_ns = FileNs(status.st_mtim), .mode = 0644});
  }
  fs::permissions(job() + "/tool.sh", fs::perms{0755});
  SaveAndUnpack(given);
  EXPECT_FALSE(fs::exists(later() + "/same"));
  ASSERT_TRUE(fs::exists(later() + "/tool.sh"));
  EXPECT_EQ(fs::status(later() + "/tool.sh").permissions(), fs::perms{0755});
}

}  // namespace
}  // namespace bspnow::files
