#include "coordinator/old_files.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

constexpr std::int64_t kSecondsPerDay = 24 * 60 * 60;
constexpr JobId kJob{7};
constexpr std::uint64_t kEntryBytes = 4096;  // Of the smallest.

class OldFilesTest : public testing::Test {
 protected:
  OldFilesTest()
      : state_(*StateDirectory::Open(scratch_.path())), kept_(0), uploads_(state_, kept_) {
    LookAt(0, {});  // The first look only says when that was.
    std::filesystem::create_directories(state_.files(kJob));
    std::ofstream(state_.log(kJob)) << "log";
    std::ofstream(state_.blobs() + "/" + sha256_) << "content";
  }

  RemovedFiles LookAt(std::int64_t days, const KnownJobs& jobs, std::uint64_t keep_days = 3) {
    return RemoveOldFiles(state_, uploads_, jobs,
                          {.now_unix_s = begin_unix_s_ + days * kSecondsPerDay, .days = keep_days});
  }

  /// Looks once a day, from the day of the last look on.
  RemovedFiles RemoveInDays(std::int64_t days, const KnownJobs& jobs, std::uint64_t keep_days = 3) {
    RemovedFiles all{};
    for (;; ++day_) {
      const RemovedFiles removed = LookAt(day_, jobs, keep_days);
      all.contents += removed.contents;
      all.jobs += removed.jobs;
      if (day_ == days) return all;
    }
  }

  /// Output of so many bytes.
  void Print(JobId job, std::size_t bytes) {
    std::filesystem::create_directories(state_.job(job));
    std::ofstream(state_.log(job)) << std::string(bytes, 'x');
  }

  int RemoveBeyond(std::uint64_t user_bytes, std::int64_t minutes, const KnownJobs& jobs) {
    return RemoveOldFiles(
               state_, uploads_, jobs,
               {.now_unix_s = begin_unix_s_ + minutes * 60, .days = 3, .user_bytes = user_bytes})
        .jobs;
  }

  const std::int64_t begin_unix_s_ = UnixMs() / 1000;
  std::int64_t day_ = 0;
  const std::string sha256_ = std::string(64, 'a');
  const ScratchDirectory scratch_;
  const StateDirectory state_;
  KeptBytes kept_;
  const Uploads uploads_;
};

TEST_F(OldFilesTest, KeepsWhatIsYoung) {
  const RemovedFiles removed = RemoveInDays(0, {});
  EXPECT_EQ(removed.contents, 0);
  EXPECT_EQ(removed.jobs, 0);
}

TEST_F(OldFilesTest, ContentsGoAfterADayAndJobsAfterTheirDays) {
  EXPECT_EQ(RemoveInDays(2, {}).contents, 1);
  EXPECT_EQ(RemoveInDays(2, {}).jobs, 0);
  EXPECT_EQ(RemoveInDays(4, {}).jobs, 1);
  EXPECT_FALSE(std::filesystem::exists(state_.job(kJob)));
}

TEST_F(OldFilesTest, KeepsJobsForAnyNumberOfDays) {
  EXPECT_EQ(RemoveInDays(1000, {}, ~std::uint64_t{0}).jobs, 0);
  EXPECT_EQ(RemoveInDays(1001, {}, std::uint64_t{1} << 62).jobs, 0);
}

TEST_F(OldFilesTest, AClockThatJumpsRemovesNothing) {
  EXPECT_EQ(RemoveInDays(2, {}).jobs, 0);
  for (const std::int64_t day : {400, 401, -9000}) {
    EXPECT_EQ(LookAt(day, {}).jobs, 0) << "day " << day;
    EXPECT_TRUE(std::filesystem::exists(state_.log(kJob))) << "day " << day;
  }
  EXPECT_EQ(LookAt(-8999, {}).jobs, 1) << "it is four days old, whatever the clock says";
}

// A machine without a battery begins in the same year, until it has found the time.
TEST_F(OldFilesTest, FilesAgeThoughEachDayBeginsInTheSameYear) {
  EXPECT_EQ(RemoveInDays(1, {}).jobs, 0);
  for (const std::int64_t day : {2, 3, 4}) {
    EXPECT_EQ(LookAt(-9000, {}).jobs, 0) << day;
    EXPECT_EQ(LookAt(day, {}).jobs, 0) << day;
    EXPECT_EQ(LookAt(day + 1, {}).jobs, day == 4 ? 1 : 0) << day;
  }
}

TEST_F(OldFilesTest, AfterAJumpAheadFilesAreAsOldAsBefore) {
  EXPECT_EQ(RemoveInDays(2, {}).jobs, 0);
  EXPECT_EQ(LookAt(400, {}).jobs, 0);
  EXPECT_EQ(LookAt(401, {}).jobs, 0) << "it is three days old";
  EXPECT_EQ(LookAt(402, {}).jobs, 1);
}

TEST_F(OldFilesTest, WhatWasWrittenWhileTheClockWasWrongIsNotOldWhenItIsRight) {
  EXPECT_EQ(LookAt(-9000, {}).jobs, 0);
  EXPECT_EQ(LookAt(0, {}).jobs, 0);
  EXPECT_EQ(RemoveInDays(3, {}).jobs, 0);
  EXPECT_EQ(RemoveInDays(4, {}).jobs, 1);
}

TEST_F(OldFilesTest, KeepsWhatJobsNeed) {
  const RemovedFiles removed =
      RemoveInDays(4, {{kJob, {.user = "anna", .has_ended = false, .contents = {sha256_}}}});
  EXPECT_EQ(removed.contents, 0);
  EXPECT_EQ(removed.jobs, 0);
}

TEST_F(OldFilesTest, OfWhoHasMoreThanAQuotaTheOldestEndedJobsGo) {
  for (const std::uint64_t job : {1, 2, 3, 4}) Print(JobId{job}, 10'000);
  const KnownJobs jobs = {{JobId{1}, {.user = "anna", .has_ended = false}},
                          {JobId{2}, {.user = "bob", .has_ended = true}},
                          {JobId{3}, {.user = "anna", .has_ended = true}},
                          {JobId{4}, {.user = "anna", .has_ended = true}}};
  EXPECT_EQ(CountKept(state_, uploads_, jobs), (BytesByUser{{"anna", 30'000}, {"bob", 10'000}}));
  EXPECT_EQ(RemoveBeyond(30'000, 90, jobs), 0);
  EXPECT_EQ(RemoveBeyond(29'999, 30, jobs), 0) << "the last hour's are kept";
  EXPECT_EQ(RemoveBeyond(29'999, 90, jobs), 1);
  EXPECT_FALSE(std::filesystem::exists(state_.job(JobId{3})));
  EXPECT_EQ(RemoveBeyond(1, 90, jobs), 2) << "anna's job 4, and bob's";
  EXPECT_TRUE(std::filesystem::exists(state_.job(JobId{1})));
  EXPECT_EQ(CountKept(state_, uploads_, jobs), (BytesByUser{{"anna", 10'000}}));
}

TEST_F(OldFilesTest, FilesWithoutBytesCountAndGo) {
  for (const char* name : {"/a", "/b", "/c"}) std::ofstream(state_.files(kJob) + name);
  const KnownJobs jobs = {{kJob, {.user = "anna", .has_ended = true}}};
  EXPECT_EQ(CountKept(state_, uploads_, jobs), (BytesByUser{{"anna", 5 * kEntryBytes}}));
  EXPECT_EQ(RemoveBeyond(5 * kEntryBytes, 90, jobs), 0);
  EXPECT_EQ(RemoveBeyond(5 * kEntryBytes - 1, 90, jobs), 1);
}

TEST_F(OldFilesTest, AContentCountsForEachWhoSentItOrWhoseJobNeedsIt) {
  const KnownJobs jobs = {{kJob, {.user = "anna", .has_ended = false, .contents = {sha256_}}},
                          {JobId{8}, {.user = "anna", .has_ended = false, .contents = {sha256_}}}};
  const BytesByUser bytes = CountKept(state_, uploads_, jobs);
  EXPECT_EQ(bytes, (BytesByUser{{"anna", 2 * kEntryBytes + 7}}));  // Log, files, "content".
}

}  // namespace
}  // namespace bspnow::coordinator
