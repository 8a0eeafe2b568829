// The child that writes an image.
#include <errno.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include <fstream>
#include <string>

#include "runtime/testing/saved_process.h"

namespace bspnow::runtime {
namespace {

// It has ended, but is waited for only before the next image, and can be looked at until then.
TEST(ImageWriterTest, GoesFirstWhereMemoryRunsOut) {
  InProcess([](SavedProcess& process) {
    ASSERT_EQ(process.Save(1, 0).written, 1u);
    pid_t writer = 0;
    ASSERT_TRUE(std::ifstream("/proc/thread-self/children") >> writer);
    int score = 0;
    ASSERT_TRUE(std::ifstream("/proc/" + std::to_string(writer) + "/oom_score_adj") >> score);
    EXPECT_EQ(score, 1000);
  });
}

// As where no further process is allowed: the program itself writes, and goes on.
TEST(ImageWriterTest, AnImageThatIsLargerThanFilesMayBeEndsNoProgram) {
  InProcess([](SavedProcess& process) {
    Deny({.number = SYS_clone, .argument = 0, .value = 0, .error = EAGAIN});
    ASSERT_EQ(process.Save(1, 0).written, 1u);
    const rlimit small{.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string reason = process.Save(2, 0).reason;
    EXPECT_NE(reason.find("a file may not be so large"), std::string::npos) << reason;
  });
}

}  // namespace
}  // namespace bspnow::runtime
