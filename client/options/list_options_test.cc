#include "client/options/list_options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace bspnow::client {
namespace {

constexpr std::int64_t kNowMs = 1'795'000'000'000;
constexpr std::int64_t kHourMs = 3'600'000;

TEST(ParseStatesTest, TakesStatesAsListsShowThem) {
  const auto states = ParseStates("failed,cancelled");
  ASSERT_TRUE(states.ok()) << states.status();
  EXPECT_EQ(*states, (std::vector{proto::FAILED, proto::CANCELLED}));
  const auto as_slurm = ParseStates("PENDING,RUNNING");
  ASSERT_TRUE(as_slurm.ok()) << as_slurm.status();
  EXPECT_EQ(*as_slurm, (std::vector{proto::WAITING, proto::RUNNING}));
  EXPECT_EQ(*ParseStates("pending"), std::vector{proto::WAITING});
  for (const char* text : {"", "failed,", "job_state_unspecified", "2"})
    EXPECT_FALSE(ParseStates(text).ok()) << text;
}

class ParseSinceTest : public testing::Test {
 protected:
  ParseSinceTest() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST_F(ParseSinceTest, TakesDaysAndMoments) {
  constexpr std::int64_t kDayMs = 1'795'132'800'000;  // 2026-11-20
  EXPECT_EQ(*ParseSince("2026-11-20", kNowMs), kDayMs);
  EXPECT_EQ(*ParseSince("2026-11-20T14:30", kNowMs), kDayMs + 14 * kHourMs + kHourMs / 2);
  EXPECT_EQ(*ParseSince("2026-11-20 14:30:05", kNowMs), kDayMs + 14 * kHourMs + kHourMs / 2 + 5000);
}

TEST_F(ParseSinceTest, TakesHowLongAgo) {
  EXPECT_EQ(*ParseSince("12h", kNowMs), kNowMs - 12 * kHourMs);
  EXPECT_EQ(*ParseSince("3d", kNowMs), kNowMs - 72 * kHourMs);
}

TEST_F(ParseSinceTest, RefusesWhatIsNoTime) {
  for (const char* text : {"", "yesterday", "2026-11", "2026-02-30", "2026-11-20T", "30", "1:30",
                           "-3d", "99999999d", "3d ago"})
    EXPECT_FALSE(ParseSince(text, kNowMs).ok()) << text;
}

TEST(ListRequestTest, AsksForEndedJobsWhereOnlyTheyCanBeMeant) {
  EXPECT_FALSE(ListRequest({.user = "anna", .states = {proto::WAITING}}).all());
  EXPECT_TRUE(ListRequest({.user = "", .states = {proto::WAITING, proto::FAILED}}).all());
  EXPECT_TRUE(ListRequest({.user = "", .states = {}, .since_unix_ms = 1}).all());
}

}  // namespace
}  // namespace bspnow::client
