#include "worker/job/job_cgroup.h"

#include <absl/strings/match.h>
#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

std::string ReadText(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> LinesOf(const std::string& text) { return absl::StrSplit(text, '\n'); }

/// Groups that the job has made itself go first.
bool RemoveGroups(const std::string& path) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.is_directory(error)) RemoveGroups(entry.path().string());
  }
  return rmdir(path.c_str()) == 0 || !fs::exists(path, error);
}

}  // namespace

std::string CgroupOf(const std::string& cgroup, const std::string& mountinfo) {
  std::string group;
  for (const std::string& line : LinesOf(cgroup)) {
    if (absl::StartsWith(line, "0::/")) group = line.substr(3);
  }
  for (const std::string& line : LinesOf(mountinfo)) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() < 5 || line.find(" - cgroup2 ") == std::string::npos) continue;
    const std::string root = words[3] == "/" ? "" : words[3];
    if (absl::StartsWith(group, root + "/")) return words[4] + group.substr(root.size());
  }
  return {};
}

std::string OwnCgroup() {
  return CgroupOf(ReadText("/proc/self/cgroup"), ReadText("/proc/self/mountinfo"));
}

std::optional<JobCgroup> JobCgroup::Make(const std::string& parent, const std::string& name) {
  const std::string path = parent + "/" + name;
  if (parent.empty() || mkdir(path.c_str(), 0755) != 0) return std::nullopt;
  UniqueFd entry(open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (entry.valid() && access((path + "/cgroup.kill").c_str(), W_OK) == 0) {
    return JobCgroup(path, std::move(entry));
  }
  rmdir(path.c_str());
  return std::nullopt;
}

bool EndCgroup(const std::string& path) {
  std::ofstream(path + "/cgroup.kill") << "1";
  return RemoveGroups(path);
}

}  // namespace bspnow::worker
