#include "coordinator/blob_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include <absl/strings/str_cat.h>

namespace bspnow {

absl::Status BlobUpload::Append(std::string_view bytes) {
  received_bytes_ += bytes.size();
  if (received_bytes_ > bytes_)
    return absl::InvalidArgumentError(
        absl::StrCat("content ", sha256_, ": more than the ", bytes_, " bytes announced"));
  hash_.Add(bytes);
  return file_.Append(bytes);
}

absl::Status BlobUpload::Commit() {
  if (received_bytes_ != bytes_)
    return absl::InvalidArgumentError(absl::StrCat("content ", sha256_, ": ", received_bytes_,
                                                   " of the ", bytes_, " bytes announced"));
  const std::string found = hash_.Hexadecimal();
  if (found != sha256_)
    return absl::InvalidArgumentError(
        absl::StrCat("content ", sha256_, ": what came has the SHA-256 ", found));
  return file_.Commit(sha256_);
}

BlobStore::BlobStore(std::string directory) : directory_(std::move(directory)) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error))
    if (entry.path().filename().string().starts_with(DurableFile::kTemporaryPrefix))
      unlink(entry.path().c_str());
}

bool BlobStore::Has(std::string_view sha256) const {
  if (!CheckSha256(sha256).ok()) return false;
  const std::string path = absl::StrCat(directory_, "/", std::string(sha256));
  return utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0;
}

absl::StatusOr<BlobUpload> BlobStore::Upload(std::string sha256, std::uint64_t bytes) const {
  if (absl::Status named = CheckSha256(sha256); !named.ok()) return named;
  if (bytes > kBlobBytesMax)
    return absl::ResourceExhaustedError(absl::StrCat(
        "content ", sha256, " has ", bytes, " bytes; at most ", kBlobBytesMax, " are taken"));
  absl::StatusOr<DurableFile> file = DurableFile::Create(directory_);
  if (!file.ok()) return file.status();
  return BlobUpload(*std::move(file), std::move(sha256), bytes);
}

absl::StatusOr<UniqueFd> BlobStore::Open(std::string_view sha256) const {
  if (absl::Status named = CheckSha256(sha256); !named.ok()) return named;
  const std::string path = absl::StrCat(directory_, "/", std::string(sha256));
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT)
    return absl::NotFoundError(
        absl::StrCat("content ", std::string(sha256), " is not here; upload it again"));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", path));
  return fd;
}

int BlobStore::RemoveUnneeded(const std::set<std::string>& needed,
                              std::int64_t before_unix_s) const {
  int removed = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    struct stat status;
    if (!CheckSha256(entry.path().filename().string()).ok()) continue;
    if (needed.contains(entry.path().filename().string())) continue;
    if (stat(entry.path().c_str(), &status) != 0 || status.st_mtime >= before_unix_s) continue;
    if (unlink(entry.path().c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace bspnow
