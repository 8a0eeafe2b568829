#include "client/options/output_file.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bspnow::client {
namespace {

constexpr int kBesideMax = 1'000;  // Of one process id.

absl::Status Failed(const std::string& path) {
  return absl::FailedPreconditionError(absl::StrCat("--output ", path, ": ", strerror(errno)));
}

// A file that replaced another would be ours, under this one name, and could be written to.
bool IsOursAlone(const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_uid == geteuid() && file.st_nlink == 1 &&
         (file.st_mode & S_IWUSR) != 0;
}

}  // namespace

std::string CheckOutputPattern(const std::string& pattern) {
  if (pattern.empty()) return "a file needs a name";
  if (pattern == "-")
    return "- is standard output to others; leave --output out, or write ./- for a file of that "
           "name";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    i += 1;
    if (i == pattern.size() || (pattern[i] != 'j' && pattern[i] != '%'))
      return pattern + ": after % comes j, for the job's id, or another %";
  }
  return "";
}

bool HasJobId(const std::string& pattern) {
  return OutputPath(pattern, 1) != OutputPath(pattern, 2);
}

std::string OutputPath(const std::string& pattern, std::uint64_t job) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      path += pattern[i];
    } else if (pattern[++i] == 'j') {
      absl::StrAppend(&path, job);
    } else {
      path += pattern[i];
    }
  }
  return path;
}

absl::StatusOr<UniqueFd> OpenOutput(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.valid()) return file;
  return Failed(path);
}

// A name may be that of a process that died: in containers the next one has the same process id.
absl::StatusOr<OutputFile> OutputFile::Beside(const std::string& path,
                                              std::shared_ptr<files::UnfinishedFiles> unfinished) {
  for (int number = 0; number < kBesideMax; ++number) {
    std::string beside = absl::StrCat(path, ".new-", getpid(), "-", number);
    UniqueFd fd = unfinished->Make(beside, 0666);
    if (fd.valid())
      return OutputFile(std::move(unfinished), path, std::move(beside), std::move(fd));
    if (errno != EEXIST) return Failed(path);
  }
  return absl::AlreadyExistsError(absl::StrCat("--output ", path, ": ", kBesideMax,
                                               " files have the names ", path, ".new-", getpid(),
                                               "-*; remove them"));
}

// As ours, and with the permissions of the one that it is to replace.
absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path,
                                              std::shared_ptr<files::UnfinishedFiles> unfinished) {
  struct stat there {};
  const bool is_new = lstat(path.c_str(), &there) != 0;
  if (is_new || IsOursAlone(there)) {
    absl::StatusOr<OutputFile> made = Beside(path, std::move(unfinished));
    if (absl::IsAlreadyExists(made.status())) return made;
    if (made.ok() && (is_new || fchmod(made->fd(), there.st_mode & ACCESSPERMS) == 0)) return made;
  }
  absl::StatusOr<UniqueFd> in_place = OpenOutput(path);
  if (!in_place.ok()) return in_place.status();
  return OutputFile(nullptr, path, "", *std::move(in_place));
}

OutputFile::~OutputFile() {
  if (!beside_.empty()) unfinished_->Remove(beside_);
}

absl::Status OutputFile::Commit() {
  if (beside_.empty()) return absl::OkStatus();
  if (!unfinished_->Finish(beside_, path_)) return Failed(path_);
  beside_.clear();
  return absl::OkStatus();
}

absl::Status CheckOutputPlace(const std::string& pattern) {
  const std::size_t slash = pattern.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : pattern.substr(0, slash + 1);
  const auto writable = [](const std::string& of) {
    return HasJobId(of) || access(OutputPath(of, 0).c_str(), W_OK) == 0;
  };
  // A file that is there decides, /dev/null for one: nothing need be made beside it.
  if (!HasJobId(pattern)) {
    if (writable(pattern)) return absl::OkStatus();
    if (errno != ENOENT) return Failed(pattern);
  }
  return writable(directory) ? absl::OkStatus() : Failed(pattern);
}

absl::Status RedirectOutput(const std::string& path) {
  const absl::StatusOr<UniqueFd> file = OpenOutput(path);
  if (!file.ok()) return file.status();
  if (dup2(file->get(), STDOUT_FILENO) >= 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("--output ", path, ": ", strerror(errno)));
}

}  // namespace bspnow::client
