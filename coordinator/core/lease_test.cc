#include "coordinator/core/lease.h"

#include <gtest/gtest.h>

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

TEST(LeaseTest, AWorkerThatRenewsIsNeverLost) {
  Lease lease(0);
  lease.OnConnected(0);
  for (std::uint64_t ms = 250; ms < 60'000; ms += 250) {
    lease.OnRenewed(ms * kMs);
    ASSERT_EQ(lease.WhyLost(ms * kMs), "");
  }
}

TEST(LeaseTest, ABrokenConnectionIsLostAfter1500Ms) {
  Lease lease(0);
  lease.OnConnected(0);
  lease.OnRenewed(5000 * kMs);
  lease.OnBroken(5100 * kMs);
  EXPECT_FALSE(lease.connected());
  EXPECT_EQ(lease.WhyLost(6599 * kMs), "");
  EXPECT_EQ(lease.WhyLost(6600 * kMs), "lease expired: no connection for 1.5 s");
}

TEST(LeaseTest, AReconnectionInTimeKeepsTheLease) {
  Lease lease(0);
  lease.OnConnected(0);
  lease.OnBroken(100 * kMs);
  lease.OnBroken(1000 * kMs);  // Told twice: counts from the first time.
  EXPECT_NE(lease.WhyLost(1600 * kMs), "");
  lease.OnConnected(1500 * kMs);
  EXPECT_TRUE(lease.connected());
  EXPECT_EQ(lease.WhyLost(5000 * kMs), "");
}

TEST(LeaseTest, ASilentConnectionIsLostAfter10S) {
  Lease lease(0);
  lease.OnConnected(0);
  EXPECT_EQ(lease.WhyLost(9999 * kMs), "");
  EXPECT_EQ(lease.WhyLost(10'000 * kMs), "lease expired: silent for 10.0 s");
  lease.OnRenewed(9000 * kMs);
  EXPECT_EQ(lease.WhyLost(10'000 * kMs), "");
  EXPECT_EQ(lease.AgeNs(10'000 * kMs), 1000 * kMs);
}

TEST(LeaseTest, AWorkerThatNeverConnectsIsLostAfter10S) {
  const Lease lease(1000 * kMs);
  EXPECT_FALSE(lease.connected());
  EXPECT_EQ(lease.WhyLost(10'999 * kMs), "");
  EXPECT_NE(lease.WhyLost(11'000 * kMs), "");
}

TEST(LeaseTest, PauseOfTheCoordinatorCostsNobodyHisLease) {
  constexpr std::uint64_t kS = 1'000'000'000;
  Lease silent(1 * kS);
  Lease broken(1 * kS);
  broken.OnBroken(2 * kS);
  silent.OnPaused(30 * kS, 32 * kS);  // From 2 s to 32 s.
  broken.OnPaused(30 * kS, 32 * kS);
  EXPECT_EQ(silent.WhyLost(32 * kS), "");
  EXPECT_EQ(broken.WhyLost(32 * kS), "");
  EXPECT_EQ(silent.AgeNs(32 * kS), 1 * kS);
  EXPECT_EQ(silent.WhyLost(34 * kS), "");
  EXPECT_NE(broken.WhyLost(34 * kS), "");
  EXPECT_NE(silent.WhyLost(42 * kS), "");
}

TEST(LeaseTest, RenewalWithinThePauseIsNotInTheFuture) {
  Lease lease(1000);
  lease.OnRenewed(5000);
  lease.OnPaused(4000, 5000);
  EXPECT_EQ(lease.AgeNs(5000), 0u);
}

}  // namespace
}  // namespace bspnow::coordinator
