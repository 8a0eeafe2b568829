#include "coordinator/web/job_series.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace bspnow::coordinator {
namespace {

constexpr Epoch kFirst{1};

/// Each superstep: 3 ns computing, 1 ns waiting, 1 ns release, 2 bytes out.
proto::JobTotals After(std::uint64_t supersteps) {
  proto::JobTotals totals;
  totals.set_supersteps(supersteps);
  totals.set_compute_ns(3 * supersteps);
  totals.set_wait_ns(2 * supersteps);
  totals.set_release_ns(supersteps);
  totals.set_bytes_out(2 * supersteps);
  return totals;
}

void AddLoss(proto::Job& job, std::int64_t unix_ms, std::uint64_t from_superstep) {
  proto::JobLoss& loss = *job.add_losses();
  loss.set_unix_ms(unix_ms);
  loss.set_resumed(true);
  loss.set_from_superstep(from_superstep);
  loss.set_after_ms(500);
}

TEST(JobSeriesTest, StretchLastsUntilASuperstepIsOver) {
  JobSeries series;
  series.Add(1000, kFirst, After(10));
  series.Add(2000, kFirst, After(10));
  series.Add(3000, kFirst, After(12));
  series.Add(4000, kFirst, After(17));
  ASSERT_EQ(series.stretches().size(), 2u);
  EXPECT_EQ(series.stretches()[0].begin_unix_ms, 1000);
  EXPECT_EQ(series.stretches()[0].end_unix_ms, 3000);
  EXPECT_EQ(series.stretches()[0].supersteps, 2u);
  EXPECT_EQ(series.stretches()[1].compute_ns, 15u);
  EXPECT_EQ(series.stretches()[1].waiting_ns, 5u);
}

TEST(JobSeriesTest, EpochThatGoesBackCountsFromThere) {
  JobSeries series;
  series.Add(1000, kFirst, After(0));
  series.Add(2000, kFirst, After(50));
  series.AddCheckpoint(1, 1500, Superstep{40});
  series.AddCheckpoint(1, 1500, Superstep{40});
  series.Add(5000, Epoch{2}, After(40));
  series.Add(6000, Epoch{2}, After(45));
  proto::Job job;
  AddLoss(job, 4400, 40);
  series.AddRecoveries(job);
  ASSERT_EQ(series.stretches().size(), 2u);
  EXPECT_EQ(series.stretches()[1].begin_unix_ms, 5000);
  EXPECT_EQ(series.stretches()[1].supersteps, 5u);
  ASSERT_EQ(series.marks().size(), 2u);
  EXPECT_EQ(series.marks()[0].kind, SeriesMark::Kind::kCheckpoint);
  EXPECT_EQ(series.marks()[1].kind, SeriesMark::Kind::kRecovery);
  EXPECT_EQ(series.marks()[1].unix_ms, 4900);
  EXPECT_EQ(series.marks()[1].superstep, 40u);
}

// It was suspended, say, or its node was drained.
TEST(JobSeriesTest, AnotherEpochAloneIsNoRecovery) {
  JobSeries series;
  series.Add(1000, kFirst, After(10));
  series.Add(9000, Epoch{2}, After(10));
  series.AddRecoveries(proto::Job());
  EXPECT_TRUE(series.marks().empty());
}

TEST(JobSeriesTest, MarksEachRecoveryOnceAndALossOnceItIsOne) {
  JobSeries series;
  proto::Job job;
  AddLoss(job, 1000, 3);
  AddLoss(job, 2000, 5);
  job.mutable_losses(1)->set_resumed(false);
  series.AddRecoveries(job);
  ASSERT_EQ(series.marks().size(), 1u);
  job.mutable_losses(1)->set_resumed(true);
  series.AddRecoveries(job);
  series.AddRecoveries(job);
  ASSERT_EQ(series.marks().size(), 2u);
  EXPECT_EQ(series.marks()[1].unix_ms, 2500);
}

// Else they would seem to have taken no time.
TEST(JobSeriesTest, WhatWasNotMeasuredIsInNoStretch) {
  JobSeries series;
  series.Add(1000, kFirst, After(10));
  proto::JobTotals totals = After(12);
  totals.set_supersteps(1012);
  totals.set_unmeasured(1000);
  series.Add(2000, kFirst, totals);
  ASSERT_EQ(series.stretches().size(), 1u);
  EXPECT_EQ(series.stretches()[0].supersteps, 2u);
}

TEST(JobSeriesTest, KeepsItsSumsAndHasAnEnd) {
  JobSeries series;
  constexpr std::uint64_t kTimes = 100'000;
  for (std::uint64_t i = 0; i <= kTimes; ++i) {
    series.Add(static_cast<std::int64_t>(1 + i), kFirst, After(i));
    series.AddCheckpoint(i / 100, static_cast<std::int64_t>(1 + i), Superstep{i});
  }
  EXPECT_LT(series.stretches().size(), JobSeries::kStretchesMax);
  EXPECT_LT(series.marks().size(), JobSeries::kMarksMax);
  std::uint64_t supersteps = 0, bytes_out = 0;
  std::int64_t end_unix_ms = 1;
  for (const SeriesStretch& stretch : series.stretches()) {
    EXPECT_EQ(stretch.begin_unix_ms, end_unix_ms);
    end_unix_ms = stretch.end_unix_ms;
    supersteps += stretch.supersteps;
    bytes_out += stretch.bytes_out;
  }
  EXPECT_EQ(supersteps, kTimes);
  EXPECT_EQ(bytes_out, 2 * kTimes);
}

TEST(JobSeriesTest, ManyLossesDoNotGrowWithoutEnd) {
  JobSeries series;
  proto::Job job;
  for (std::int64_t i = 1; i < 1000; ++i) {
    AddLoss(job, i, 0);
    if (job.losses_size() > 10) job.mutable_losses()->DeleteSubrange(0, 1);
    series.AddRecoveries(job);
  }
  EXPECT_LT(series.marks().size(), JobSeries::kMarksMax);
  EXPECT_EQ(series.marks().back().unix_ms, 999 + 500);
}

TEST(JobSeriesTest, GivesWhatIsNew) {
  JobSeries series;
  JobSeries::Seen seen;
  EXPECT_EQ(series.Since(seen), R"({"from":0,"stretches":[],"marks":[]})");
  series.Add(1000, kFirst, After(0));
  EXPECT_EQ(series.Since(seen), "");
  series.Add(2000, kFirst, After(1));
  EXPECT_EQ(series.Since(seen),
            R"({"from":0,"stretches":[[1000,2000,1,3,1,1,0,0,0,2,0,0]],"marks":[]})");
  series.Add(3000, kFirst, After(2));
  series.AddCheckpoint(1, 2500, Superstep{2});
  EXPECT_EQ(series.Since(seen), R"({"from":1,"stretches":[[2000,3000,1,3,1,1,0,0,0,2,0,0]],)"
                                R"("marks":[["checkpoint",2500,2]]})");
  EXPECT_EQ(series.Since(seen), "");
}

TEST(JobSeriesTest, GivesAllAgainOnceNeighboursWereJoined) {
  JobSeries series;
  JobSeries::Seen seen;
  for (std::uint64_t i = 0; i < JobSeries::kStretchesMax; ++i)
    series.Add(static_cast<std::int64_t>(1 + i), kFirst, After(i));
  EXPECT_TRUE(series.Since(seen).starts_with(R"({"from":0,"stretches":[[1,2,)"));
  series.Add(JobSeries::kStretchesMax + 1, kFirst, After(JobSeries::kStretchesMax));
  EXPECT_TRUE(series.Since(seen).starts_with(R"({"from":0,"stretches":[[1,3,2,)"));
}

}  // namespace
}  // namespace bspnow::coordinator
