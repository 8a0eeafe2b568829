#include "worker/rpc/open_calls.h"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <thread>

namespace bspnow::worker {
namespace {

TEST(OpenCallsTest, StopCancelsWhatIsOpenOnce) {
  OpenCalls calls;
  int closed_cancels = 0;
  int open_cancels = 0;
  {
    const OpenCall closed(calls, [&] { closed_cancels += 1; });
  }
  const OpenCall open(calls, [&] { open_cancels += 1; });
  calls.Stop();
  calls.Stop();
  EXPECT_EQ(closed_cancels, 0);
  EXPECT_EQ(open_cancels, 1);
}

TEST(OpenCallsTest, WhatIsOpenedAfterStopIsCancelledAtOnce) {
  OpenCalls calls;
  calls.Stop();
  bool cancelled = false;
  const OpenCall late(calls, [&] { cancelled = true; });
  EXPECT_TRUE(cancelled);
  EXPECT_TRUE(calls.stopping());
}

TEST(OpenCallsTest, StopEndsPausesAndThereAreNoneLater) {
  OpenCalls calls;
  std::latch begun(1);
  std::jthread pausing([&] {
    begun.count_down();
    calls.Pause(std::chrono::hours(1));
  });
  begun.wait();
  calls.Stop();
  pausing.join();
  calls.Pause(std::chrono::hours(1));
}

}  // namespace
}  // namespace bspnow::worker
