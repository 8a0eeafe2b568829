#include "files/blob_store.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/directory_listing.h"
#include "base/disk_room.h"
#include "base/file_state.h"

namespace bspnow::files {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{64} << 20;

absl::Status Failed(std::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(std::string(what), " ", path));
}

}  // namespace

// ---- In -----------------------------------------------------------------------------------------

BlobStore::BlobStore(std::string directory) : directory_(std::move(directory)) {
  for (const std::string& name : ListDirectory(directory_).names)
    if (!CheckSha256(name).ok()) unlink(PathOf(name).c_str());
}

std::string BlobStore::PathOf(std::string_view sha256) const {
  return absl::StrCat(directory_, "/", std::string(sha256));
}

bool BlobStore::Has(std::string_view sha256) const {
  return CheckSha256(sha256).ok() && utimensat(AT_FDCWD, PathOf(sha256).c_str(), nullptr, 0) == 0;
}

absl::Status BlobSink::Begin(const FileHead& head) {
  if (file_) return absl::InvalidArgumentError("one content comes at a time");
  if (absl::Status named = CheckSha256(head.name); !named.ok()) return named;
  if (head.bytes > kBlobBytesMax)
    return absl::ResourceExhaustedError(absl::StrCat("content ", head.name, " has ", head.bytes,
                                                     " bytes; at most ", kBlobBytesMax,
                                                     " are taken"));
  absl::StatusOr<DurableFile> file = DurableFile::Create(store_.directory_);
  if (file.ok()) file_.emplace(*std::move(file));
  head_ = head;
  return file.status();
}

absl::Status BlobSink::Append(std::string_view bytes) {
  if (!file_ || bytes.size() > head_.bytes - file_->bytes())
    return absl::InvalidArgumentError(
        absl::StrCat("content ", head_.name, ": more than the ", head_.bytes, " bytes announced"));
  hash_.Add(bytes);
  return file_->Append(bytes);
}

absl::Status BlobSink::Finish() {
  if (!file_ || file_->bytes() != head_.bytes)
    return absl::InvalidArgumentError(
        absl::StrCat("content ", head_.name, ": not all of the ", head_.bytes, " bytes came"));
  const std::string found = hash_.Hexadecimal();
  if (found != head_.name)
    return absl::InvalidArgumentError(
        absl::StrCat("content ", head_.name, ": what came has the SHA-256 ", found));
  return file_->Commit(head_.name, durability_);
}

// ---- Out ----------------------------------------------------------------------------------------

absl::StatusOr<UniqueFd> BlobStore::Open(std::string_view sha256) const {
  if (absl::Status named = CheckSha256(sha256); !named.ok()) return named;
  UniqueFd fd(open(PathOf(sha256).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT)
    return absl::NotFoundError(absl::StrCat("content ", std::string(sha256),
                                            " is not here; submit the job again, which sends it"));
  if (!fd.valid()) return Failed("opening", PathOf(sha256));
  return fd;
}

absl::StatusOr<std::uint64_t> BlobStore::BytesOf(std::string_view sha256) const {
  struct stat status {};
  if (stat(PathOf(sha256).c_str(), &status) == 0) return static_cast<std::uint64_t>(status.st_size);
  return Failed("looking for", PathOf(sha256));
}

absl::StatusOr<std::uint64_t> BlobStore::Verify(std::string_view sha256) const {
  return Verify(sha256, [] { return false; });
}

absl::StatusOr<std::uint64_t> BlobStore::Verify(std::string_view sha256,
                                                const std::function<bool()>& stops) const {
  const absl::StatusOr<UniqueFd> file = Open(sha256);
  if (!file.ok()) return file.status();
  const absl::StatusOr<FileContent> content = ContentOf(file->get(), PathOf(sha256), stops);
  if (!content.ok()) return content.status();
  if (content->sha256 == sha256) return content->bytes;
  return absl::DataLossError(absl::StrCat(PathOf(sha256), " holds ", content->sha256));
}

absl::Status BlobStore::CopyTo(std::string_view sha256, const std::string& path, std::uint32_t mode,
                               const std::function<bool()>& stops) const {
  const absl::StatusOr<UniqueFd> in = Open(sha256);
  if (!in.ok()) return in.status();
  const UniqueFd out(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (const int error = errno; !out.valid())
    return absl::ErrnoToStatus(error, absl::StrCat("making ", path, LackOfInodes(error, path)));
  ssize_t n = 0;
  do {
    if (stops()) return absl::CancelledError(absl::StrCat("making ", path));
    n = copy_file_range(in->get(), nullptr, out.get(), nullptr, kCopyBytes, 0);
    // That copies within a file system only.
    if (n < 0) n = sendfile(out.get(), in->get(), nullptr, kCopyBytes);
  } while (n > 0);
  if (n < 0 || fchmod(out.get(), mode & ACCESSPERMS) != 0) return Failed("writing", path);
  const absl::StatusOr<FileContent> content = ContentOf(out.get(), path, stops);
  if (!content.ok()) return content.status();
  if (content->sha256 == sha256) return absl::OkStatus();
  unlink(path.c_str());
  return absl::DataLossError(
      absl::StrCat("the copy of ", PathOf(sha256), " holds ", content->sha256));
}

// ---- Removing -----------------------------------------------------------------------------------

std::vector<StoredBlob> BlobStore::List() const {
  std::vector<StoredBlob> blobs;
  for (const std::string& name : ListDirectory(directory_).names) {
    struct stat status {};
    if (!CheckSha256(name).ok() || stat(PathOf(name).c_str(), &status) != 0) continue;
    blobs.push_back({.sha256 = name,
                     .bytes = static_cast<std::uint64_t>(status.st_size),
                     .asked_ns = FileNs(status.st_mtim)});
  }
  std::sort(blobs.begin(), blobs.end(),
            [](const StoredBlob& a, const StoredBlob& b) { return a.asked_ns < b.asked_ns; });
  return blobs;
}

void BlobStore::Remove(std::string_view sha256) const { unlink(PathOf(sha256).c_str()); }

int BlobStore::RemoveUnneeded(const std::set<std::string>& needed,
                              std::int64_t before_unix_s) const {
  int removed = 0;
  for (const StoredBlob& blob : List()) {
    if (blob.asked_ns / kFileNsPerS >= before_unix_s) break;
    if (needed.contains(blob.sha256)) continue;
    Remove(blob.sha256);
    ++removed;
  }
  return removed;
}

}  // namespace bspnow::files
