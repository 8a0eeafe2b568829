#include "worker/work_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace bspnow::worker {
namespace {

TEST(WorkThreadsTest, DoAllThatTheyAreGiven) {
  constexpr int kWork = 100;
  std::latch done(kWork);
  WorkThreads threads(3);
  for (int i = 0; i < kWork; ++i) threads.Run([&done] { done.count_down(); });
  done.wait();
}

TEST(WorkThreadsTest, WorkSideBySide) {
  std::latch both(2);
  WorkThreads threads(2);
  // Each waits for the other: one thread alone would hang.
  for (int i = 0; i < 2; ++i) threads.Run([&both] { both.arrive_and_wait(); });
  both.wait();
}

TEST(WorkThreadsTest, FinishWhatHasBegunAndDropTheRest) {
  std::latch begun(1);
  std::latch go_on(1);
  std::atomic<int> finished = 0;
  {
    WorkThreads threads(1);
    threads.Run([&] {
      begun.count_down();
      go_on.wait();
      finished += 1;
    });
    begun.wait();
    go_on.count_down();
  }
  EXPECT_EQ(finished, 1);
}

}  // namespace
}  // namespace bspnow::worker
