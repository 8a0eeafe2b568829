// endings_test BSP_RESTORE HEAP AREAS: images that were not finished, images that are damaged, and
// images of areas.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/exit_status.h"
#include "tests/images/hosted_program.h"
#include "worker/checkpoint/image_file.h"
#include "worker/restore/restore_command.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

struct Paths {
  std::string restorer;
  std::string heap;
  std::string areas;
};

Paths& paths() {
  static Paths instance;
  return instance;
}

class EndingsTest : public testing::Test {
 protected:
  EndingsTest()
      : root_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "job");
  }
  ~EndingsTest() override { fs::remove_all(root_); }

  ProgramLaunch Launch(const std::string& program, Saving saving) const {
    return ProgramLaunch{.command = {program},
                         .directory = root_ / "job",
                         .images = root_ / "images",
                         .saving = saving,
                         .chain_max = 1,
                         .superstep = 0,
                         .areas = {}};
  }

  fs::path root_;
};

TEST_F(EndingsTest, KilledWriterLeavesAnImageThatIsKnownToBeIncomplete) {
  const ProgramOutcome outcome = RunProgram(Launch(paths().heap, Saving::kTorn));
  EXPECT_TRUE(WIFSIGNALED(outcome.wait_status));
  ASSERT_EQ(outcome.images.size(), 1u);
  EXPECT_FALSE(outcome.images[0].written);
  const fs::path unfinished = root_ / "images" / "c1.p0.new";
  ASSERT_TRUE(fs::exists(unfinished));
  const absl::StatusOr<worker::ImageFacts> facts = worker::VerifyImage(unfinished);
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(EndingsTest, ProgramFromAreasGoesOnWhereItWas) {
  const ProgramOutcome undisturbed = RunProgram(Launch(paths().areas, Saving::kNever));
  ASSERT_EQ(undisturbed.wait_status, 0);
  const ProgramOutcome saved = RunProgram(Launch(paths().areas, Saving::kAtEveryBarrier));
  EXPECT_EQ(saved.output, undisturbed.output);
  ASSERT_EQ(saved.images.size(), 5u);
  for (const TakenImage& image : saved.images) {
    ASSERT_TRUE(image.written) << image.reason;
    ProgramLaunch again = Launch(paths().areas, Saving::kNever);
    again.areas = root_ / "images" / worker::ImageName(image.checkpoint, Pid{0});
    const ProgramOutcome resumed = RunProgram(again);
    EXPECT_EQ(resumed.errors, "");
    EXPECT_EQ(image.output_before + resumed.output, undisturbed.output) << image.checkpoint;
  }
}

TEST_F(EndingsTest, RestorerSaysInOneLineWhatItCannotPutBack) {
  const auto restore = [this](const std::vector<std::string>& images) {
    ProgramLaunch launch = Launch("", Saving::kNever);
    launch.command = worker::RestoreArguments(
        {.images = images, .texts = root_, .link = 3, .old_directory = {}, .new_directory = {}});
    launch.command[0] = paths().restorer;
    const ProgramOutcome outcome = RunProgram(launch);
    EXPECT_EQ(WEXITSTATUS(outcome.wait_status), kRestoreFailedStatus);
    EXPECT_EQ(outcome.output, "");
    return outcome.errors;
  };
  const std::string missing = root_ / "missing";
  EXPECT_EQ(restore({missing}), "bsp-restore: " + missing + ": no such file or directory\n");
  const std::string text = root_ / "text";
  std::ofstream(text) << std::string(10000, 'x');
  EXPECT_EQ(restore({text}), "bsp-restore: image 1 of the chain is no image\n");
  const ProgramOutcome saved = RunProgram(Launch(paths().heap, Saving::kAtEveryBarrier));
  ASSERT_TRUE(saved.images.at(0).written);
  const std::string image = root_ / "images" / "c1.p0";
  EXPECT_NE(restore({image}).find("text-"), std::string::npos);  // Its texts are elsewhere.
  EXPECT_EQ(restore({image, image}),
            "bsp-restore: image 2 of the chain builds on checkpoint 0, not on 1\n");
}

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 4) return 2;
  bspnow::paths() = {.restorer = std::filesystem::absolute(argv[1]),
                     .heap = std::filesystem::absolute(argv[2]),
                     .areas = std::filesystem::absolute(argv[3])};
  return RUN_ALL_TESTS();
}
