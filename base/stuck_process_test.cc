#include "base/stuck_process.h"

#include <gtest/gtest.h>

namespace bspnow {
namespace {

TEST(StuckProcessTest, NamesACircleAndNotTheWayToIt) {
  const std::vector<StuckProcess> stuck = {
      {.pid = 0, .where = "here", .awaits = 2},
      {.pid = 1, .where = "there", .awaits = 2},
      {.pid = 2, .where = "nowhere", .awaits = 1},
  };
  EXPECT_EQ(DeadlockText(stuck),
            "3 processes wait for each other, and none can go on: pid 2 waits nowhere for pid 1,"
            " which waits there for pid 2; make groups (bsp_partition, bsp_dup) and end their"
            " supersteps in the same order on all processes");
}

TEST(StuckProcessTest, LeavesOutTheEndOfALongCircle) {
  std::vector<StuckProcess> stuck;
  for (std::uint32_t i = 0; i < 100; ++i)
    stuck.push_back({.pid = i, .where = "here", .awaits = (i + 1) % 100});
  const std::string text = DeadlockText(stuck);
  EXPECT_NE(text.find("for pid 8, and so on; make"), std::string::npos) << text;
}

TEST(StuckProcessTest, NamesRangesOfPids) {
  EXPECT_EQ(PidsText({3}), "pid 3");
  EXPECT_EQ(PidsText({0, 1}), "pids 0 1");
  EXPECT_EQ(PidsText({0, 1, 2, 5, 7, 8, 9, 10}), "pids 0-2 5 7-10");
  EXPECT_EQ(PidsText({0, 2, 4, 6, 8, 10, 12, 14, 16}), "pids 0 2 4 6 8 10 12 14 ...");
}

}  // namespace
}  // namespace bspnow
