#include "worker/passed_directory.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace bspnow::worker {
namespace {

constexpr mode_t kMode = S_IRWXU | S_IXGRP | S_IXOTH;

}  // namespace

// Looked for first: a disk that takes nothing holds up whoever makes a directory on it, even one
// that is there.
void MakePassedDirectory(const std::string& path) {
  const std::filesystem::path directory = path;
  if (access(path.c_str(), F_OK) == 0) return;
  for (const std::filesystem::path& missing : {directory.parent_path(), directory}) {
    if (mkdir(missing.c_str(), kMode) != 0) continue;
    chmod(missing.c_str(), kMode);  // Whatever the umask.
    spdlog::warn("event=directory_made_anew path={}", missing.string());
  }
}

}  // namespace bspnow::worker
