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
  return version_one ? times : NumberNamed(group + "/memory.events", "oom").value_or(0);
}

std::uint64_t NumberIn(const std::string& file) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? number : 0;
}

// The most that it has had, of v1 since this was asked last; what files take of the caches is in
// it, too. 0: that is not known.
std::uint64_t TakePeak(const std::string& group) {
  const std::string most = group + "/memory.max_usage_in_bytes";
  const std::uint64_t bytes = NumberIn(most);
  if (bytes == 0) return NumberIn(group + "/memory.peak");
  return Write(most, "0") ? bytes : 0;
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
    swaps_ = !Write(path(trees.memory, "memory.swap.max"), "0") &&
             !Write(path(trees.memory, "memory.memsw.limit_in_bytes"), bytes) && MachineHasSwap();
    memory_path_ = absl::StrCat(trees.memory, "/", name);
    memory_bytes_ = limits.memory_bytes;
    kills_ = MemoryKills(MemoryKillFilesOf(memory_path_));
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

MemoryKill JobCgroup::TakeMemoryKill() {
  if (!kills_.Take()) return MemoryKill::kNone;
  return WasFull() ? MemoryKill::kAtOwnLimit : MemoryKill::kElsewhere;
}

// Of v1 the peak counts, too: other counters stand still in some kernels. That of v2 is of all the
// time.
bool JobCgroup::WasFull() {
  const std::uint64_t full = TimesFull(memory_path_);
  const std::uint64_t peak_bytes = TakePeak(memory_path_);
  peak_bytes_ = std::max(peak_bytes_, peak_bytes);
  const std::uint64_t limit_bytes = NumberIn(memory_path_ + "/memory.limit_in_bytes");
  return full > std::exchange(full_, full) || (limit_bytes != 0 && peak_bytes >= limit_bytes);
}

void JobCgroup::OnLook(std::uint64_t now_ns) {
  if (kills_.OnLook(now_ns)) WasFull();
}

bool JobCgroup::End() {
  for (const std::string& path : paths_) KillGroups(path);
  bool removed = true;
  for (const std::string& path : paths_) removed = RemoveGroups(path) && removed;
  return removed;
}

}  // namespace bspnow::worker
