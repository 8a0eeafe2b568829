#include "coordinator/state_directory.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include "base/durable_file.h"

namespace bspnow::coordinator {
namespace {

// For nobody else: it has programs and output of all users. A directory that was there keeps its
// mode, since it is somebody's.
absl::Status MakeDirectory(const std::string& path) {
  std::error_code error;
  if (std::filesystem::create_directories(path, error)) chmod(path.c_str(), S_IRWXU);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(), absl::StrCat("making the directory ", path));
}

}  // namespace

absl::StatusOr<StateDirectory> StateDirectory::Open(const std::string& path) {
  for (const char* part : {"", "/blobs", "/senders", "/jobs"})
    if (absl::Status made = MakeDirectory(path + part); !made.ok()) return made;
  return StateDirectory(path);
}

std::string StateDirectory::job(JobId job) const {
  return absl::StrCat(path_, "/jobs/", Value(job));
}

absl::Status StateDirectory::WriteAddress(const std::string& lines) const {
  return ReplaceFile(path_ + "/address", lines);
}

std::vector<JobId> StateDirectory::jobs() const {
  std::vector<JobId> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path_ + "/jobs", error)) {
    std::uint64_t number = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &number)) found.push_back(JobId{number});
  }
  return found;
}

absl::Status StateDirectory::RemoveJob(JobId job) const {
  std::error_code error;
  std::filesystem::remove_all(this->job(job), error);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(), absl::StrCat("removing ", this->job(job)));
}

}  // namespace bspnow::coordinator
