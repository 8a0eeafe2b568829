#include "coordinator/old_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

constexpr std::int64_t kSecondsPerDay = 24 * 60 * 60;
constexpr JobId kJob{7};

class OldFilesTest : public testing::Test {
 protected:
  OldFilesTest() : state_(*StateDirectory::Open(scratch_.path())), uploads_(state_) {
    std::filesystem::create_directories(state_.files(kJob));
    std::ofstream(state_.log(kJob)) << "log";
    std::ofstream(state_.blobs() + "/" + sha256_) << "content";
  }

  RemovedFiles RemoveInDays(std::int64_t days, const NeededFiles& needed,
                            std::uint64_t keep_days = 3) {
    return RemoveFilesBefore(
        state_, uploads_, needed,
        {.now_unix_s = UnixMs() / 1000 + days * kSecondsPerDay, .keep_days = keep_days});
  }

  const std::string sha256_ = std::string(64, 'a');
  const ScratchDirectory scratch_;
  const StateDirectory state_;
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
  EXPECT_EQ(RemoveInDays(1000, {}, std::uint64_t{1} << 62).jobs, 0);
}

TEST_F(OldFilesTest, KeepsWhatJobsNeed) {
  const RemovedFiles removed = RemoveInDays(4, {.contents = {sha256_}, .jobs = {kJob}});
  EXPECT_EQ(removed.contents, 0);
  EXPECT_EQ(removed.jobs, 0);
}

}  // namespace
}  // namespace bspnow::coordinator
