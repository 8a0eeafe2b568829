#include "coordinator/core/leases.h"

#include <gtest/gtest.h>

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr WorkerId kOne{1};
constexpr WorkerId kTwo{2};

TEST(LeasesTest, AWorkerThatRenewsIsNeverLost) {
  Leases leases(kLeaseLimits);
  leases.Admit(kOne, 0);
  leases.OnConnected(kOne, 0);
  for (std::uint64_t ms = 250; ms < 60'000; ms += 250) {
    leases.OnRenewed(kOne, ms * kMs);
    ASSERT_TRUE(leases.TakeLost(ms * kMs).empty());
  }
}

TEST(LeasesTest, ABrokenConnectionIsLostAfter1500Ms) {
  Leases leases(kLeaseLimits);
  leases.Admit(kOne, 0);
  leases.OnConnected(kOne, 0);
  leases.OnRenewed(kOne, 5000 * kMs);
  leases.OnBroken(kOne, 5100 * kMs);
  EXPECT_TRUE(leases.TakeLost(6599 * kMs).empty());
  const std::vector<LostLease> lost = leases.TakeLost(6600 * kMs);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].worker, kOne);
  EXPECT_EQ(lost[0].reason, "lease expired: no connection for 1.5 s");
  EXPECT_FALSE(leases.holds(kOne));
  EXPECT_TRUE(leases.TakeLost(9000 * kMs).empty());
}

TEST(LeasesTest, AReconnectionInTimeKeepsTheLease) {
  Leases leases(kLeaseLimits);
  leases.Admit(kOne, 0);
  leases.OnConnected(kOne, 0);
  leases.OnBroken(kOne, 100 * kMs);
  leases.OnBroken(kOne, 1000 * kMs);  // Told twice: counts from the first time.
  leases.OnConnected(kOne, 1500 * kMs);
  EXPECT_TRUE(leases.TakeLost(5000 * kMs).empty());
}

TEST(LeasesTest, ASilentConnectionIsLostAfter10S) {
  Leases leases(kLeaseLimits);
  leases.Admit(kOne, 0);
  leases.Admit(kTwo, 0);
  leases.OnConnected(kOne, 0);
  leases.OnConnected(kTwo, 0);
  leases.OnRenewed(kTwo, 9000 * kMs);
  EXPECT_TRUE(leases.TakeLost(9999 * kMs).empty());
  const std::vector<LostLease> lost = leases.TakeLost(10'000 * kMs);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].worker, kOne);
  EXPECT_EQ(lost[0].reason, "lease expired: silent for 10.0 s");
  EXPECT_EQ(leases.AgeNs(kTwo, 10'000 * kMs), 1000 * kMs);
}

TEST(LeasesTest, AWorkerThatNeverConnectsIsLostAfter10S) {
  Leases leases(kLeaseLimits);
  leases.Admit(kOne, 1000 * kMs);
  EXPECT_TRUE(leases.TakeLost(10'999 * kMs).empty());
  EXPECT_EQ(leases.TakeLost(11'000 * kMs).size(), 1u);
}

TEST(LeasesTest, NobodyWithoutALeaseCanRenewOne) {
  Leases leases(kLeaseLimits);
  leases.OnConnected(kOne, 0);
  leases.OnRenewed(kOne, 0);
  leases.OnBroken(kOne, 0);
  EXPECT_FALSE(leases.holds(kOne));
  EXPECT_TRUE(leases.TakeLost(20'000 * kMs).empty());
}

TEST(LeasesTest, PauseOfTheCoordinatorCostsNobodyHisLease) {
  constexpr std::uint64_t kS = 1'000'000'000;
  Leases leases(kLeaseLimits);
  leases.Admit(WorkerId{1}, 1 * kS);
  leases.Admit(WorkerId{2}, 1 * kS);
  leases.OnBroken(WorkerId{2}, 2 * kS);
  leases.OnPaused(30 * kS, 32 * kS);  // From 2 s to 32 s.
  EXPECT_TRUE(leases.TakeLost(32 * kS).empty());
  EXPECT_EQ(leases.AgeNs(WorkerId{1}, 32 * kS), 1 * kS);
  const std::vector<LostLease> lost = leases.TakeLost(34 * kS);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].worker, WorkerId{2});
  EXPECT_EQ(leases.TakeLost(42 * kS).size(), 1u);
}

TEST(LeasesTest, RenewalWithinThePauseIsNotInTheFuture) {
  Leases leases(kLeaseLimits);
  leases.Admit(WorkerId{1}, 1000);
  leases.OnRenewed(WorkerId{1}, 5000);
  leases.OnPaused(4000, 5000);
  EXPECT_EQ(leases.AgeNs(WorkerId{1}, 5000), 0u);
}

}  // namespace
}  // namespace bspnow::coordinator
