#include "coordinator/core/superstep_stats.h"

#include <gtest/gtest.h>

#include <numeric>

#include "coordinator/core/totals_message.h"

namespace bspnow::coordinator {
namespace {

// Of two processes, of which the slower computes for w_ns; the superstep takes beyond_ns more.
SuperstepSums Sums(std::uint64_t w_ns, std::uint64_t beyond_ns, std::uint64_t h_bytes) {
  SuperstepSums sums{};
  sums.processes = 2;
  sums.w_ns = w_ns;
  sums.compute_ns = w_ns + w_ns / 2;
  sums.exchange_ns = 10;
  sums.release_ns = 2 * (w_ns + beyond_ns) - sums.compute_ns - sums.exchange_ns;
  sums.h_in_bytes = h_bytes;
  sums.messages_out = 3;
  return sums;
}

TEST(SuperstepStatsTest, AddsSuperstepsUpAsBspCountsThem) {
  SuperstepStats stats;
  stats.SetProcesses(2);
  stats.Record(Sums(100, 50, 8));
  stats.Record(Sums(200, 31, 0));
  stats.Record(Sums(300, 8, 0));
  stats.Record(Sums(400, 9, 0));
  const proto::JobTotals totals = stats.totals();
  EXPECT_EQ(totals.supersteps(), 4u);
  EXPECT_EQ(totals.w_ns(), 1000u);
  EXPECT_EQ(totals.total_ns(), 1098u);
  EXPECT_EQ(totals.beyond_ns(), 98u);
  EXPECT_EQ(totals.h_bytes(), 8u);
  EXPECT_EQ(totals.silent(), 3u);
  EXPECT_EQ(totals.messages(), 12u);
  EXPECT_EQ(totals.compute_ns(), 750u);
  EXPECT_EQ(totals.exchange_ns(), 20u);
  EXPECT_EQ(totals.compute_ns() + totals.wait_ns() + totals.exchange_ns(), totals.total_ns());
  EXPECT_EQ(totals.processes(), 2u);
  const SuperstepHistograms& all = *stats.recorders().of_all;
  EXPECT_EQ(all.superstep_ns.Look().sum, all.computing_ns.Look().sum + all.waiting_ns.Look().sum +
                                             all.release_ns.Look().sum +
                                             all.exchange_ns.Look().sum);
}

TEST(SuperstepStatsTest, ProgressReplacesTheTotalsAndFillsHistogramsWithTheDifference) {
  SuperstepStats stats;
  ProgressBody progress{};
  progress.processes = 2;
  progress.totals.supersteps = 10;
  progress.totals.compute_ns = 198'000;
  progress.totals.release_ns = 2000;
  stats.RecordProgress(progress);
  progress.totals.supersteps = 12;
  progress.totals.compute_ns = 277'000;
  progress.totals.release_ns = 3000;
  stats.RecordProgress(progress);
  progress.totals.supersteps = 5;  // Late, over a connection that is gone.
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().supersteps(), 12u);
  const Histogram::Snapshot time = stats.recorders().of_job->Look();
  EXPECT_EQ(time.sum, 140'000u);
  EXPECT_EQ(std::accumulate(time.counts.begin(), time.counts.end(), std::uint64_t{0}), 12u);
  EXPECT_EQ(stats.recorders().of_all->release_ns.Look().sum, 1500u);  // On one node, too.
}

TEST(SuperstepStatsTest, OfAnAdoptedEpochOnlyWhatComesAfterTheFirstReportIsCounted) {
  SuperstepStats stats({.totals = {}, .repeats = 0, .adopted = true});
  ProgressBody progress{};
  progress.totals.supersteps = 1000;  // Since the epoch began, under an earlier coordinator.
  progress.totals.release_ns = 100'000;
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.counted_from().supersteps(), 1000u);
  EXPECT_EQ(stats.recorders().of_job->Look().sum, 0u);
  progress.totals.supersteps = 1003;
  progress.totals.release_ns = 100'300;
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().supersteps() - stats.counted_from().supersteps(), 3u);
  EXPECT_EQ(stats.recorders().of_job->Look().sum, 300u);
}

TEST(SuperstepStatsTest, GoesOnFromWhereACheckpointWas) {
  SuperstepTotals of_100{};
  SuperstepSums sums{};
  sums.processes = 2;
  sums.release_ns = 2 * 70;
  for (int i = 0; i < 100; ++i) AddSuperstep(sums, of_100);
  SuperstepStats stats({.totals = TotalsMessage(of_100, 2), .repeats = 1});
  EXPECT_EQ(stats.totals().supersteps(), 100u);
  ProgressBody progress{};
  progress.processes = 2;
  progress.totals.supersteps = 1;  // The one that repeats registrations.
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().supersteps(), 100u);
  sums.release_ns = 2 * 130;
  progress.totals = {};
  for (int i = 0; i < 101; ++i) AddSuperstep(sums, progress.totals);
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().supersteps(), 200u);
  EXPECT_EQ(stats.totals().total_ns(), 100u * 70 + 101u * 130);
  EXPECT_NEAR(stats.totals().fit().l_ns(), 100, 1);  // Half of them 70, half 130.
}

// What a job has done in groups until an image of superstep 7, and of that its checkpoint knows
// three supersteps fewer.
constexpr std::uint64_t kInGroups = 40;
proto::JobTotals LackingTheEnd() {
  proto::JobTotals totals;
  totals.set_processes(2);
  totals.set_supersteps(4);
  totals.set_group_supersteps(25);
  totals.set_group_messages(25);
  return totals;
}
SuperstepSums InGroups(std::uint64_t superstep, std::uint64_t supersteps) {
  SuperstepSums sums = Sums(100, 50, 0);
  sums.superstep = superstep;
  sums.groups.supersteps = sums.groups.messages_out = supersteps;
  return sums;
}

TEST(SuperstepStatsTest, ProcessesThatWerePutBackBringAllThatTheyDidInGroups) {
  SuperstepStats stats({.totals = LackingTheEnd(), .repeats = 1});
  EXPECT_EQ(stats.totals().group_supersteps(), 25u);
  stats.Record(InGroups(0, kInGroups));
  EXPECT_EQ(stats.totals().group_supersteps(), kInGroups);
  stats.RecordRepeated(InGroups(0, kInGroups));
  stats.Record(InGroups(1, 5));
  stats.RecordRepeated(InGroups(1, 5));
  EXPECT_EQ(stats.totals().group_supersteps(), kInGroups + 5);
  EXPECT_EQ(stats.totals().group_messages(), kInGroups + 5);
  EXPECT_EQ(stats.totals().supersteps(), 6u);
}

TEST(SuperstepStatsTest, AJobThatReleasesItselfBringsWhatItDidInGroupsWithItsReports) {
  SuperstepStats stats({.totals = LackingTheEnd(), .repeats = 1});
  ProgressBody progress{};
  progress.processes = 2;
  stats.RecordProgress(progress);  // Of no superstep yet.
  EXPECT_EQ(stats.totals().group_supersteps(), 25u);
  AddSuperstep(InGroups(0, kInGroups), progress.totals);
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().group_supersteps(), kInGroups);
  AddSuperstep(InGroups(1, 5), progress.totals);
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().group_supersteps(), kInGroups + 5);
  EXPECT_EQ(stats.totals().group_messages(), kInGroups + 5);
}

TEST(SuperstepStatsTest, ProcessesThatBeginInMainBringNothingOfGroups) {
  SuperstepStats stats({.totals = LackingTheEnd(), .repeats = 0});
  stats.Record(InGroups(0, 5));
  EXPECT_EQ(stats.totals().group_supersteps(), 30u);
}

}  // namespace
}  // namespace bspnow::coordinator
