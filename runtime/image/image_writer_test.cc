// The child that writes an image.
#include <gtest/gtest.h>
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

}  // namespace
}  // namespace bspnow::runtime
