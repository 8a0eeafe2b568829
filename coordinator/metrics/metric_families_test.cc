#include "coordinator/metrics/metric_families.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

/// Of a job that runs, under a name that is not text.
class MetricFamiliesTest : public ClusterFixture {
 protected:
  void SetUp() override {
    ClusterFixture::SetUp();
    host_ = Join("w1", 2);
    proto::SubmitJobRequest request = Request("key");
    request.mutable_spec()->set_name("a \"name\"\xff");
    job_ = Submit(request);
    ReportBegun(host_, job_, Epoch{1}, {0, 1});
    Settle();
    ReportProgress(host_, job_, Epoch{1}, 5);
    MetricList list;
    AddMetrics(cluster_->Figures(), list);
    families_ = list.Take();
  }
  const prometheus::MetricFamily* Find(const std::string& name) const {
    for (const auto& family : families_)
      if (family.name == name) return &family;
    return nullptr;
  }

  FakeWorker host_;
  JobId job_{};
  std::vector<prometheus::MetricFamily> families_;
};

TEST_F(MetricFamiliesTest, HistogramsAreCumulativeInBaseUnits) {
  const auto* const family = Find("bspnow_job_superstep_seconds");
  ASSERT_NE(family, nullptr);
  ASSERT_EQ(family->metric.size(), 1u);
  const auto& histogram = family->metric[0].histogram;
  EXPECT_EQ(histogram.sample_count, 5u);
  EXPECT_EQ(histogram.bucket[0].upper_bound, 1e-6);
  EXPECT_EQ(histogram.bucket[1].upper_bound, 2e-6);
  EXPECT_EQ(histogram.bucket[2].upper_bound, 4e-6);
  EXPECT_EQ(histogram.bucket[0].cumulative_count, 5u);
  EXPECT_EQ(histogram.bucket.back().cumulative_count, 5u);
}

TEST_F(MetricFamiliesTest, AJobHasANameAndIsFoundByItsNumber) {
  const auto* const info = Find("bspnow_job_info");
  ASSERT_NE(info, nullptr);
  ASSERT_EQ(info->metric.size(), 1u);
  const auto& labels = info->metric[0].label;
  EXPECT_EQ(labels[0].name, "bsp_job");
  EXPECT_EQ(labels[0].value, "1");
  EXPECT_EQ(labels[1].value, "a \"name\"\xef\xbf\xbd");
  EXPECT_EQ(Find("bspnow_job_supersteps_total")->metric[0].counter.value, 5);
}

TEST_F(MetricFamiliesTest, GroupsHaveFamiliesOfTheirOwn) {
  EXPECT_EQ(Find("bspnow_job_group_supersteps_total")->metric[0].counter.value, 10);
  EXPECT_EQ(Find("bspnow_job_group_bytes_total")->metric.size(), 2u);
  EXPECT_EQ(Find("bspnow_job_group_messages_total")->metric.size(), 2u);
  EXPECT_EQ(Find("bspnow_job_group_seconds_total")->metric.size(), 1u);
}

TEST_F(MetricFamiliesTest, AJobHasFewSeries) {
  std::size_t series = 0;
  for (const auto& family : families_)
    for (const auto& metric : family.metric)
      if (!metric.label.empty() && metric.label[0].name == "bsp_job")
        series += family.type == prometheus::MetricType::Histogram
                      ? metric.histogram.bucket.size() + 3  // Infinity, sum and count.
                      : 1;
  constexpr std::size_t kLists = 2;  // Of processes that are waited for, and stragglers.
  EXPECT_LE(series + kLists * kNamedMax, static_cast<std::size_t>(kSeriesOfJobMax));
  EXPECT_GT(series, 40u);
}

TEST_F(MetricFamiliesTest, NamesFollowTheConventions) {
  std::set<std::string> names;
  for (const auto& family : families_) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name << " begins twice";
    const bool total = family.name.ends_with("_total");
    EXPECT_EQ(total, family.type == prometheus::MetricType::Counter) << family.name;
    EXPECT_TRUE(family.name.starts_with("bspnow_")) << family.name;
    EXPECT_FALSE(family.help.empty()) << family.name;
    for (const auto& metric : family.metric)
      for (const auto& label : metric.label) {  // Prometheus' own.
        EXPECT_NE(label.name, "job") << family.name;
        EXPECT_NE(label.name, "instance") << family.name;
      }
  }
}

}  // namespace
}  // namespace bspnow::coordinator
