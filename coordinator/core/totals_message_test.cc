#include "coordinator/core/totals_message.h"

#include <gtest/gtest.h>

namespace bspnow::coordinator {
namespace {

// Of two processes, of which pid 1 computes twice as long as pid 0.
SuperstepTotals Supersteps(int count, std::uint64_t h_bytes) {
  SuperstepTotals totals{};
  for (int i = 0; i < count; ++i) {
    SuperstepSums sums{};
    sums.processes = 2;
    sums.w_pid = 1;
    sums.w_ns = 2000;
    sums.compute_ns = 3000;
    sums.waiting_ns = 1000;
    sums.release_ns = 1200;
    sums.exchange_ns = 2 * h_bytes;
    sums.h_out_bytes = sums.bytes_out = sums.bytes_in = h_bytes;
    sums.h_in_bytes = h_bytes / 2;
    sums.groups = {.supersteps = 4,
                   .sync_ns = 500,
                   .bytes_out = 80,
                   .bytes_in = 70,
                   .messages_out = 6,
                   .messages_in = 5};
    AddSuperstep(sums, totals);
  }
  return totals;
}

SuperstepTotals Both() {
  SuperstepTotals totals = Supersteps(100, 0);
  AddTotals(Supersteps(50, 10'000), totals);
  return totals;
}

TEST(TotalsMessageTest, ThePartsAreTheTime) {
  const proto::JobTotals message = TotalsMessage(Both(), 2);
  EXPECT_EQ(message.supersteps(), 150u);
  EXPECT_EQ(message.compute_ns(), 150u * 1500);
  EXPECT_EQ(message.waiting_ns(), 150u * 500);
  EXPECT_EQ(message.release_ns(), 150u * 600);
  EXPECT_EQ(message.exchange_ns(), 50u * 10'000);
  EXPECT_EQ(message.wait_ns(), message.waiting_ns() + message.release_ns());
  EXPECT_EQ(message.total_ns(), message.compute_ns() + message.wait_ns() + message.exchange_ns());
  EXPECT_EQ(message.beyond_ns(), message.total_ns() - message.w_ns());
  EXPECT_DOUBLE_EQ(message.imbalance(), 2000.0 / 1500);
}

TEST(TotalsMessageTest, WhatGroupsDidIsBesideTheParts) {
  const proto::JobTotals message = TotalsMessage(Both(), 2);
  EXPECT_EQ(message.group_supersteps(), 150u * 4);
  EXPECT_EQ(message.group_sync_ns(), 150u * 250);  // Of a process on average, as the parts are.
  EXPECT_EQ(message.group_bytes_out(), 150u * 80);
  EXPECT_EQ(message.group_bytes_in(), 150u * 70);
  EXPECT_EQ(message.group_messages(), 150u * 6);
  EXPECT_EQ(message.group_messages_in(), 150u * 5);
}

TEST(TotalsMessageTest, WhatIsFittedPredictsTheTime) {
  const proto::JobTotals message = TotalsMessage(Both(), 2);
  EXPECT_NEAR(message.fit().g_ns_per_byte(), 1, 0.01);
  EXPECT_NEAR(message.fit().l_ns(), 600, 6);
  EXPECT_EQ(message.silent(), 100u);
  EXPECT_NEAR(static_cast<double>(message.predicted_ns()), static_cast<double>(message.total_ns()),
              0.01 * static_cast<double>(message.total_ns()));
  ASSERT_EQ(message.stragglers_size(), 1);
  EXPECT_EQ(message.stragglers(0).pid(), 1u);
  EXPECT_EQ(message.stragglers(0).cost_ns(), 150u * 500);
}

// A coordinator that was started again knows from nodes how many barriers there were.
TEST(TotalsMessageTest, WhatWasNotMeasuredIsNotPredicted) {
  SuperstepTotals totals = Both();
  totals.supersteps += 1000;
  const proto::JobTotals message = TotalsMessage(totals, 2);
  EXPECT_EQ(message.supersteps(), 1150u);
  EXPECT_EQ(message.unmeasured(), 1000u);
  EXPECT_EQ(message.predicted_ns(), TotalsMessage(Both(), 2).predicted_ns());
  EXPECT_EQ(TotalsMessage(TotalsFrom(message), 2).unmeasured(), 1000u);
  EXPECT_EQ(TotalsMessage(Both(), 2).unmeasured(), 0u);
}

/// The slowest of 64 processes costs the others `cost_ns`.
void AddSlowest(std::uint32_t pid, std::uint64_t cost_ns, SuperstepTotals& totals) {
  SuperstepSums sums{};
  sums.processes = 64;
  sums.w_pid = pid;
  sums.compute_ns = 64 * 1000;
  sums.w_ns = 1000 + cost_ns;
  AddSuperstep(sums, totals);
}

TEST(TotalsMessageTest, OfManyThatAreAlikeNobodyIsAStraggler) {
  SuperstepTotals totals{};
  for (std::uint32_t i = 0; i < 6400; ++i) AddSlowest(i % 64, 100, totals);
  EXPECT_EQ(TotalsMessage(totals, 64).stragglers_size(), 0);
}

TEST(TotalsMessageTest, AStragglerAmongManyHasNoMoreThanItsOwn) {
  SuperstepTotals totals{};
  for (std::uint32_t i = 0; i < 6400; ++i) AddSlowest(i % 4 == 0 ? 7u : i % 63, 100, totals);
  const proto::JobTotals message = TotalsMessage(totals, 64);
  ASSERT_EQ(message.stragglers_size(), 1);
  EXPECT_EQ(message.stragglers(0).pid(), 7u);
  EXPECT_LE(message.stragglers(0).supersteps(), 1600u + 6400 / 63);
  EXPECT_LE(message.stragglers(0).cost_ns(), (1600u + 6400 / 63) * 100);
  EXPECT_GT(message.stragglers(0).cost_ns(), 800u * 100);
  EXPECT_EQ(TotalsMessage(TotalsFrom(message), 64).stragglers(0).cost_ns(),
            message.stragglers(0).cost_ns());
}

// As an epoch's report is added to what the job took before.
TEST(TotalsMessageTest, InheritedCountsAreNotInheritedAgain) {
  SuperstepTotals before{};
  for (std::uint32_t i = 0; i < 10; ++i) AddSlowest(7, 100, before);
  SuperstepTotals report{};
  for (std::uint32_t i = 0; i < 6407; ++i) AddSlowest(100 + i % 64, 100, report);
  AddTotals(report, before);
  const proto::JobTotals message = TotalsMessage(before, 64);
  ASSERT_EQ(message.stragglers_size(), 1);
  EXPECT_EQ(message.stragglers(0).pid(), 7u);
  EXPECT_EQ(message.stragglers(0).supersteps(), 10u);
  EXPECT_EQ(message.stragglers(0).cost_ns(), 10u * 100);
}

TEST(TotalsMessageTest, AStragglerOfAReportHasNoMoreThanItsOwnOfBoth) {
  SuperstepTotals before{};
  for (std::uint32_t pid = 0; pid < 8; ++pid) AddSlowest(pid, 100, before);
  SuperstepTotals report{};
  for (std::uint32_t i = 0; i < 6400; ++i) AddSlowest(i % 4 == 0 ? 70u : i % 63, 100, report);
  AddTotals(report, before);
  const proto::JobTotals message = TotalsMessage(before, 64);
  for (const proto::Straggler& straggler : message.stragglers()) {
    const std::uint64_t most = straggler.pid() == 70 ? 1600 : 6400 / 63 + 2;
    EXPECT_LE(straggler.supersteps(), most) << straggler.pid();
    EXPECT_LE(straggler.cost_ns(), most * 100) << straggler.pid();
  }
}

TEST(TotalsMessageTest, WhatCannotBeToldIsAbsent) {
  const proto::JobTotals message = TotalsMessage(Supersteps(9, 10'000), 2);
  EXPECT_FALSE(message.fit().has_g_ns_per_byte());
  EXPECT_FALSE(message.fit().has_l_ns());
  EXPECT_EQ(message.predicted_ns(), 0u);
  EXPECT_EQ(TotalsMessage(SuperstepTotals{}, 0).imbalance(), 0);
}

TEST(TotalsMessageTest, WhoGoesOnFromAMessageSaysTheSame) {
  const proto::JobTotals message = TotalsMessage(Both(), 2);
  EXPECT_EQ(TotalsMessage(TotalsFrom(message), 2).DebugString(), message.DebugString());
}

TEST(TotalsMessageTest, AnOlderVersionsWaitIsItsRelease) {
  proto::JobTotals stored;
  stored.set_processes(2);
  stored.set_supersteps(5);
  stored.set_compute_ns(70);
  stored.set_wait_ns(20);
  stored.set_exchange_ns(10);
  const proto::JobTotals message = TotalsMessage(TotalsFrom(stored), 2);
  EXPECT_EQ(message.release_ns(), 20u);
  EXPECT_EQ(message.total_ns(), 100u);
}

}  // namespace
}  // namespace bspnow::coordinator
