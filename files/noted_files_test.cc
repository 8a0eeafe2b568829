// What of a job's directory cannot be noted is refused, not left out.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/testing/capability.h"
#include "base/testing/scratch_directory.h"
#include "files/job_files.h"

namespace bspnow::files {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLarge = 300'000;  // Too large to be read at the barrier.

class NotedFilesTest : public testing::Test {
 protected:
  std::string job() const { return scratch_.path(); }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(job() + "/" + name).parent_path());
    std::ofstream(job() + "/" + name) << text;
  }

  const ScratchDirectory scratch_;
};

TEST_F(NotedFilesTest, LargeFilesAreCounted) {
  for (int i = 0; i < 512; ++i) {
    Write("small" + std::to_string(i), "text");
    Write(std::to_string(i), "");
    fs::resize_file(job() + "/" + std::to_string(i), kLarge);
  }
  EXPECT_TRUE(NotedFiles::Note(job(), {}).ok());
  Write("one more", "");
  fs::resize_file(job() + "/one more", kLarge);
  EXPECT_TRUE(absl::IsResourceExhausted(NotedFiles::Note(job(), {}).status()));
}

// Each level of directories takes a descriptor while it is listed.
TEST_F(NotedFilesTest, FilesThatCannotBeListedAreNotLeftOut) {
  Write("0/1/2/3/4/5/6/7/8/9/deep", "");
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const UniqueFd next(open("/dev/null", O_RDONLY));
  const rlimit few{.rlim_cur = static_cast<rlim_t>(next.get()) + 4, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const absl::StatusOr<NotedFiles> noted = NotedFiles::Note(job(), {});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(absl::IsInternal(noted.status())) << noted.status();
}

// Its owner has not the right to list it, but comes at what lies in it.
TEST_F(NotedFilesTest, ADirectoryThatMayNotBeListedIsNotLeftOut) {
  Write("spool/1", "text");
  const std::string spool = job() + "/spool";
  ASSERT_EQ(chmod(spool.c_str(), S_IWUSR | S_IXUSR), 0);
  absl::Status noted;
  std::jthread([&] {  // Without what root may.
    for (const int right : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH})
      EXPECT_TRUE(DropCapability(right));
    noted = NotedFiles::Note(job(), {}).status();
  })
      .join();
  ASSERT_EQ(chmod(spool.c_str(), S_IRWXU), 0);
  EXPECT_NE(noted.message().find("at " + spool), absl::string_view::npos) << noted;
}

// What comes after the barrier would come back with memory that is from before it.
TEST_F(NotedFilesTest, AFileThatIsOverwrittenInPlaceIsRefusedByName) {
  Write("table", std::string(kLarge, 'x'));
  Write("log", std::string(kLarge, 'x'));
  for (const char* const name : {"/table", "/log"})
    fs::last_write_time(job() + name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const absl::StatusOr<NotedFiles> noted = NotedFiles::Note(job(), {});
  ASSERT_TRUE(noted.ok()) << noted.status();
  const UniqueFd archive(memfd_create("archive", MFD_CLOEXEC));
  std::ofstream(job() + "/log", std::ios::app) << "another line";
  EXPECT_TRUE(noted->Write(archive.get(), {}).ok());
  std::fstream(job() + "/table") << "rows";
  const absl::Status written = noted->Write(archive.get(), {});
  EXPECT_TRUE(absl::IsAborted(written)) << written;
  EXPECT_NE(written.message().find("table"), absl::string_view::npos) << written;
}

// So many file systems, and all in a kernel before 6.13, give files the time of the last tick. Some
// know no parts of a second, and FAT no odd ones.
class CoarseTimesTest : public NotedFilesTest, public testing::WithParamInterface<std::int64_t> {
 protected:
  void Overwrite() {
    std::fstream(job() + "/table") << "rows";
    const std::int64_t now_ms = UnixMs();
    const std::int64_t time_ms = now_ms - now_ms % GetParam();
    const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                              {.tv_sec = time_ms / 1000, .tv_nsec = time_ms % 1000 * 1'000'000}};
    ASSERT_EQ(utimensat(AT_FDCWD, (job() + "/table").c_str(), times, 0), 0);
  }
};

TEST_P(CoarseTimesTest, WhatIsWrittenRightAfterTheBarrierIsSeen) {
  Write("table", std::string(kLarge, 'x'));
  Overwrite();
  const absl::StatusOr<NotedFiles> noted = NotedFiles::Note(job(), {});
  ASSERT_TRUE(noted.ok()) << noted.status();
  Overwrite();
  const UniqueFd archive(memfd_create("archive", MFD_CLOEXEC));
  EXPECT_TRUE(absl::IsAborted(noted->Write(archive.get(), {})));
}

INSTANTIATE_TEST_SUITE_P(OfATickOfASecondOfTwo, CoarseTimesTest, testing::Values(10, 1000, 2000));

// Nobody waits for them.
TEST_F(NotedFilesTest, OldAndFutureTimesOfLargeFilesCostNothing) {
  for (const int hours : {-1, 1}) {
    const std::string name = "table" + std::to_string(hours);
    Write(name, std::string(kLarge, 'x'));
    const auto time = fs::file_time_type::clock::now() + std::chrono::hours(hours);
    fs::last_write_time(job() + "/" + name, std::chrono::floor<std::chrono::hours>(time));
  }
  Write("small", "written just now");
  const std::uint64_t start_ns = NowNs();
  EXPECT_TRUE(NotedFiles::Note(job(), {}).ok());
  EXPECT_LT(NowNs() - start_ns, 500'000'000u);
}

// No path leads to what lies deepest: it would be taken for a file that has gone meanwhile.
TEST_F(NotedFilesTest, ATreeThatIsDeeperThanAnyPathIsRefused) {
  const std::string name(200, 'd');
  UniqueFd at(open(job().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto deepen = [&at, &name] {
    ASSERT_EQ(mkdirat(at.get(), name.c_str(), S_IRWXU), 0);
    at = UniqueFd(openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  };
  std::size_t path_bytes = job().size();
  for (; path_bytes + 1 + name.size() < PATH_MAX; path_bytes += 1 + name.size()) deepen();
  EXPECT_TRUE(NotedFiles::Note(job(), {}).ok());
  deepen();
  EXPECT_TRUE(absl::IsResourceExhausted(NotedFiles::Note(job(), {}).status()));
}

}  // namespace
}  // namespace bspnow::files
