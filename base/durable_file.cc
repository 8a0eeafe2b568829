#include "base/durable_file.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "base/disk_room.h"
#include "base/file_owner.h"
#include "base/write_all.h"

namespace bspnow {
namespace {

/// The disk begins to write long before the sync that waits for it.
constexpr std::uint64_t kBeginBytes = 8 << 20;

constexpr mode_t kPrivate = 0600;

}  // namespace

absl::Status SyncDirectory(const std::string& path) {
  const UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid() && fsync(directory.get()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("syncing the directory ", path));
}

absl::StatusOr<DurableFile> DurableFile::Create(const std::string& directory,
                                                std::string_view prefix) {
  std::string path = absl::StrCat(directory, "/", std::string(prefix), "XXXXXX");
  UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (const int error = errno; !fd.valid())
    return absl::ErrnoToStatus(
        error, absl::StrCat("making a file in ", directory, LackOfInodes(error, directory)));
  return DurableFile(directory, std::move(path), std::move(fd));
}

DurableFile::~DurableFile() {
  if (fd_.valid()) unlink(temporary_.c_str());
}

absl::Status DurableFile::Append(std::string_view bytes) {
  if (absl::Status written = WriteAll(fd_.get(), bytes, temporary_); !written.ok()) return written;
  bytes_ += bytes.size();
  if (bytes_ - begun_bytes_ >= kBeginBytes) {
    sync_file_range(fd_.get(), static_cast<off_t>(begun_bytes_),
                    static_cast<off_t>(bytes_ - begun_bytes_), SYNC_FILE_RANGE_WRITE);
    begun_bytes_ = bytes_;
  }
  return absl::OkStatus();
}

absl::Status DurableFile::Commit(const std::string& name, Durability durability) {
  const std::string path = absl::StrCat(directory_, "/", name);
  const bool syncs = durability == Durability::kSynced;
  if (syncs && fsync(fd_.get()) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("syncing ", path));
  if (rename(temporary_.c_str(), path.c_str()) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("renaming to ", path));
  fd_.Reset();
  return syncs ? SyncDirectory(directory_) : absl::OkStatus();
}

absl::Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::size_t slash = path.rfind('/');
  const bool here = slash == std::string::npos;
  absl::StatusOr<DurableFile> file = DurableFile::Create(here ? "." : path.substr(0, slash));
  if (!file.ok()) return file.status();
  // Who may not give files away keeps this one, in a directory that lets him.
  absl::Status given = TakeOwnerAndMode(file->fd(), path, kPrivate);
  if (!given.ok() && !absl::IsPermissionDenied(given)) return given;
  if (absl::Status written = file->Append(bytes); !written.ok()) return written;
  return file->Commit(here ? path : path.substr(slash + 1), Durability::kSynced);
}

}  // namespace bspnow
