#include "client/cluster/reconnection.h"

#include <gtest/gtest.h>

#include <vector>

namespace bspnow::client {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStartNs = 5'000 * kMs;
const absl::Status kRefused = absl::UnavailableError("refused");

TEST(ReconnectionTest, SaysOnceThatTheCoordinatorIsLostAndAgainAfterItWasBack) {
  Reconnection reconnection("host:1", 60'000);
  EXPECT_EQ(reconnection.OnLost(kRefused, kStartNs)->say,
            "lost the coordinator host:1: refused; trying again");
  EXPECT_TRUE(reconnection.lost());
  EXPECT_EQ(reconnection.OnLost(kRefused, kStartNs + kMs)->say, "");
  reconnection.OnBack();
  EXPECT_FALSE(reconnection.lost());
  EXPECT_NE(reconnection.OnLost(kRefused, kStartNs + 2 * kMs)->say, "");
}

TEST(ReconnectionTest, SaysNotTwiceWhatACallHasSaid) {
  const absl::Status said = absl::UnavailableError(LostCoordinator("host:1", "no answer"));
  EXPECT_EQ(said.message(), "lost the coordinator host:1: no answer");
  EXPECT_EQ(Reconnection("host:1", 60'000).OnLost(said, kStartNs)->say,
            "lost the coordinator host:1: no answer; trying again");
}

TEST(ReconnectionTest, TriesEverMoreSlowlyUntilTheTimeIsOver) {
  Reconnection reconnection("host:1", 4'000);
  std::vector<std::uint64_t> waits_ms;
  std::uint64_t now_ns = kStartNs;
  while (const auto retry = reconnection.OnLost(kRefused, now_ns)) {
    waits_ms.push_back(retry->after_ms);
    now_ns += retry->after_ms * kMs;
  }
  EXPECT_EQ(waits_ms, (std::vector<std::uint64_t>{100, 200, 400, 800, 1'000, 1'000, 500}));
  EXPECT_EQ(now_ns, kStartNs + 4'000 * kMs);
}

TEST(ReconnectionTest, TheTimeBeginsAnewWhenTheCoordinatorWasBack) {
  Reconnection reconnection("host:1", 1'000);
  ASSERT_TRUE(reconnection.OnLost(kRefused, kStartNs).has_value());
  reconnection.OnBack();
  EXPECT_TRUE(reconnection.OnLost(kRefused, kStartNs + 5'000 * kMs).has_value());
}

TEST(ReconnectionTest, WithoutTimeThereIsNoTry) {
  Reconnection reconnection("host:1", 0);
  EXPECT_FALSE(reconnection.OnLost(kRefused, kStartNs).has_value());
}

TEST(ReconnectionTest, WhatTheCoordinatorRefusesIsNoLoss) {
  const Reconnection reconnection("host:1", 1'000);
  EXPECT_TRUE(reconnection.MayComeBack(absl::UnavailableError("")));
  EXPECT_TRUE(reconnection.MayComeBack(absl::CancelledError("")));
  EXPECT_FALSE(reconnection.MayComeBack(absl::OkStatus()));
  EXPECT_FALSE(reconnection.MayComeBack(absl::NotFoundError("")));
  EXPECT_FALSE(reconnection.MayComeBack(absl::PermissionDeniedError("")));
}

TEST(ReconnectionTest, WhoWasKnownIsNotRefusedByACoordinatorThatComesBack) {
  Reconnection reconnection("host:1", 1'000);
  const absl::Status no_token = absl::UnauthenticatedError("the call bears no token");
  EXPECT_FALSE(reconnection.MayComeBack(no_token));
  ASSERT_TRUE(reconnection.OnLost(kRefused, kStartNs).has_value());
  EXPECT_TRUE(reconnection.MayComeBack(no_token));
  EXPECT_FALSE(reconnection.MayComeBack(absl::PermissionDeniedError("")));
  reconnection.OnBack();
  EXPECT_FALSE(reconnection.MayComeBack(no_token));
}

TEST(ReconnectionTest, SaysOnceThatACoordinatorWhichIsBackRefuses) {
  Reconnection reconnection("host:1", 60'000);
  const absl::Status over = absl::UnauthenticatedError("the token has ended");
  ASSERT_TRUE(reconnection.OnLost(kRefused, kStartNs).has_value());
  // It may have come a moment before the login socket.
  EXPECT_EQ(reconnection.OnLost(over, kStartNs + 100 * kMs)->say, "");
  EXPECT_EQ(reconnection.OnLost(over, kStartNs + 3'000 * kMs)->say,
            "the coordinator host:1 is back, and refuses: the token has ended; trying again");
  EXPECT_EQ(reconnection.OnLost(over, kStartNs + 4'000 * kMs)->say, "");
  EXPECT_FALSE(reconnection.OnLost(over, kStartNs + 60'000 * kMs).has_value());
  EXPECT_EQ(reconnection.GaveUp(over),
            absl::UnauthenticatedError("the coordinator host:1 refuses: the token has ended; "
                                       "gave up"));
}

}  // namespace
}  // namespace bspnow::client
