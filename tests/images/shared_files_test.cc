// shared_files_test SHARED BSP_RESTORE: a file to which several processes append. Another one does
// right behind each barrier, before the image of this one is taken.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/exit_status.h"
#include "base/testing/file_text.h"
#include "tests/images/hosted_program.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

/// What is in the file at each barrier, by number.
constexpr const char* kAtBarrier[] = {"step 0\n", "step 0\nother\nstep 1\n",
                                      "step 0\nother\nstep 1\nother\nstep 2\n",
                                      "step 0\nother\nstep 1\nother\nstep 2\nother\nstep 3\n"};
/// What the process itself appends after it.
constexpr const char* kAfter[] = {"step 1\nstep 2\nstep 3\n", "step 2\nstep 3\n", "step 3\n", ""};

class SharedFilesTest : public testing::Test {
 protected:
  SharedFilesTest()
      : root_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "job");
  }
  ~SharedFilesTest() override { fs::remove_all(root_); }

  void RunWith(const std::string& shared) {
    saved_ = RunProgram({.command = {Given().program, shared},
                         .directory = root_ / "job",
                         .images = root_ / "images",
                         .saving = Saving::kAtEveryBarrier,
                         .chain_max = 1,
                         .superstep = 0,
                         .areas = {},
                         .shared = shared});
    ASSERT_EQ(saved_.errors, "");
    ASSERT_GE(saved_.images.size(), std::size(kAtBarrier));
  }

  ProgramOutcome Restore(std::size_t image) const {
    return RestoreProgram(Given().restorer, saved_.images, saved_.images[image], root_ / "job", {});
  }

  fs::path root_;
  ProgramOutcome saved_;
};

// They are brought back as they were at the barrier.
TEST_F(SharedFilesTest, OfTheJobsDirectoryAreThoseOfTheBarrier) {
  RunWith(root_ / "job" / "log");
  for (std::size_t i = 0; i < std::size(kAtBarrier); ++i) {
    EXPECT_EQ(FileText(saved_.images[i].files + "/log"), kAtBarrier[i]);
    EXPECT_EQ(Restore(i).errors, "");
    EXPECT_EQ(FileText(root_ / "job-restored" / "log"), std::string(kAtBarrier[i]) + kAfter[i]);
  }
}

// The other one, whose image has the length of the barrier, has cut it before.
TEST_F(SharedFilesTest, ElsewhereAreCutToTheLeastLength) {
  const std::string shared = root_ / "log";
  RunWith(shared);
  for (std::size_t i = 0; i < std::size(kAtBarrier); ++i) {
    std::ofstream(shared) << kAtBarrier[i];
    EXPECT_EQ(Restore(i).errors, "");
    EXPECT_EQ(FileText(shared), std::string(kAtBarrier[i]) + kAfter[i]);
  }
}

TEST_F(SharedFilesTest, ElsewhereAreCutBackToTheirLength) {
  const std::string shared = root_ / "log";
  RunWith(shared);
  const std::string all = FileText(shared);
  for (std::size_t i = 0; i < std::size(kAtBarrier); ++i) {
    std::ofstream(shared) << all;
    EXPECT_EQ(Restore(i).errors, "");
    EXPECT_EQ(FileText(shared), std::string(kAtBarrier[i]) + "other\n" + kAfter[i]);
  }
}

TEST_F(SharedFilesTest, ElsewhereMustHaveWhatTheProcessHasWritten) {
  const std::string shared = root_ / "log";
  RunWith(shared);
  std::ofstream(shared) << "step";
  const ProgramOutcome restored = Restore(1);
  EXPECT_EQ(WEXITSTATUS(restored.wait_status), kRestoreFailedStatus);
  EXPECT_NE(restored.errors.find("log has 4 bytes, and the process was at 20"), std::string::npos)
      << restored.errors;
}

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!bspnow::TakePrograms(argc, argv)) return 2;
  return RUN_ALL_TESTS();
}
