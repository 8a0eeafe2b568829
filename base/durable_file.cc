#include "base/durable_file.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "base/write_all.h"

namespace bspnow {

absl::Status SyncDirectory(const std::string& path) {
  const UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid() && fsync(directory.get()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("syncing the directory ", path));
}

absl::StatusOr<DurableFile> DurableFile::Create(const std::string& directory) {
  std::string path = absl::StrCat(directory, "/", std::string(kTemporaryPrefix), "XXXXXX");
  UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("making a file in ", directory));
  return DurableFile(directory, std::move(path), std::move(fd));
}

DurableFile::~DurableFile() {
  if (fd_.valid()) unlink(temporary_.c_str());
}

absl::Status DurableFile::Append(std::string_view bytes) {
  return WriteAll(fd_.get(), bytes, temporary_);
}

absl::Status DurableFile::Commit(const std::string& name) {
  const std::string path = absl::StrCat(directory_, "/", name);
  if (fsync(fd_.get()) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("syncing ", path));
  if (rename(temporary_.c_str(), path.c_str()) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("renaming to ", path));
  fd_.Reset();
  return SyncDirectory(directory_);
}

absl::Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::size_t slash = path.rfind('/');
  const bool here = slash == std::string::npos;
  absl::StatusOr<DurableFile> file = DurableFile::Create(here ? "." : path.substr(0, slash));
  if (!file.ok()) return file.status();
  if (absl::Status written = file->Append(bytes); !written.ok()) return written;
  return file->Commit(here ? path : path.substr(slash + 1));
}

}  // namespace bspnow
