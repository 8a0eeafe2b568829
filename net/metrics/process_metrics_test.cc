#include "net/metrics/process_metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace bspnow {
namespace {

std::map<std::string, double> Values() {
  MetricList list;
  AddProcessMetrics({{"state", "/"}, {"images", "/does/not/exist"}}, list);
  std::map<std::string, double> values;
  for (const auto& family : list.Take())
    for (const auto& metric : family.metric)
      values[family.name] += metric.gauge.value + metric.counter.value;
  return values;
}

TEST(ProcessMetricsTest, TheyAreThisProcess) {
  std::map<std::string, double> before = Values();
  EXPECT_GT(before["process_resident_memory_bytes"], 100'000);
  EXPECT_GT(before["process_virtual_memory_bytes"], before["process_resident_memory_bytes"]);
  const double now = static_cast<double>(UnixMs()) / 1000;
  EXPECT_LT(before["process_start_time_seconds"], now + 2);
  EXPECT_GT(before["process_start_time_seconds"], now - 3600);
  const UniqueFd more(dup(0));
  std::map<std::string, double> after = Values();
  EXPECT_EQ(after["process_open_fds"], before["process_open_fds"] + 1);
  EXPECT_GE(after["process_cpu_seconds_total"], before["process_cpu_seconds_total"]);
  EXPECT_EQ(after["process_start_time_seconds"], before["process_start_time_seconds"]);
}

TEST(ProcessMetricsTest, OnlyDisksThatCanBeLookedAtAreShown) {
  std::map<std::string, double> values = Values();
  EXPECT_GT(values["bspnow_disk_size_bytes"], 0);
  EXPECT_LE(values["bspnow_disk_free_bytes"], values["bspnow_disk_size_bytes"]);
  EXPECT_EQ(values["bspnow_build_info"], 1);
}

}  // namespace
}  // namespace bspnow
