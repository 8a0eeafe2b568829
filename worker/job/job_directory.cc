#include "worker/job/job_directory.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/disk_room.h"
#include "base/file_state.h"
#include "base/remove_tree.h"
#include "files/file_name.h"
#include "worker/passed_directory.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kProgramMode = 0755;
constexpr std::int64_t kTimeUnitSMax = 2;  // FAT's.
constexpr std::int64_t kDayS = 24 * 3600;

absl::Status NotMade(const std::string& path, const std::error_code& error) {
  return absl::InternalError(
      absl::StrCat("making ", path, LackOfInodes(error.value(), path), ": ", error.message()));
}

// A change of the program's has another time then, however soon it comes: file systems count in
// ticks of the kernel, in seconds, or, as FAT does, in two. A time that cannot be set stays.
void MakeOlder(LeftFile& file, std::int64_t even_s) {
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = even_s, .tv_nsec = 0}};
  if (utimensat(AT_FDCWD, file.path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0)
    file.changed_ns = even_s * kFileNsPerS;
}

}  // namespace

absl::StatusOr<JobDirectory> JobDirectory::Create(const std::string& path,
                                                  const proto::JobSpec& spec, BlobCache& cache,
                                                  OpenCalls& calls) {
  RemoveTree(path);  // What a process that was slow to die has made again.
  MakePassedDirectory(fs::path(path).parent_path());
  std::error_code error;
  if (mkdir(path.c_str(), S_IRWXU) != 0) error = {errno, std::generic_category()};
  // As the kernel names it: images hold such paths.
  const std::string canonical = error ? path : fs::canonical(path, error).string();
  if (error) return NotMade(path, error);
  JobDirectory directory(canonical);
  if (absl::Status filled = directory.Fill(spec, cache, calls); !filled.ok()) return filled;
  return directory;
}

JobDirectory::JobDirectory(JobDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      program_(std::move(other.program_)),
      given_(std::move(other.given_)) {}

// Under another name: a process that is slow to die, and knows it as its working directory, writes
// nothing into the one that the next epoch makes.
JobDirectory::~JobDirectory() {
  if (path_.empty()) return;
  const std::string aside = path_ + ".old";
  std::error_code error;
  fs::rename(path_, aside, error);
  RemoveTree(error ? path_ : aside);
}

absl::Status JobDirectory::Fill(const proto::JobSpec& spec, BlobCache& cache, OpenCalls& calls) {
  program_ = spec.program().name();
  const auto path_for = [this](const std::string& name) -> absl::StatusOr<std::string> {
    if (absl::Status named = files::CheckFileName(name); !named.ok()) return named;
    std::string path = absl::StrCat(path_, "/", name);
    std::error_code error;
    const fs::path directory = fs::path(path).parent_path();
    fs::create_directories(directory, error);
    if (error) return NotMade(directory.string(), error);
    return path;
  };
  absl::StatusOr<std::string> program = path_for(program_);
  if (!program.ok()) return program.status();
  // A copy, not a link: the program may write to it.
  if (absl::Status s = cache.CopyTo(spec.program().sha256(), *program, kProgramMode, calls);
      !s.ok()) {
    return s;
  }
  for (const proto::FileSpec& file : spec.files()) {
    absl::StatusOr<std::string> path = path_for(file.name());
    if (!path.ok()) return path.status();
    if (absl::Status s = cache.CopyTo(file.sha256(), *path, file.mode(), calls); !s.ok()) return s;
  }
  absl::StatusOr<files::FilesFound> found = files::FilesBelow(path_);
  if (!found.ok()) return found.status();
  // Each has a time of its own: one that is renamed to another's name is a change, too.
  std::int64_t even_s = (static_cast<std::int64_t>(UnixMs()) / 1000 - kDayS) & ~std::int64_t{1};
  for (LeftFile& file : found->files) MakeOlder(file, even_s -= kTimeUnitSMax);
  for (const LeftFile& file : found->files)
    given_[file.name] = {
        .name = file.name, .bytes = file.bytes, .changed_ns = file.changed_ns, .mode = file.mode};
  return absl::OkStatus();
}

std::vector<files::GivenFile> JobDirectory::given() const {
  std::vector<files::GivenFile> files;
  for (const auto& [name, file] : given_) files.push_back(file);
  return files;
}

absl::StatusOr<files::FilesFound> JobDirectory::LeftFiles() const {
  absl::StatusOr<files::FilesFound> found = files::FilesBelow(path_);
  if (!found.ok()) return found;
  std::erase_if(found->files, [this](const LeftFile& file) {
    const auto given = given_.find(file.name);
    return given != given_.end() && given->second.bytes == file.bytes &&
           given->second.changed_ns == file.changed_ns && given->second.mode == file.mode;
  });
  return found;
}

std::vector<LeftFile> CoresOf(std::vector<LeftFile> files, const std::string& node) {
  std::erase_if(files, [](const LeftFile& file) {
    const std::string name = file.name.substr(file.name.rfind('/') + 1);
    return name != "core" && !name.starts_with("core.");
  });
  for (LeftFile& file : files) file.name += "." + node;
  return files;
}

}  // namespace bspnow::worker
