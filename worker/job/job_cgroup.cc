#include "worker/job/job_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

/// Groups that the job has made itself go first.
bool RemoveGroups(const std::string& path) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.is_directory(error)) RemoveGroups(entry.path().string());
  }
  return rmdir(path.c_str()) == 0 || !fs::exists(path, error);
}

}  // namespace

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
