#include "coordinator/metrics/metric_families.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "coordinator/core/superstep_stats.h"

namespace bspnow::coordinator {
namespace {

const prometheus::MetricFamily* Find(const std::vector<prometheus::MetricFamily>& families,
                                     const std::string& name) {
  for (const auto& family : families)
    if (family.name == name) return &family;
  return nullptr;
}

ClusterFigures WithOneJob() {
  auto stats = std::make_shared<SuperstepStats>();
  stats->Record({.superstep = 0,
                 .compute_ns = 900,
                 .wait_ns = 0,
                 .exchange_ns = 0,
                 .w_ns = 900,
                 .total_ns = 5000,
                 .h_bytes = 100,
                 .messages = 3});
  ClusterFigures figures;
  figures.running[JobId{7}] = stats;
  return figures;
}

TEST(MetricFamiliesTest, HistogramsAreCumulativeInBaseUnits) {
  const auto families = MetricFamilies(WithOneJob());
  const auto* family = Find(families, "bspnow_superstep_seconds");
  ASSERT_NE(family, nullptr);
  ASSERT_EQ(family->metric.size(), 1u);
  EXPECT_EQ(family->metric[0].label[0].name, "bsp_job");
  EXPECT_EQ(family->metric[0].label[0].value, "7");
  const auto& histogram = family->metric[0].histogram;
  EXPECT_EQ(histogram.sample_count, 1u);
  EXPECT_DOUBLE_EQ(histogram.sample_sum, 5e-6);
  EXPECT_EQ(histogram.bucket[0].upper_bound, 1e-6);
  EXPECT_EQ(histogram.bucket[0].cumulative_count, 0u);
  EXPECT_EQ(histogram.bucket[1].upper_bound, 4e-6);
  EXPECT_EQ(histogram.bucket[1].cumulative_count, 0u);
  EXPECT_EQ(histogram.bucket[2].cumulative_count, 1u);
  EXPECT_EQ(histogram.bucket.back().cumulative_count, 1u);
}

TEST(MetricFamiliesTest, ShowsCheckpointsAndRecoveries) {
  ClusterFigures figures;
  figures.checkpoints.ended["committed"] = 3;
  figures.checkpoints.recoveries["worker"] = 2;
  figures.checkpoints.pause_ns->Record(20'000'000, 3);
  const auto families = MetricFamilies(figures);
  const auto* ended = Find(families, "bspnow_checkpoints_total");
  ASSERT_NE(ended, nullptr);
  ASSERT_EQ(ended->metric.size(), 2u);
  EXPECT_EQ(ended->metric[0].label[0].value, "committed");
  EXPECT_EQ(ended->metric[0].counter.value, 3);
  EXPECT_EQ(ended->metric[1].label[0].value, "given_up");
  const auto* recoveries = Find(families, "bspnow_recoveries_total");
  ASSERT_NE(recoveries, nullptr);
  EXPECT_EQ(recoveries->metric.back().label[0].value, "worker");
  EXPECT_EQ(recoveries->metric.back().counter.value, 2);
  const auto* pause = Find(families, "bspnow_checkpoint_pause_seconds");
  ASSERT_NE(pause, nullptr);
  EXPECT_EQ(pause->metric[0].histogram.sample_count, 3u);
  EXPECT_DOUBLE_EQ(pause->metric[0].histogram.sample_sum, 0.06);
}

TEST(MetricFamiliesTest, ShowsCallsThatWereRefused) {
  ClusterFigures figures;
  figures.calls_refused = 3;
  const auto families = MetricFamilies(figures);
  const auto* refused = Find(families, "bspnow_calls_refused_total");
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->metric[0].counter.value, 3);
}

TEST(MetricFamiliesTest, SeriesOfAnEndedJobAreGone) {
  EXPECT_EQ(Find(MetricFamilies({}), "bspnow_superstep_seconds"), nullptr);
  EXPECT_EQ(Find(MetricFamilies({}), "bspnow_superstep"), nullptr);
}

TEST(MetricFamiliesTest, CountersEndInTotalAndOthersDoNot) {
  const auto families = MetricFamilies(WithOneJob());
  for (const auto& family : families) {
    const bool total = family.name.ends_with("_total");
    EXPECT_EQ(total, family.type == prometheus::MetricType::Counter) << family.name;
    EXPECT_TRUE(family.name.starts_with("bspnow_")) << family.name;
    EXPECT_FALSE(family.help.empty()) << family.name;
  }
}

TEST(MetricFamiliesTest, NoLabelIsPrometheusOwn) {
  for (const auto& family : MetricFamilies(WithOneJob()))
    for (const auto& metric : family.metric)
      for (const auto& label : metric.label) {
        EXPECT_NE(label.name, "job") << family.name;
        EXPECT_NE(label.name, "instance") << family.name;
      }
}

}  // namespace
}  // namespace bspnow::coordinator
