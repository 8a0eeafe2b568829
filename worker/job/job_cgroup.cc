#include "worker/job/job_cgroup.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "base/cgroup.h"
#include "base/directory_listing.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kDaemonsGroup[] = "bspnow-worker";
// Of a process or group that says nothing, in v1 and v2; and the most of v2.
constexpr std::uint64_t kShares = 1024;
constexpr std::uint64_t kWeight = 100;
constexpr std::uint64_t kWeightMax = 10'000;
// The end of a process that the kernel has killed is known long before.
constexpr std::uint64_t kKillCountsNs = 60'000'000'000;

bool Write(const std::string& path, const std::string& text) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() &&
         write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool HasWord(const std::string& path, const std::string& word) {
  std::ifstream file(path);
  for (std::string each; file >> each;) {
    if (each == word) return true;
  }
  return false;
}

std::set<std::string> AllOf(const CgroupTrees& trees) {
  std::set<std::string> all = {trees.any, trees.memory, trees.pids, trees.cpu};
  all.erase("");
  return all;
}

std::vector<std::string> GroupsIn(const std::string& path) {
  std::vector<std::string> groups;
  std::error_code error;
  for (const std::string& name : ListDirectory(path).names)
    if (std::string group = absl::StrCat(path, "/", name); fs::is_directory(group, error))
      groups.push_back(std::move(group));
  return groups;
}

/// Groups that the job has made itself go first.
bool RemoveGroups(const std::string& path) {
  for (const std::string& group : GroupsIn(path)) RemoveGroups(group);
  std::error_code error;
  return rmdir(path.c_str()) == 0 || !fs::exists(path, error);
}

void KillGroups(const std::string& path) {
  Write(path + "/pids.max", "0");  // So that none is started meanwhile.
  if (Write(path + "/cgroup.kill", "1")) return;
  for (const std::string& group : GroupsIn(path)) KillGroups(group);
  std::ifstream members(path + "/cgroup.procs");
  for (pid_t member; members >> member;) kill(member, SIGKILL);
}

// "NAME N" stands in v1's memory.oom_control and in v2's memory.events.
std::uint64_t MemoryEvents(const std::string& group, const std::string& event) {
  for (const char* const name : {"/memory.events", "/memory.oom_control"}) {
    std::ifstream file(group + name);
    std::string word;
    for (std::uint64_t count; file >> word >> count;) {
      if (word == event) return count;
    }
  }
  return 0;
}

// Of the group, whoever ran out of memory: the machine, a group above, or this one.
std::uint64_t KillsForMemory(const std::string& group) { return MemoryEvents(group, "oom_kill"); }

// How often this group has found no room below its own limit. v1 counts, too, when some was made;
// where it counts swap, that is charged first, and its counter grows alone.
std::uint64_t TimesFull(const std::string& group) {
  std::uint64_t times = 0;
  bool version_one = false;
  for (const char* const name : {"/memory.failcnt", "/memory.memsw.failcnt"}) {
    std::uint64_t count = 0;
    if (!(std::ifstream(group + name) >> count)) continue;
    times += count;
    version_one = true;
  }
  return version_one ? times : MemoryEvents(group, "oom");
}

// Whether it has had all that it may have since this was asked last. Of v1, whose counters stand
// still in some kernels; what files take of the caches is in it, too.
bool WasAtItsLimit(const std::string& group) {
  const std::string most = group + "/memory.max_usage_in_bytes";
  std::uint64_t most_bytes = 0;
  std::uint64_t limit_bytes = 0;
  return std::ifstream(most) >> most_bytes &&
         std::ifstream(group + "/memory.limit_in_bytes") >> limit_bytes && Write(most, "0") &&
         most_bytes >= limit_bytes;
}

bool MayBeMadeIn(const std::string& group) {
  return !group.empty() && access(group.c_str(), W_OK) == 0;
}

// Its own controllers, if it can be given any.
void PrepareVersionTwo(const std::string& own, CgroupTrees& trees) {
  const std::pair<const char*, std::string*> wanted[] = {
      {"memory", &trees.memory}, {"pids", &trees.pids}, {"cpu", &trees.cpu}};
  const std::string file = own + "/cgroup.controllers";
  if (std::none_of(std::begin(wanted), std::end(wanted),
                   [&file](const auto& each) { return HasWord(file, each.first); }))
    return;
  const std::string ours = absl::StrCat(own, "/", kDaemonsGroup);
  const std::string self = absl::StrCat(getpid());
  mkdir(ours.c_str(), 0755);
  bool any = false;
  if (Write(ours + "/cgroup.procs", self)) {
    for (const auto& [name, tree] : wanted) {
      if (!Write(own + "/cgroup.subtree_control", absl::StrCat("+", name))) continue;
      *tree = own;
      any = true;
    }
  }
  // It moves the data of all jobs.
  if (any) {
    Write(ours + "/cpu.weight", absl::StrCat(kWeightMax));
    return;
  }
  Write(own + "/cgroup.procs", self);
  rmdir(ours.c_str());
}

}  // namespace

std::string CgroupTrees::Limits() const {
  std::vector<std::string> limits;
  if (!memory.empty()) limits.push_back("memory");
  if (!pids.empty()) limits.push_back("processes");
  if (!cpu.empty()) limits.push_back("processors");
  return limits.empty() ? "none" : absl::StrJoin(limits, ", ");
}

CgroupTrees PrepareCgroups() {
  CgroupTrees trees;
  const std::string own = OwnCgroup("");
  if (MayBeMadeIn(own)) {
    trees.any = own;
    PrepareVersionTwo(own, trees);
  }
  const std::pair<const char*, std::string*> wanted[] = {
      {"memory", &trees.memory}, {"pids", &trees.pids}, {"cpu", &trees.cpu}};
  for (const auto& [name, tree] : wanted) {
    const std::string group = OwnCgroup(name);
    if (tree->empty() && MayBeMadeIn(group)) *tree = group;
  }
  return trees;
}

std::optional<JobCgroup> JobCgroup::Make(const CgroupTrees& trees, const std::string& name,
                                         const JobLimits& limits) {
  JobCgroup group({});
  for (const std::string& tree : AllOf(trees)) {
    const std::string path = absl::StrCat(tree, "/", name);
    if (mkdir(path.c_str(), 0755) != 0) continue;
    UniqueFd entry(open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!entry.valid()) {
      rmdir(path.c_str());
      continue;
    }
    group.paths_.push_back(path);
    group.entries_.push_back(std::move(entry));
  }
  if (group.paths_.empty()) return std::nullopt;
  group.Limit(trees, name, limits);
  return group;
}

void JobCgroup::Limit(const CgroupTrees& trees, const std::string& name, const JobLimits& limits) {
  const auto path = [&name](const std::string& tree, const char* file) {
    return absl::StrCat(tree, "/", name, "/", file);
  };
  const std::string bytes = absl::StrCat(limits.memory_bytes);
  if (!trees.memory.empty() && (Write(path(trees.memory, "memory.max"), bytes) ||
                                Write(path(trees.memory, "memory.limit_in_bytes"), bytes))) {
    // Swap would be memory without a limit; many kernels do not count it.
    if (!Write(path(trees.memory, "memory.swap.max"), "0"))
      Write(path(trees.memory, "memory.memsw.limit_in_bytes"), bytes);
    memory_path_ = absl::StrCat(trees.memory, "/", name);
    memory_bytes_ = limits.memory_bytes;
  }
  if (!trees.pids.empty()) Write(path(trees.pids, "pids.max"), absl::StrCat(limits.tasks));
  if (trees.cpu.empty()) return;
  const std::uint64_t weight = std::min(kWeight * limits.processes, kWeightMax);
  if (!Write(path(trees.cpu, "cpu.weight"), absl::StrCat(weight)))
    Write(path(trees.cpu, "cpu.shares"), absl::StrCat(kShares * limits.processes));
}

std::vector<JobCgroup> JobCgroup::Left(const CgroupTrees& trees, const std::string& prefix) {
  std::vector<JobCgroup> left;
  for (const std::string& tree : AllOf(trees)) {
    for (const std::string& name : ListDirectory(tree).names)
      if (absl::StartsWith(name, prefix))
        left.push_back(JobCgroup({absl::StrCat(tree, "/", name)}));
  }
  return left;
}

std::vector<int> JobCgroup::entries() const {
  std::vector<int> entries;
  for (const UniqueFd& entry : entries_) entries.push_back(entry.get());
  return entries;
}

std::vector<pid_t> JobCgroup::Members() const {
  std::vector<pid_t> members;
  if (paths_.empty()) return members;
  std::ifstream file(paths_.front() + "/cgroup.procs");
  for (pid_t member; file >> member;) members.push_back(member);
  return members;
}

bool JobCgroup::RanOutOfMemory() {
  if (memory_path_.empty()) return false;
  const std::uint64_t kills = KillsForMemory(memory_path_);
  if (kills == std::exchange(kills_, kills)) return false;
  return WasFull();
}

bool JobCgroup::WasFull() {
  const std::uint64_t full = TimesFull(memory_path_);
  const bool was_at_its_limit = WasAtItsLimit(memory_path_);
  return full > std::exchange(full_, full) || was_at_its_limit;
}

void JobCgroup::OnLook(std::uint64_t now_ns) {
  if (memory_path_.empty()) return;
  const std::uint64_t kills = KillsForMemory(memory_path_);
  if (kills != std::exchange(seen_kills_, kills)) seen_ns_ = now_ns;
  if (kills == kills_ || now_ns - seen_ns_ < kKillCountsNs) return;
  kills_ = kills;
  WasFull();
}

bool JobCgroup::End() {
  for (const std::string& path : paths_) KillGroups(path);
  bool removed = true;
  for (const std::string& path : paths_) removed = RemoveGroups(path) && removed;
  return removed;
}

}  // namespace bspnow::worker
