#include "coordinator/core/superstep_stats.h"

#include <gtest/gtest.h>

#include <numeric>

namespace bspnow::coordinator {
namespace {

// Of two processes, of which the slower computes for w_ns; the superstep takes beyond_ns more.
SuperstepSums Sums(std::uint64_t w_ns, std::uint64_t beyond_ns, std::uint64_t h_bytes) {
  SuperstepSums sums{};
  sums.w_ns = w_ns;
  sums.compute_ns = w_ns + w_ns / 2;
  sums.exchange_ns = 10;
  sums.total_ns = w_ns + beyond_ns;
  sums.wait_ns = 2 * sums.total_ns - sums.compute_ns - sums.exchange_ns;
  sums.h_bytes = h_bytes;
  sums.messages = 3;
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
  EXPECT_EQ(totals.l_ns(), 9u);  // The median of 8, 9 and 31: one odd superstep is no barrier.
  EXPECT_EQ(totals.messages(), 12u);
  EXPECT_EQ(totals.compute_ns(), 750u);
  EXPECT_EQ(totals.exchange_ns(), 20u);
  EXPECT_EQ(totals.compute_ns() + totals.wait_ns() + totals.exchange_ns(), totals.total_ns());
  EXPECT_EQ(totals.processes(), 2u);
  const SuperstepHistograms& all = *stats.recorders().of_all;
  EXPECT_EQ(all.superstep_ns.Look().sum,
            all.computing_ns.Look().sum + all.waiting_ns.Look().sum + all.exchange_ns.Look().sum);
}

TEST(SuperstepStatsTest, FoldsWorkersByTheirLargest) {
  SuperstepSums folded = Sums(100, 50, 8);
  FoldSums(Sums(70, 1000, 16), folded);
  EXPECT_EQ(folded.w_ns, 100u);
  EXPECT_EQ(folded.compute_ns, 150u + 105u);
  EXPECT_EQ(folded.h_bytes, 16u);
  EXPECT_EQ(folded.messages, 6u);
  EXPECT_EQ(folded.total_ns, 150u);  // Another node's clock says nothing.
}

TEST(SuperstepStatsTest, ProgressReplacesTheTotalsAndFillsHistogramsWithTheDifference) {
  SuperstepStats stats;
  ProgressBody progress{};
  progress.supersteps = 10;
  progress.total_ns = 100'000;
  progress.w_ns = 50'000;
  progress.h_bytes = 640;
  progress.wait_ns = 1000;
  stats.RecordProgress(progress);
  progress.supersteps = 12;
  progress.total_ns = 140'000;
  progress.wait_ns = 1500;
  stats.RecordProgress(progress);
  progress.supersteps = 5;  // Late, over a connection that is gone.
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().supersteps(), 12u);
  const Histogram::Snapshot time = stats.recorders().of_job->Look();
  EXPECT_EQ(time.sum, 140'000u);
  EXPECT_EQ(std::accumulate(time.counts.begin(), time.counts.end(), std::uint64_t{0}), 12u);
  EXPECT_EQ(stats.recorders().of_all->waiting_ns.Look().sum, 1500u);  // On one node, too.
}

TEST(SuperstepStatsTest, OfAnAdoptedEpochOnlyWhatComesAfterTheFirstReportIsCounted) {
  SuperstepStats stats({.totals = {}, .repeats = 0, .adopted = true});
  ProgressBody progress{};
  progress.supersteps = 1000;  // Since the epoch began, under an earlier coordinator.
  progress.total_ns = 100'000;
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.counted_from().supersteps(), 1000u);
  EXPECT_EQ(stats.recorders().of_job->Look().sum, 0u);
  progress.supersteps = 1003;
  progress.total_ns = 100'300;
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().supersteps() - stats.counted_from().supersteps(), 3u);
  EXPECT_EQ(stats.recorders().of_job->Look().sum, 300u);
}

TEST(SuperstepStatsTest, GoesOnFromWhereACheckpointWas) {
  proto::JobTotals before;
  before.set_supersteps(100);
  before.set_total_ns(5000);
  before.set_l_ns(7);
  before.set_silent(1);
  SuperstepStats stats({.totals = before, .repeats = 1});
  EXPECT_EQ(stats.totals().supersteps(), 100u);
  ProgressBody progress{};
  progress.supersteps = 1;  // The one that repeats registrations.
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().supersteps(), 100u);
  progress.supersteps = 4;
  progress.total_ns = 300;
  stats.RecordProgress(progress);
  EXPECT_EQ(stats.totals().supersteps(), 103u);
  EXPECT_EQ(stats.totals().total_ns(), 5300u);
  EXPECT_EQ(stats.totals().l_ns(), 7u);
  SuperstepSums sums{};
  sums.total_ns = 100;
  sums.wait_ns = 13;
  stats.Record(sums);
  EXPECT_EQ(stats.totals().supersteps(), 104u);
  EXPECT_EQ(stats.totals().l_ns(), 10u);  // One of 7, one of 13.
}

}  // namespace
}  // namespace bspnow::coordinator
