#include "net/metrics/process_metrics.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <absl/strings/str_split.h>
#include "base/clock.h"
#include "base/version.h"

namespace bspnow {
namespace {

/// /proc/self/stat from its third field on: the second, the name, may hold anything.
struct OwnStat {
  double starttime_ticks = 0;
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

OwnStat ReadOwnStat() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  const std::vector<std::string> fields =
      absl::StrSplit(text.substr(name_end + 2), ' ');  // proc(5): this is field 3.
  constexpr std::size_t kStarttime = 22 - 3, kVsize = 23 - 3, kRss = 24 - 3;
  if (fields.size() <= kRss) return {};
  return {.starttime_ticks = std::strtod(fields[kStarttime].c_str(), nullptr),
          .virtual_bytes = std::strtod(fields[kVsize].c_str(), nullptr),
          .resident_bytes = std::strtod(fields[kRss].c_str(), nullptr) *
                            static_cast<double>(sysconf(_SC_PAGESIZE))};
}

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// In Unix time, and once for all: who compares two of them asks whether it was started anew. Not
/// by btime of /proc/stat, which systemd hides from the coordinator (ProcSubset=pid).
double StartTime(const OwnStat& stat) {
  static const double booted =
      static_cast<double>(UnixMs() - static_cast<std::int64_t>(SinceBootMs())) / 1e3;
  return booted + stat.starttime_ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double OpenDescriptors() {
  std::error_code failed;
  double count = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", failed), end;
       !failed && entry != end; entry.increment(failed))
    count += 1;
  return count;
}

void AddProcess(MetricList& list) {
  const OwnStat stat = ReadOwnStat();
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  rlimit descriptors;
  getrlimit(RLIMIT_NOFILE, &descriptors);
  const auto gauge = [&list](const char* name, const char* help, double value) {
    list.Gauge(name, help);
    list.Add({}, value);
  };
  list.Counter("process_cpu_seconds_total", "Processor time, of user and system.");
  list.Add({}, SecondsOf(used.ru_utime) + SecondsOf(used.ru_stime));
  gauge("process_start_time_seconds", "When the process started, in Unix time.", StartTime(stat));
  gauge("process_resident_memory_bytes", "Memory in use.", stat.resident_bytes);
  gauge("process_virtual_memory_bytes", "Address space in use.", stat.virtual_bytes);
  gauge("process_open_fds", "Open descriptors.", OpenDescriptors());
  gauge("process_max_fds", "Descriptors that may be open.",
        static_cast<double>(descriptors.rlim_cur));
}

}  // namespace

void AddProcessMetrics(const std::vector<WatchedDirectory>& directories, MetricList& list) {
  list.Gauge("bspnow_build_info", "The version that runs.");
  list.Add({{"version", kVersion}}, 1);
  std::vector<std::pair<const char*, struct statvfs>> disks;
  for (const WatchedDirectory& directory : directories) {
    struct statvfs disk;
    if (statvfs(directory.path.c_str(), &disk) == 0) disks.emplace_back(directory.use, disk);
  }
  const auto bytes = [](const struct statvfs& disk, fsblkcnt_t blocks) {
    return static_cast<double>(blocks) * static_cast<double>(disk.f_frsize);
  };
  list.Gauge("bspnow_disk_free_bytes",
             "Room for the daemon on the disk of a directory of its own.");
  for (const auto& [use, disk] : disks) list.Add({{"directory", use}}, bytes(disk, disk.f_bavail));
  list.Gauge("bspnow_disk_size_bytes", "Of that disk.");
  for (const auto& [use, disk] : disks) list.Add({{"directory", use}}, bytes(disk, disk.f_blocks));
  AddProcess(list);
}

}  // namespace bspnow
