#include "worker/blob_cache.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "files/sha256.h"

namespace bspnow {
namespace {

constexpr char kUnfinishedSuffix[] = ".unfinished";
constexpr std::size_t kCopyBytes = std::size_t{1} << 30;
constexpr mode_t kKeptMode = 0555;  // Nobody writes to it; a program is linked as it is.

absl::Status Failed(const std::string& what) {
  return absl::InternalError(absl::StrCat(what, ": ", strerror(errno)));
}

/// How many bytes it has, if they are what the hash says.
absl::StatusOr<std::uint64_t> Verified(int file, const std::string& sha256) {
  const absl::StatusOr<FileContent> content = ContentOf(file, sha256);
  if (!content.ok()) return content.status();
  if (content->sha256 != sha256)
    return absl::DataLossError(absl::StrCat("content ", sha256, " came as ", content->sha256));
  return content->bytes;
}

absl::Status CopyFile(const std::string& from, const std::string& to, std::uint32_t mode) {
  const UniqueFd in(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.valid()) return Failed(absl::StrCat("opening ", from));
  const UniqueFd out(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out.valid()) return Failed(absl::StrCat("making ", to));
  for (;;) {
    const ssize_t n = copy_file_range(in.get(), nullptr, out.get(), nullptr, kCopyBytes, 0);
    if (n < 0) return Failed(absl::StrCat("writing ", to));
    if (n == 0) break;
  }
  if (fchmod(out.get(), mode & 0777) != 0) return Failed(absl::StrCat("writing ", to));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BlobCache>> BlobCache::Open(const std::string& directory,
                                                           std::uint64_t bytes_max, Fetch fetch) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::InternalError(absl::StrCat("making ", directory, ": ", error.message()));
  auto cache = std::make_unique<BlobCache>(directory, bytes_max, std::move(fetch));
  cache->TakeOver();
  return cache;
}

BlobCache::BlobCache(std::string directory, std::uint64_t bytes_max, Fetch fetch)
    : directory_(std::move(directory)), bytes_max_(bytes_max), fetch_(std::move(fetch)) {}

// Oldest first, by when they came.
void BlobCache::TakeOver() {
  std::vector<std::pair<std::filesystem::file_time_type, std::string>> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    const std::string name = entry.path().filename().string();
    if (CheckSha256(name).ok()) {
      found.emplace_back(entry.last_write_time(error), name);
    } else {
      std::filesystem::remove(entry.path(), error);
    }
  }
  std::sort(found.begin(), found.end());
  const std::scoped_lock lock(mutex_);
  for (const auto& [time, name] : found) {
    const std::uint64_t bytes = std::filesystem::file_size(PathOf(name), error);
    if (error) continue;
    kept_[name] = Kept{.bytes = bytes, .last_use = ++uses_};
    bytes_ += bytes;
  }
  RemoveLeastRecent();
}

std::uint64_t BlobCache::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

absl::Status BlobCache::CopyTo(const std::string& sha256, const std::string& path,
                               std::uint32_t mode) {
  if (absl::Status s = Acquire(sha256); !s.ok()) return s;
  const absl::Status copied = CopyFile(PathOf(sha256), path, mode);
  Release(sha256);
  return copied;
}

absl::Status BlobCache::LinkTo(const std::string& sha256, const std::string& path) {
  if (absl::Status s = Acquire(sha256); !s.ok()) return s;
  absl::Status linked = absl::OkStatus();
  if (link(PathOf(sha256).c_str(), path.c_str()) != 0) {
    linked = CopyFile(PathOf(sha256), path, kKeptMode);  // Not every file system has links.
  }
  Release(sha256);
  return linked;
}

// Returns with one more user.
absl::Status BlobCache::Acquire(const std::string& sha256) {
  if (absl::Status named = CheckSha256(sha256); !named.ok()) return named;
  std::unique_lock lock(mutex_);
  // Two jobs may need one content at once: the first fetches it.
  fetched_.wait(lock, [&] { return !fetching_.contains(sha256); });
  Kept& kept = kept_[sha256];
  kept.users += 1;
  kept.last_use = ++uses_;
  if (!kept.verified) {
    fetching_.insert(sha256);
    lock.unlock();
    absl::StatusOr<std::uint64_t> bytes = VerifiedHere(sha256);
    if (!bytes.ok()) bytes = FetchAndVerify(sha256);
    lock.lock();
    fetching_.erase(sha256);
    fetched_.notify_all();
    bytes_ -= kept.bytes;
    if (!bytes.ok()) {
      kept_.erase(sha256);  // The others wait; nobody else uses it.
      return bytes.status();
    }
    kept.bytes = *bytes;
    kept.verified = true;
    bytes_ += kept.bytes;
  }
  RemoveLeastRecent();
  return absl::OkStatus();
}

void BlobCache::Release(const std::string& sha256) {
  const std::scoped_lock lock(mutex_);
  kept_.at(sha256).users -= 1;
}

// What an earlier run left is not trusted: it was never synced, and a power cut may have torn it.
absl::StatusOr<std::uint64_t> BlobCache::VerifiedHere(const std::string& sha256) const {
  const UniqueFd file(open(PathOf(sha256).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return Failed(absl::StrCat("opening ", PathOf(sha256)));
  return Verified(file.get(), sha256);
}

absl::StatusOr<std::uint64_t> BlobCache::FetchAndVerify(const std::string& sha256) {
  const std::string unfinished = PathOf(sha256) + kUnfinishedSuffix;
  const UniqueFd file(open(unfinished.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid()) return Failed(absl::StrCat("making ", unfinished));
  const absl::Status fetched = fetch_(sha256, file.get());
  absl::StatusOr<std::uint64_t> bytes =
      fetched.ok() ? Verified(file.get(), sha256) : absl::StatusOr<std::uint64_t>(fetched);
  if (bytes.ok() && (fchmod(file.get(), kKeptMode) != 0 ||
                     rename(unfinished.c_str(), PathOf(sha256).c_str()) != 0)) {
    bytes = Failed(absl::StrCat("keeping ", PathOf(sha256)));
  }
  if (!bytes.ok()) unlink(unfinished.c_str());
  return bytes;
}

// What jobs use stays, and so does what is larger than all the room alone, until its job is done.
void BlobCache::RemoveLeastRecent() {
  while (bytes_ > bytes_max_) {
    auto oldest = kept_.end();
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
      if (kept->second.users > 0) continue;
      if (oldest == kept_.end() || kept->second.last_use < oldest->second.last_use) oldest = kept;
    }
    if (oldest == kept_.end()) return;
    unlink(PathOf(oldest->first).c_str());
    bytes_ -= oldest->second.bytes;
    kept_.erase(oldest);
  }
}

}  // namespace bspnow
