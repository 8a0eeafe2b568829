#include "worker/job/memory_kills.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/cgroup.h"

namespace bspnow::worker {
namespace {

constexpr char kName[] = "oom_kill";
// The end of a process that the kernel has killed is known long before.
constexpr std::uint64_t kKillCountsNs = 60'000'000'000;

}  // namespace

std::optional<std::uint64_t> NumberNamed(const std::string& file, const std::string& name) {
  std::ifstream lines(file);
  std::string word;
  for (std::uint64_t number; lines >> word >> number;)
    if (word == name) return number;
  return std::nullopt;
}

std::vector<std::string> MemoryKillFilesOf(const std::string& group) {
  return {group + "/memory.events", group + "/memory.oom_control"};
}

std::vector<std::string> MemoryKillFilesOfWorker() {
  std::vector<std::string> files;
  for (const char* const controller : {"memory", ""}) {
    const std::string own = OwnCgroup(controller);
    if (own.empty()) continue;
    for (std::string& file : MemoryKillFilesOf(own)) files.push_back(std::move(file));
  }
  files.emplace_back("/proc/vmstat");
  return files;
}

MemoryKills::MemoryKills(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const auto count = NumberNamed(file, kName);
    if (!count) continue;
    file_ = file;
    known_ = seen_ = *count;
    return;
  }
}

// A file that is gone, as its group is, counts no others.
std::uint64_t MemoryKills::Count() const {
  return file_.empty() ? 0 : std::max(known_, NumberNamed(file_, kName).value_or(0));
}

bool MemoryKills::Take() {
  const std::uint64_t count = Count();
  return count != std::exchange(known_, count);
}

bool MemoryKills::OnLook(std::uint64_t now_ns) {
  const std::uint64_t count = Count();
  if (count != std::exchange(seen_, count)) seen_ns_ = now_ns;
  if (count == known_ || now_ns - seen_ns_ < kKillCountsNs) return false;
  known_ = count;
  return true;
}

}  // namespace bspnow::worker
