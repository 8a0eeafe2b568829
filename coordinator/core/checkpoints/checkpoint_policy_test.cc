#include "coordinator/core/checkpoints/checkpoint_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kHour = 3600 * kSecond;
constexpr CheckpointLimits kLimits{.mtbf_ns = 24 * kHour, .overhead_max = 0.05};

CheckpointPolicy Started(CheckpointRule::Kind kind, std::uint64_t every) {
  CheckpointPolicy policy({.kind = kind, .every = every}, kLimits);
  policy.OnStarted(0, Superstep{0});
  return policy;
}

CheckpointPolicy Automatic() { return Started(CheckpointRule::Kind::kAutomatic, 0); }

void Take(CheckpointPolicy& policy, std::uint64_t now_ns, std::uint64_t pause_ns) {
  policy.OnTaken(now_ns, Superstep{0});
  policy.OnEnd(now_ns, {.pause_ns = pause_ns, .background_ns = 0},
               CheckpointPolicy::Ended::kCommitted);
}

TEST(CheckpointPolicyTest, IntervalIsYoungs) {
  CheckpointPolicy policy = Automatic();
  Take(policy, 200 * kSecond, 20 * kMs);
  const double best_s = std::sqrt(2 * 86400.0 * 0.02);
  EXPECT_NEAR(static_cast<double>(policy.interval_ns()) / 1e9, best_s, 0.001);
  const std::uint64_t next_ns = 200 * kSecond + policy.interval_ns();
  EXPECT_FALSE(policy.IsDue(next_ns - 1, Superstep{5}));
  EXPECT_TRUE(policy.IsDue(next_ns, Superstep{5}));
}

TEST(CheckpointPolicyTest, FirstCostIsAGuess) {
  CheckpointPolicy policy = Automatic();
  EXPECT_EQ(policy.expected_cost_ns(), kFirstCostNs);
  const std::uint64_t first_ns = policy.interval_ns();
  EXPECT_FALSE(policy.IsDue(first_ns - 1, Superstep{1}));
  EXPECT_TRUE(policy.IsDue(first_ns, Superstep{1}));
}

TEST(CheckpointPolicyTest, BackgroundWorkCounts) {
  CheckpointPolicy policy = Automatic();
  policy.OnEnd(kSecond, {.pause_ns = 10 * kMs, .background_ns = 30 * kMs},
               CheckpointPolicy::Ended::kCommitted);
  EXPECT_EQ(policy.expected_cost_ns(), 40 * kMs);
  EXPECT_EQ(policy.spent_ns(), 40 * kMs);
}

TEST(CheckpointPolicyTest, IntervalIsNeverShorterThanTheCapAllows) {
  CheckpointPolicy policy({.kind = CheckpointRule::Kind::kAutomatic, .every = 0},
                          {.mtbf_ns = 60 * kSecond, .overhead_max = 0.05});
  policy.OnStarted(0, Superstep{0});
  Take(policy, 10 * kSecond, kSecond);  // sqrt(2 * 60 * 1) is 11 s, and 1 s is 5 % of 20 s.
  EXPECT_EQ(policy.interval_ns(), 20 * kSecond);
}

TEST(CheckpointPolicyTest, ACostThatWasNotExpectedIsPaidOffFirst) {
  CheckpointPolicy policy = Automatic();
  Take(policy, 200 * kSecond, 60 * kSecond);
  Take(policy, 3500 * kSecond, kMs);
  Take(policy, 3501 * kSecond, kMs);
  const std::uint64_t due_ns = 3501 * kSecond + policy.interval_ns();
  ASSERT_TRUE(policy.IsDue(due_ns, Superstep{1}));
  CheckpointPolicy poor = Automatic();
  Take(poor, 20 * kSecond, 100 * kSecond);
  for (int i = 0; i < 30; ++i) Take(poor, 21 * kSecond, kMs);  // Now 1 ms is expected.
  EXPECT_LT(poor.interval_ns(), 60 * kSecond);
  EXPECT_FALSE(poor.IsDue(1900 * kSecond, Superstep{1}));
  EXPECT_TRUE(poor.IsDue(2100 * kSecond, Superstep{1}));
}

TEST(CheckpointPolicyTest, EveryNSuperstepsCountsFromTheLastOne) {
  CheckpointPolicy policy = Started(CheckpointRule::Kind::kEverySupersteps, 10);
  EXPECT_EQ(policy.interval_ns(), 0u);
  EXPECT_FALSE(policy.IsDue(kHour, Superstep{9}));
  EXPECT_TRUE(policy.IsDue(1, Superstep{10}));
  policy.OnTaken(1, Superstep{12});  // By a user.
  EXPECT_FALSE(policy.IsDue(2, Superstep{21}));
  EXPECT_TRUE(policy.IsDue(2, Superstep{22}));
}

TEST(CheckpointPolicyTest, AsManySuperstepsAsCanBeNamedAreNeverOver) {
  CheckpointPolicy policy = Started(CheckpointRule::Kind::kEverySupersteps, UINT64_MAX);
  policy.OnTaken(1, Superstep{5});  // By a user.
  EXPECT_FALSE(policy.IsDue(kHour, Superstep{6}));
}

TEST(CheckpointPolicyTest, EveryDurationIsDueAtTheFirstBarrierAfterIt) {
  CheckpointPolicy policy = Started(CheckpointRule::Kind::kEveryTime, 30 * kSecond);
  EXPECT_EQ(policy.interval_ns(), 30 * kSecond);
  EXPECT_FALSE(policy.IsDue(30 * kSecond - 1, Superstep{1}));
  EXPECT_TRUE(policy.IsDue(31 * kSecond, Superstep{1}));
  policy.OnTaken(31 * kSecond, Superstep{1});
  EXPECT_FALSE(policy.IsDue(60 * kSecond, Superstep{2}));
  EXPECT_TRUE(policy.IsDue(61 * kSecond, Superstep{2}));
}

TEST(CheckpointPolicyTest, OffIsNeverDue) {
  const CheckpointPolicy policy = Started(CheckpointRule::Kind::kOff, 0);
  EXPECT_FALSE(policy.IsDue(1000 * kHour, Superstep{1'000'000}));
  EXPECT_EQ(policy.interval_ns(), 0u);
}

TEST(CheckpointPolicyTest, LostCopiesAreRenewedWithoutWaitingForTheInterval) {
  CheckpointPolicy policy = Automatic();
  Take(policy, 100 * kSecond, kMs);
  policy.OnCopies(CheckpointPolicy::Copies::kTooFew);
  EXPECT_FALSE(policy.IsDue(100 * kSecond + kRenewalNsMin - 1, Superstep{1}));
  EXPECT_TRUE(policy.IsDue(100 * kSecond + kRenewalNsMin, Superstep{1}));
  policy.OnEnd(111 * kSecond, {}, CheckpointPolicy::Ended::kGivenUp);
  EXPECT_FALSE(policy.IsDue(111 * kSecond + 1, Superstep{1}));
  EXPECT_TRUE(policy.IsDue(112 * kSecond, Superstep{1}));
  policy.OnCopies(CheckpointPolicy::Copies::kEnough);
  EXPECT_FALSE(policy.IsDue(112 * kSecond, Superstep{1}));
}

// However often nodes come and go.
TEST(CheckpointPolicyTest, RenewalsTakeAFifthOfTheTimeAtMost) {
  CheckpointPolicy policy = Automatic();
  Take(policy, 5000 * kSecond, 60 * kSecond);
  policy.OnCopies(CheckpointPolicy::Copies::kTooFew);
  EXPECT_FALSE(policy.IsDue(5000 * kSecond + 4 * 60 * kSecond - 1, Superstep{1}));
  EXPECT_TRUE(policy.IsDue(5000 * kSecond + 4 * 60 * kSecond, Superstep{1}));
}

TEST(CheckpointPolicyTest, LostCopiesAreNotRenewedIfThePolicyIsOff) {
  CheckpointPolicy policy = Started(CheckpointRule::Kind::kOff, 0);
  policy.OnCopies(CheckpointPolicy::Copies::kTooFew);
  EXPECT_FALSE(policy.IsDue(kHour, Superstep{1}));
}

TEST(CheckpointPolicyTest, GoesOnWithWhatWasMeasuredBeforeARestart) {
  CheckpointPolicy before = Automatic();
  Take(before, 200 * kSecond, 20 * kMs);
  CheckpointPolicy after({.kind = CheckpointRule::Kind::kAutomatic, .every = 0}, kLimits);
  after.Restore(before.spent_ns(), before.run_ns(200 * kSecond),
                {.pause_ns = 20 * kMs, .background_ns = 0});
  after.OnStarted(kSecond, Superstep{5});
  EXPECT_EQ(after.spent_ns(), 20 * kMs);
  EXPECT_EQ(after.run_ns(2 * kSecond), 201 * kSecond);
  EXPECT_EQ(after.interval_ns(), before.interval_ns());
}

TEST(CheckpointPolicyTest, NothingIsDueWhileTheJobDoesNotRun) {
  CheckpointPolicy policy = Started(CheckpointRule::Kind::kEverySupersteps, 10);
  policy.OnStopped(5 * kSecond);
  EXPECT_FALSE(policy.IsDue(kHour, Superstep{100}));
  EXPECT_EQ(policy.run_ns(kHour), 5 * kSecond);
  policy.OnStarted(kHour, Superstep{90});  // Back to a checkpoint.
  EXPECT_FALSE(policy.IsDue(kHour + 1, Superstep{99}));
  EXPECT_TRUE(policy.IsDue(kHour + 1, Superstep{100}));
  EXPECT_EQ(policy.run_ns(kHour + kSecond), 6 * kSecond);
}

TEST(CheckpointPolicyTest, WaitsLongerAfterEachFailureInARow) {
  CheckpointPolicy policy = Started(CheckpointRule::Kind::kEverySupersteps, 1);
  std::uint64_t now_ns = kSecond;
  std::uint64_t last_wait_ns = 0;
  for (int i = 0; i < 30; ++i) {
    policy.OnEnd(now_ns, {}, CheckpointPolicy::Ended::kGivenUp);
    std::uint64_t wait_ns = kRetryNsMin;
    while (!policy.IsDue(now_ns + wait_ns, Superstep{1'000'000})) wait_ns += kRetryNsMin;
    EXPECT_GE(wait_ns, last_wait_ns);
    EXPECT_LE(wait_ns, kRetryNsMax);
    last_wait_ns = wait_ns;
    now_ns += wait_ns;
  }
  EXPECT_EQ(last_wait_ns, kRetryNsMax);
  policy.OnEnd(now_ns, {}, CheckpointPolicy::Ended::kCommitted);
  EXPECT_TRUE(policy.IsDue(now_ns, Superstep{1'000'000}));
}

// Whatever checkpoints cost: when one is taken, those before it and what this one is expected to
// cost are within the cap; and in the long run what they really cost is, too.
TEST(CheckpointPolicyTest, TheCapHoldsForAnyCosts) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const CheckpointLimits limits{.mtbf_ns = kSecond << (random() % 18), .overhead_max = 0.05};
    CheckpointPolicy policy({.kind = CheckpointRule::Kind::kAutomatic, .every = 0}, limits);
    policy.OnStarted(0, Superstep{0});
    const std::uint64_t typical_ns = kMs << (random() % 12);
    std::uint64_t now_ns = 0;
    int taken = 0;
    for (int step = 0; step < 5000; ++step) {
      now_ns += 1 + random() % (typical_ns * 4);
      if (!policy.IsDue(now_ns, Superstep{1})) continue;
      const auto run = static_cast<double>(policy.run_ns(now_ns));
      ASSERT_LE(static_cast<double>(policy.spent_ns() + policy.expected_cost_ns()), 0.05 * run)
          << "seed " << seed;
      policy.OnTaken(now_ns, Superstep{1});
      policy.OnEnd(now_ns, {.pause_ns = random() % typical_ns, .background_ns = typical_ns},
                   CheckpointPolicy::Ended::kCommitted);
      taken += 1;
    }
    if (taken > 10) {
      const auto run = static_cast<double>(policy.run_ns(now_ns));
      EXPECT_LE(static_cast<double>(policy.spent_ns()), 0.06 * run) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace bspnow::coordinator
