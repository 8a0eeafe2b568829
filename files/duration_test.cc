#include "files/duration.h"

#include <gtest/gtest.h>

namespace bspnow::files {
namespace {

constexpr std::uint64_t kMinuteMs = 60'000;

std::optional<std::uint64_t> Read(const std::string& text) {
  return ParseDurationMs(text, PlainNumber::kRefused);
}

TEST(DurationTest, ReadsNumbersWithEachUnit) {
  EXPECT_EQ(Read("500ms"), 500u);
  EXPECT_EQ(Read("90s"), 90'000u);
  EXPECT_EQ(Read("90sec"), 90'000u);
  EXPECT_EQ(Read("10m"), 10 * kMinuteMs);
  EXPECT_EQ(Read("10min"), 10 * kMinuteMs);
  EXPECT_EQ(Read("2h"), 120 * kMinuteMs);
  EXPECT_EQ(Read("7d"), 7 * 1440 * kMinuteMs);
  EXPECT_EQ(Read("1.5 H"), 90 * kMinuteMs);
  EXPECT_EQ(Read("1.1h"), 66 * kMinuteMs);
  EXPECT_EQ(Read(".5s"), 500u);
  EXPECT_EQ(Read("1209600000ms"), 14 * 1440 * kMinuteMs);
  EXPECT_EQ(Read("0s"), 0u);
}

TEST(DurationTest, ReadsWhatSlurmWrites) {
  EXPECT_EQ(Read("1:30"), 90'000u);
  EXPECT_EQ(Read("1:30:00"), 90 * kMinuteMs);
  EXPECT_EQ(Read("2-12"), 60 * 60 * kMinuteMs);
  EXPECT_EQ(Read("1-2:03:04"), (26 * 60 + 3) * kMinuteMs + 4'000);
}

TEST(DurationTest, ANumberAloneCountsWhatTheOptionSays) {
  EXPECT_EQ(Read("30"), std::nullopt);
  EXPECT_EQ(ParseDurationMs("30", PlainNumber::kSeconds), 30'000u);
  EXPECT_EQ(ParseDurationMs("0.5", PlainNumber::kMinutes), 30'000u);
}

TEST(DurationTest, WhatIsMoreThanNothingStaysSo) { EXPECT_EQ(Read("0.1ms"), 1u); }

TEST(DurationTest, AnOptionTakesNoMoreThanNanosecondsCanCount) {
  const CLI::Validator option = AsMilliseconds(PlainNumber::kSeconds, 1);
  std::string text = "36500d";
  EXPECT_EQ(option(text), "");
  text = "213504d";
  EXPECT_EQ(option(text), "213504d is more than a hundred years");
}

TEST(DurationTest, RefusesWhatIsNoTime) {
  for (const char* text : {"", "s", ".s", "3x", "-5", "-5s", "1-", "1:2:3:4", "1-2:3:4:5", "1::2",
                           "1.2.3s", "1:30h", "1e9s", "infs", "99999999999999999999s"})
    EXPECT_EQ(Read(text), std::nullopt) << text;
}

}  // namespace
}  // namespace bspnow::files
