// images_test PROGRAM BSP_RESTORE [MIB]: the program is saved at each of its barriers, and restored
// from each image; what it has printed before, and what it prints then, is what an undisturbed run
// prints. With MIB it may have so much data.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/images/hosted_program.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

class ImagesTest : public testing::Test {
 protected:
  ImagesTest() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = fs::path(testing::TempDir()) / (fs::path(Given().program).filename().string() + name);
    fs::remove_all(root_);
  }
  ~ImagesTest() override {
    if (!HasFailure()) fs::remove_all(root_);
  }

  ProgramLaunch Launch(const std::string& name, Saving saving) const {
    const fs::path directory = root_ / name / "job";
    fs::create_directories(directory);
    return ProgramLaunch{.command = {Given().program},
                         .directory = directory,
                         .images = root_ / name / "images",
                         .saving = saving,
                         .chain_max = 1,
                         .superstep = 0,
                         .areas = {}};
  }

  /// Restores every image of `saved`, which ran in `directory`; `before` has been printed before
  /// `saved` printed anything.
  void ExpectSurvival(const ProgramOutcome& undisturbed, const ProgramOutcome& saved,
                      const std::string& before, const std::string& directory) {
    for (const TakenImage& image : saved.images) {
      SCOPED_TRACE("image " + std::to_string(image.checkpoint) + " in " + directory);
      ASSERT_TRUE(image.written) << image.reason;
      const ProgramOutcome restored =
          RestoreProgram(Given().restorer, saved.images, image, directory, ProgramLaunch{});
      EXPECT_EQ(restored.errors, "");
      EXPECT_EQ(before + image.output_before + restored.output, undisturbed.output);
      EXPECT_EQ(restored.wait_status, undisturbed.wait_status);
      if (HasFailure()) return;
    }
  }

  fs::path root_;
};

TEST_F(ImagesTest, RestoresFromWholeImages) {
  const ProgramOutcome undisturbed = RunProgram(Launch("undisturbed", Saving::kNever));
  ASSERT_TRUE(WIFEXITED(undisturbed.wait_status)) << undisturbed.errors;
  EXPECT_EQ(undisturbed.errors, "");
  const ProgramLaunch launch = Launch("saved", Saving::kAtEveryBarrier);
  const ProgramOutcome saved = RunProgram(launch);
  EXPECT_EQ(saved.output, undisturbed.output);
  EXPECT_EQ(saved.errors, "");
  EXPECT_EQ(saved.wait_status, undisturbed.wait_status);
  EXPECT_GE(saved.images.size(), 4u);
  ExpectSurvival(undisturbed, saved, "", launch.directory);
}

TEST_F(ImagesTest, RestoresFromChainsOfChanges) {
  const ProgramOutcome undisturbed = RunProgram(Launch("undisturbed", Saving::kNever));
  ProgramLaunch launch = Launch("saved", Saving::kAtEveryBarrier);
  launch.chain_max = 8;
  const ProgramOutcome saved = RunProgram(launch);
  EXPECT_EQ(saved.output, undisturbed.output);
  EXPECT_EQ(saved.errors, "");
  EXPECT_EQ(saved.wait_status, undisturbed.wait_status);
  ASSERT_GE(saved.images.size(), 4u);
  EXPECT_EQ(saved.images.back().base != 0, saved.images.size() % 8 != 1);
  ExpectSurvival(undisturbed, saved, "", launch.directory);
}

TEST_F(ImagesTest, RestoresWhatWasRestoredBefore) {
  const ProgramOutcome undisturbed = RunProgram(Launch("undisturbed", Saving::kNever));
  const ProgramLaunch launch = Launch("saved", Saving::kAtEveryBarrier);
  const ProgramOutcome saved = RunProgram(launch);
  ASSERT_GE(saved.images.size(), 4u);
  const TakenImage& first = saved.images[1];
  ASSERT_TRUE(first.written) << first.reason;
  ProgramLaunch again = Launch("again", Saving::kAtEveryBarrier);
  again.chain_max = 3;
  const ProgramOutcome restored =
      RestoreProgram(Given().restorer, saved.images, first, launch.directory, again);
  EXPECT_EQ(restored.errors, "");
  EXPECT_EQ(first.output_before + restored.output, undisturbed.output);
  EXPECT_EQ(restored.wait_status, undisturbed.wait_status);
  ASSERT_EQ(restored.images.size() + 2, saved.images.size());
  ExpectSurvival(undisturbed, restored, first.output_before, launch.directory + "-restored");
}

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!bspnow::TakePrograms(argc, argv)) return 2;
  // As it is where users log in, and programs/limits.c raises it.
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = std::min<rlim_t>(descriptors.rlim_cur, 1024);
  setrlimit(RLIMIT_NOFILE, &descriptors);
  // To root's programs modes of files would mean nothing.
  prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);
  return RUN_ALL_TESTS();
}
