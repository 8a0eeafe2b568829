#include "base/superstep_totals.h"

#include <gtest/gtest.h>

#include <random>

namespace bspnow {
namespace {

SuperstepSums Node(std::uint32_t first_pid, std::uint64_t w_ns, std::uint64_t release_ns) {
  SuperstepSums sums{};
  sums.processes = 2;
  sums.w_pid = first_pid;
  sums.w_ns = w_ns;
  sums.compute_ns = 2 * w_ns;
  sums.release_ns = 2 * release_ns;
  sums.span_ns = w_ns;
  return sums;
}

std::uint64_t TimeOf(const SuperstepSums& sums) {
  return sums.compute_ns + sums.waiting_ns + sums.release_ns + sums.exchange_ns;
}

TEST(SuperstepSumsTest, TheNodeThatComputedShorterWaitedForTheOther) {
  const SuperstepSums slow = Node(2, 1000, 100);
  const SuperstepSums fast = Node(0, 300, 800);
  for (const auto& [first, second] : {std::pair{slow, fast}, {fast, slow}}) {
    SuperstepSums both{};
    AddNode(first, both);
    AddNode(second, both);
    EXPECT_EQ(both.waiting_ns, 2 * 700u);
    EXPECT_EQ(both.release_ns, 4 * 100u);
    EXPECT_EQ(both.w_ns, 1000u);
    EXPECT_EQ(both.w_pid, 2u);
    EXPECT_EQ(both.processes, 4u);
    EXPECT_EQ(TimeOf(both), TimeOf(slow) + TimeOf(fast));
  }
}

// It heard of this release late, and of the next at once: it was no later than the other.
TEST(SuperstepSumsTest, WaitsForNoLongerThanTheReleaseTook) {
  SuperstepSums both{};
  AddNode(Node(0, 1000, 0), both);
  AddNode(Node(2, 300, 500), both);
  EXPECT_EQ(both.waiting_ns, 2 * 500u);
  EXPECT_EQ(both.release_ns, 0u);
}

TEST(BeyondClassTest, ClassesEndAtPowersOfTwo) {
  EXPECT_EQ(ClassOf(0), 0u);
  EXPECT_EQ(ClassOf(1), 1u);
  EXPECT_EQ(ClassOf(1023), ClassOf(512));
  EXPECT_NE(ClassOf(1023), ClassOf(1024));
  EXPECT_EQ(ClassOf(~std::uint64_t{0}), BeyondClass::kCount - 1);
}

TEST(BeyondClassTest, OutliersDoNotMoveTheMedian) {
  std::mt19937 random(7);
  BeyondClass all{};
  for (int i = 0; i < 10'000; ++i)
    AddBeyond(8, i % 10 == 0 ? 1e9 : 900 + static_cast<double>(random() % 201), all);
  Settle(all);
  EXPECT_EQ(all.supersteps, 10'000u);
  EXPECT_EQ(all.h_bytes, 80'000u);
  EXPECT_NEAR(all.median_ns, 1011, 10);  // The 9 in 10 below the others: at 5/9 of their range.
  EXPECT_NEAR(all.spread_ns, 111, 15);
}

TEST(BeyondClassTest, AddedClassesAreThatOfAll) {
  BeyondClass first{};
  BeyondClass second{};
  for (int i = 0; i < 100; ++i) AddBeyond(4, 50, first);
  for (int i = 0; i < 300; ++i) AddBeyond(8, 90, second);
  AddClass(second, first);
  Settle(first);
  EXPECT_EQ(first.supersteps, 400u);
  EXPECT_EQ(first.h_bytes, 400u + 2400u);
  EXPECT_DOUBLE_EQ(first.median_ns, 80);
}

// Processes can write there, and so can who sends a frame.
TEST(BeyondClassTest, ACountThatCannotBeIsTakenForAFullBatch) {
  BeyondClass damaged{};
  damaged.pending = 1u << 30;
  AddBeyond(0, 5, damaged);
  EXPECT_EQ(damaged.supersteps, BeyondClass::kBatch);
  EXPECT_EQ(damaged.pending, 1u);
  damaged.pending = 1u << 30;
  Settle(damaged);
  EXPECT_EQ(damaged.supersteps, 2 * BeyondClass::kBatch);
}

SuperstepSums WithStraggler(std::uint32_t pid, std::uint64_t w_ns) {
  SuperstepSums sums{};
  sums.processes = 4;
  sums.w_pid = pid;
  sums.w_ns = w_ns;
  sums.compute_ns = w_ns;  // The other three do nothing.
  return sums;
}

TEST(SuperstepTotalsTest, NamesWhomTheOthersWaitedFor) {
  SuperstepTotals totals{};
  for (std::uint32_t i = 0; i < 100; ++i)
    AddSuperstep(WithStraggler(i % 10 == 0 ? 1 : 3, 400), totals);
  EXPECT_EQ(totals.stragglers[0].pid, 1u);
  EXPECT_EQ(totals.stragglers[0].supersteps, 10u);
  EXPECT_EQ(totals.stragglers[0].cost_ns, 10u * 300);
  EXPECT_EQ(totals.stragglers[1].pid, 3u);
  EXPECT_EQ(totals.stragglers[1].supersteps, 90u);
  EXPECT_EQ(totals.stragglers[2].supersteps, 0u);
}

TEST(SuperstepTotalsTest, KeepsTheMostCostlyOfManyStragglers) {
  SuperstepTotals totals{};
  for (std::uint32_t i = 0; i < 1000; ++i) {
    AddSuperstep(WithStraggler(100 + i % 50, 4), totals);
    AddSuperstep(WithStraggler(7, 4000), totals);
  }
  const auto* seven = std::find_if(std::begin(totals.stragglers), std::end(totals.stragglers),
                                   [](const StragglerCount& listed) { return listed.pid == 7; });
  ASSERT_NE(seven, std::end(totals.stragglers));
  EXPECT_EQ(seven->cost_ns, 3'000'000u);
}

TEST(SuperstepTotalsTest, WhoIsAloneKeepsNobodyWaiting) {
  SuperstepTotals totals{};
  SuperstepSums sums{};
  sums.processes = 1;
  sums.compute_ns = sums.w_ns = 100;
  AddSuperstep(sums, totals);
  EXPECT_EQ(totals.stragglers[0].supersteps, 0u);
}

TEST(SuperstepTotalsTest, TwoStretchesAddUp) {
  SuperstepTotals first{};
  SuperstepTotals second{};
  SuperstepTotals both{};
  for (std::uint32_t i = 0; i < 40; ++i) {
    SuperstepSums sums = WithStraggler(i % 3, 100 + i);
    sums.exchange_ns = 4000;
    sums.h_in_bytes = 64;
    AddSuperstep(sums, i < 25 ? first : second);
    AddSuperstep(sums, both);
  }
  AddTotals(second, first);
  EXPECT_EQ(first.supersteps, both.supersteps);
  EXPECT_EQ(first.exchange_ns, both.exchange_ns);
  EXPECT_EQ(first.h_bytes, 40u * 64);
  for (const StragglerCount& listed : both.stragglers) {
    const auto* found = std::find_if(
        std::begin(first.stragglers), std::end(first.stragglers), [&](const StragglerCount& other) {
          return other.pid == listed.pid && other.supersteps == listed.supersteps;
        });
    ASSERT_NE(found, std::end(first.stragglers));
    EXPECT_EQ(found->cost_ns, listed.cost_ns);
  }
  BeyondClass& of_both = both.beyond[ClassOf(64)];
  BeyondClass& added = first.beyond[ClassOf(64)];
  Settle(of_both);
  Settle(added);
  EXPECT_EQ(added.supersteps, of_both.supersteps);
  EXPECT_NEAR(added.median_ns, of_both.median_ns, 0.02 * of_both.median_ns);
}

// A lane may bring anything; found by the fuzzer.
TEST(SuperstepTotalsTest, TakesTheLongestTimeThatThereIs) {
  SuperstepSums sums{};
  sums.processes = 2;
  sums.w_ns = ~std::uint64_t{0};
  SuperstepTotals totals{};
  AddSuperstep(sums, totals);
  EXPECT_EQ(totals.stragglers[0].cost_ns, sums.w_ns);
}

}  // namespace
}  // namespace bspnow
