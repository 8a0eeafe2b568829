#include "coordinator/core/printed_bytes.h"

#include <gtest/gtest.h>

namespace bspnow::coordinator {
namespace {

constexpr LogStream kFirst{0, LogOrigin::kStdout};
constexpr LogStream kErrors{0, LogOrigin::kStderr};
constexpr LogStream kSecond{1, LogOrigin::kStdout};

TEST(PrintedBytesTest, WhatIsSentAgainCountsOnce) {
  PrintedBytes printed;
  printed.OnPrinted(kFirst, 10);
  printed.OnPrinted(kErrors, 5);
  printed.OnPrinted(kFirst, 10);
  printed.OnPrinted(kFirst, 12);
  EXPECT_EQ(printed.bytes(), 17u);
}

TEST(PrintedBytesTest, AnEpochGoesOnWithWhatItsCheckpointHas) {
  PrintedBytes printed;
  printed.OnPrinted(kFirst, 100);
  printed.OnPrinted(kSecond, 100);
  printed.OnCut({{kFirst, 10}, {kErrors, 5}, {kSecond, 20}});
  EXPECT_EQ(printed.bytes(), 35u);
  printed.OnPrinted(kFirst, 11);
  EXPECT_EQ(printed.bytes(), 36u);
  printed.OnCut({});
  EXPECT_EQ(printed.bytes(), 0u);
}

TEST(PrintedBytesTest, AfterARestartNothingCountsTwice) {
  PrintedBytes printed;
  printed.Restore(150);
  printed.OnPrinted(kFirst, 100);
  EXPECT_EQ(printed.bytes(), 150u);
  printed.OnPrinted(kSecond, 60);
  EXPECT_EQ(printed.bytes(), 160u);
  printed.OnCut({});
  EXPECT_EQ(printed.bytes(), 0u);
}

}  // namespace
}  // namespace bspnow::coordinator
