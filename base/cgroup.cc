#include "base/cgroup.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace bspnow {
namespace {

namespace fs = std::filesystem;

// What v1 shows for "no limit" is the largest number of pages.
constexpr std::uint64_t kUnlimitedBytes = std::uint64_t{1} << 60;

std::string ReadText(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> LinesOf(const std::string& text) { return absl::StrSplit(text, '\n'); }

// Of a list like "cpu,cpuacct"; an empty one is v2's.
bool Names(const std::string& list, const std::string& controller) {
  const std::vector<std::string> names = absl::StrSplit(list, ',');
  return std::find(names.begin(), names.end(), controller) != names.end();
}

// 0: there is none, or something else.
std::uint64_t NumberIn(const fs::path& file) {
  std::string word;
  std::uint64_t number;
  return std::ifstream(file) >> word && absl::SimpleAtoi(word, &number) ? number : 0;
}

template <typename Look>
void ForGroupAndAbove(const std::string& group, Look look) {
  if (group.empty()) return;
  for (fs::path path = fs::path(group).lexically_normal();; path = path.parent_path()) {
    look(path);
    if (!path.has_relative_path()) return;
  }
}

}  // namespace

std::string CgroupOf(const std::string& cgroup, const std::string& mountinfo,
                     const std::string& controller) {
  std::string group;
  for (const std::string& line : LinesOf(cgroup)) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() == 3 && Names(parts[1], controller)) group = parts[2];
  }
  for (const std::string& line : LinesOf(mountinfo)) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() < 8) continue;
    const std::string& type = words[words.size() - 3];
    if (controller.empty() ? type != "cgroup2"
                           : type != "cgroup" || !Names(words.back(), controller))
      continue;
    const std::string root = words[3] == "/" ? "" : words[3];
    if (group == words[3] || absl::StartsWith(group, root + "/"))
      return words[4] + group.substr(root.size());
  }
  return {};
}

std::string OwnCgroup(const std::string& controller) {
  return CgroupOf(ReadText("/proc/self/cgroup"), ReadText("/proc/self/mountinfo"), controller);
}

// memory.max says "max" where there is no limit, v1 an enormous number, and the topmost has none.
MemoryLimit CgroupMemoryLimit(const std::string& group) {
  MemoryLimit least;
  ForGroupAndAbove(group, [&least](const fs::path& path) {
    for (const char* const name : {"memory.max", "memory.limit_in_bytes"}) {
      const std::uint64_t limit = NumberIn(path / name);
      if (limit != 0 && limit < kUnlimitedBytes && limit < least.bytes)
        least = {.group = path.string(), .bytes = limit};
    }
  });
  return least;
}

std::uint32_t CgroupProcessors(const std::string& group) {
  std::uint64_t least = 0;
  ForGroupAndAbove(group, [&least](const fs::path& path) {
    std::uint64_t quota = NumberIn(path / "cpu.cfs_quota_us");
    std::uint64_t period = NumberIn(path / "cpu.cfs_period_us");
    std::string word;
    std::ifstream both(path / "cpu.max");
    if (both >> word >> period && !absl::SimpleAtoi(word, &quota)) quota = 0;
    if (quota == 0 || period == 0) return;
    const std::uint64_t processors = (quota + period - 1) / period;
    least = least == 0 ? processors : std::min(least, processors);
  });
  return static_cast<std::uint32_t>(least);
}

MemoryLimit OwnMemoryLimit() {
  MemoryLimit version_two = CgroupMemoryLimit(OwnCgroup(""));
  MemoryLimit version_one = CgroupMemoryLimit(OwnCgroup("memory"));
  return version_two.bytes <= version_one.bytes ? version_two : version_one;
}

bool MachineHasSwap() {
  struct sysinfo machine;
  return sysinfo(&machine) != 0 || machine.totalswap != 0;
}

std::uint64_t MemoryBytes() {
  const std::uint64_t machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(machine, OwnMemoryLimit().bytes);
}

}  // namespace bspnow
