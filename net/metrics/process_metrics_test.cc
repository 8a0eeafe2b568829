#include "net/metrics/process_metrics.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
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

/// As within ProtectProc= and ProcSubset= of systemd. False: this machine does not let us.
bool HideProcStat() {
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
         mount("/dev/null", "/proc/stat", nullptr, MS_BIND, nullptr) == 0;
}

TEST(ProcessMetricsTest, TheStartIsKnownWithoutProcStat) {
  const pid_t child = fork();
  if (child == 0) {
    if (!HideProcStat()) _exit(2);
    const double now = static_cast<double>(UnixMs()) / 1e3;
    _exit(Values()["process_start_time_seconds"] > now - 3600 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "/proc/stat cannot be hidden here";
  EXPECT_EQ(status, 0);
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
