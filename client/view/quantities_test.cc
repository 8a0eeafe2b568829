#include "client/view/quantities.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

TEST(ParseTimeLimitTest, CountsMinutesAndBegunSeconds) {
  EXPECT_EQ(*ParseTimeLimit("30"), 30u * 60);
  EXPECT_EQ(*ParseTimeLimit("1:30"), 90u);
  EXPECT_EQ(*ParseTimeLimit("90s"), 90u);
  EXPECT_EQ(*ParseTimeLimit("10min"), 600u);
  EXPECT_EQ(*ParseTimeLimit("1ms"), 1u);
  EXPECT_EQ(*ParseTimeLimit("0"), 0u);
}

TEST(ParseTimeLimitTest, RefusesWhatIsNoTime) {
  for (const char* text : {"", "s", "3x", "-5", "1-", "99999999999999999999"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseTimeLimit(text).status())) << text;
  }
}

TEST(ParseMemoryTest, CountsInPowersOf1024AndTakesMegabytesWithoutAUnit) {
  EXPECT_EQ(*ParseMemory("4G"), std::uint64_t{4} << 30);
  EXPECT_EQ(*ParseMemory("4gb"), std::uint64_t{4} << 30);
  EXPECT_EQ(*ParseMemory("512K"), std::uint64_t{512} << 10);
  EXPECT_EQ(*ParseMemory("1T"), std::uint64_t{1} << 40);
  EXPECT_EQ(*ParseMemory("100"), std::uint64_t{100} << 20);
  EXPECT_EQ(*ParseMemory("4096B"), 4096u);
  EXPECT_EQ(*ParseMemory("5000000000B"), 5'000'000'000u);
}

TEST(ParseMemoryTest, IsShownAsItWasWritten) {
  for (const char* text : {"1G", "4G", "512K", "1T", "1536M", "1025M"})
    EXPECT_EQ(MemoryOptionText(*ParseMemory(text)), text);
  EXPECT_EQ(MemoryOptionText(*ParseMemory("1024M")), "1G");
  EXPECT_EQ(MemoryOptionText(*ParseMemory("4095T")), "4095T");
  EXPECT_EQ(MemoryOptionText(1000), "1000 B");
  EXPECT_EQ(MemoryOptionText(0), "0 B");
}

TEST(ParseMemoryTest, RefusesWhatIsNoSizeOrTooLarge) {
  for (const char* text : {"", "G", "B", "1.5G", "-1", "4X", "4 G", "999999999T"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseMemory(text).status())) << text;
  }
}

TEST(TextTest, ShowsDurationsAsSlurmDoes) {
  EXPECT_EQ(DurationText(0), "0:00");
  EXPECT_EQ(DurationText(7), "0:07");
  EXPECT_EQ(DurationText(3723), "1:02:03");
  EXPECT_EQ(DurationText(2 * 86400 + 3723), "2-01:02:03");
  EXPECT_EQ(DurationText(-5), "0:00");
}

TEST(TextTest, ScalesBytesAndTimes) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(1500), "1.5 kB");
  EXPECT_EQ(BytesText(250e6), "250 MB");
  EXPECT_EQ(BytesText(5e12), "5000 GB");
  EXPECT_EQ(MemoryText(1000), "1000 B");
  EXPECT_EQ(MemoryText(std::uint64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(NsText(12'300), "12.3 us");
}

}  // namespace
}  // namespace bspnow::client
