// refusals_test PROGRAM (programs/refused.c): the refusal names the reason, and the program goes
// on.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/images/hosted_program.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

std::string& program() {
  static std::string path;
  return path;
}

struct Refusal {
  const char* held;
  const char* reason;
};

class RefusalsTest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusalsTest, NamesWhatCannotBeSavedAndGoesOn) {
  const fs::path root = fs::path(testing::TempDir()) / (std::string("held-") + GetParam().held);
  fs::remove_all(root);
  fs::create_directories(root / "job");
  const ProgramOutcome outcome = RunProgram({.command = {program(), GetParam().held},
                                             .directory = root / "job",
                                             .images = root / "images",
                                             .saving = Saving::kAtEveryBarrier,
                                             .chain_max = 1,
                                             .superstep = 0,
                                             .areas = {}});
  EXPECT_EQ(outcome.output, "goes on\n");
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.wait_status, 0);
  ASSERT_EQ(outcome.images.size(), 1u);
  EXPECT_FALSE(outcome.images[0].written);
  EXPECT_NE(outcome.images[0].reason.find(GetParam().reason), std::string::npos)
      << outcome.images[0].reason;
  EXPECT_FALSE(fs::exists(root / "images" / "c1.p0"));
  fs::remove_all(root);
}

INSTANTIATE_TEST_SUITE_P(
    Held, RefusalsTest,
    testing::Values(Refusal{"socket", "is a socket"}, Refusal{"pipe", "is a pipe"},
                    Refusal{"eventfd", "is an eventfd"}, Refusal{"epoll", "is an epoll"},
                    Refusal{"timerfd", "is a timerfd"}, Refusal{"memfd", "is a memfd"},
                    Refusal{"deleted", "deleted"},
                    Refusal{"input", "descriptor 0 is a file that was deleted"},
                    Refusal{"lock", "lock"}, Refusal{"child", "child"}, Refusal{"zombie", "child"},
                    Refusal{"thread", "thread"}, Refusal{"shared", "shared with others"},
                    Refusal{"written", "written.txt"}, Refusal{"timer", "timer"}),
    [](const testing::TestParamInfo<Refusal>& info) { return std::string(info.param.held); });

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  bspnow::program() = std::filesystem::absolute(argv[1]);
  return RUN_ALL_TESTS();
}
