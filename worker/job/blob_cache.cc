#include "worker/job/blob_cache.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "base/disk_room.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kNoBytes = std::numeric_limits<std::uint64_t>::max();
constexpr int kCopiesMax = 3;
constexpr std::uint64_t kRoomBytes = std::uint64_t{64} << 20;
constexpr std::chrono::milliseconds kLook{100};  // Whether who waits for another is still wanted.

// Want of descriptors or memory has the same code, and so has a content that is too large: those
// that are idle would go in vain.
bool WantsRoom(const absl::Status& status) {
  return absl::IsResourceExhausted(status) &&
         (absl::StrContains(status.message(), strerror(ENOSPC)) ||
          absl::StrContains(status.message(), strerror(EDQUOT)));
}

}  // namespace

absl::Status CheckRoomFor(const std::string& path, std::uint64_t bytes) {
  const std::optional<DiskRoom> room = RoomAt(std::filesystem::path(path).parent_path().string());
  if (!room || room->Takes(bytes)) return absl::OkStatus();
  return absl::ErrnoToStatus(
      ENOSPC, absl::StrCat("making ", path, " of ", bytes, " bytes, where ", room->free_bytes,
                           " are left and ", room->reserve_bytes(), " stay free"));
}

absl::StatusOr<std::unique_ptr<BlobCache>> BlobCache::Open(const std::string& directory,
                                                           std::uint64_t bytes_max, Fetch fetch) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::InternalError(absl::StrCat("making ", directory, ": ", error.message()));
  auto cache = std::make_unique<BlobCache>(directory, bytes_max, std::move(fetch));
  cache->TakeOver();
  return cache;
}

BlobCache::BlobCache(const std::string& directory, std::uint64_t bytes_max, Fetch fetch)
    : directory_(directory), store_(directory), bytes_max_(bytes_max), fetch_(std::move(fetch)) {}

void BlobCache::TakeOver() {
  const std::scoped_lock lock(mutex_);
  for (const files::StoredBlob& blob : store_.List()) {
    kept_[blob.sha256] = Kept{.bytes = blob.bytes, .last_use = ++uses_};
    bytes_ += blob.bytes;
  }
  while (bytes_ > bytes_max_ && RemoveOldest()) {
  }
}

absl::Status BlobCache::CopyTo(const std::string& sha256, const std::string& path,
                               std::uint32_t mode, OpenCalls& calls) {
  absl::Status copied;
  for (int tries = 0; tries < kCopiesMax; ++tries) {
    if (absl::Status s = Acquire(sha256, calls); !s.ok()) return s;
    copied = CopyAcquired(sha256, path, mode, calls);
    Release(sha256, copied);
    if (!absl::IsDataLoss(copied)) return copied;
    spdlog::error("event=cached_content_damaged reason=\"{}\"", std::string(copied.message()));
  }
  // Not DataLoss: that would say that the coordinator has lost it.
  return absl::InternalError(absl::StrCat(copied.message(), ", again: the disk damages it"));
}

absl::Status BlobCache::CopyAcquired(const std::string& sha256, const std::string& path,
                                     std::uint32_t mode, OpenCalls& calls) {
  return WithRoom(
      [&] {
        absl::Status s = CheckRoomFor(path, store_.BytesOf(sha256).value_or(0));
        if (!s.ok()) return s;
        s = store_.CopyTo(sha256, path, mode, [&calls] { return calls.stopping(); });
        if (WantsRoom(s)) unlink(path.c_str());
        return s;
      },
      calls);
}

// Returns with one more user.
absl::Status BlobCache::Acquire(const std::string& sha256, OpenCalls& calls) {
  if (absl::Status named = files::CheckSha256(sha256); !named.ok()) return named;
  std::unique_lock lock(mutex_);
  // Two jobs may need one content at once: the first fetches it.
  while (fetching_.contains(sha256)) {
    if (calls.stopping()) return absl::CancelledError(absl::StrCat("waiting for ", sha256));
    fetched_.wait_for(lock, kLook);
  }
  Kept& kept = kept_[sha256];
  kept.users += 1;
  kept.last_use = ++uses_;
  if (kept.doubted || store_.BytesOf(sha256).value_or(kNoBytes) != kept.bytes) {
    fetching_.insert(sha256);
    lock.unlock();
    const absl::StatusOr<std::uint64_t> bytes = VerifyOrFetch(sha256, calls);
    lock.lock();
    fetching_.erase(sha256);
    fetched_.notify_all();
    bytes_ -= kept.bytes;
    kept.bytes = bytes.value_or(0);
    kept.doubted = !bytes.ok();
    bytes_ += kept.bytes;
    if (!bytes.ok()) {
      // Where it was only not looked at to its end it is as it was found.
      if (absl::IsCancelled(bytes.status())) kept.bytes = store_.BytesOf(sha256).value_or(0);
      bytes_ += kept.bytes;
      if (--kept.users == 0 && kept.bytes == 0) kept_.erase(sha256);  // Others copy it still.
      return bytes.status();
    }
  }
  while (bytes_ > bytes_max_ && RemoveOldest()) {
  }
  return absl::OkStatus();
}

// Somebody who needed room may have removed or cut it, the directory, too; what an earlier run left
// was never synced, and a power cut may have torn it; and disks fail. Another job may have fetched
// it anew meanwhile. What is fetched is verified as it comes.
absl::StatusOr<std::uint64_t> BlobCache::VerifyOrFetch(const std::string& sha256,
                                                       OpenCalls& calls) {
  const auto bytes = store_.Verify(sha256, [&calls] { return calls.stopping(); });
  if (bytes.ok() || absl::IsCancelled(bytes.status())) return bytes;
  mkdir(directory_.c_str(), S_IRWXU);
  const absl::Status fetched = WithRoom([&] { return fetch_(sha256, store_, calls); }, calls);
  if (!fetched.ok()) return fetched;
  return store_.BytesOf(sha256);
}

void BlobCache::Release(const std::string& sha256, const absl::Status& copied) {
  const std::scoped_lock lock(mutex_);
  Kept& kept = kept_.at(sha256);
  kept.users -= 1;
  if (!copied.ok()) kept.doubted = true;
}

// What jobs use stays, and so does what is larger than all the room alone, until its job is done.
std::optional<std::uint64_t> BlobCache::RemoveOldest() {
  auto oldest = kept_.end();
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    if (kept->second.users > 0) continue;
    if (oldest == kept_.end() || kept->second.last_use < oldest->second.last_use) oldest = kept;
  }
  if (oldest == kept_.end()) return std::nullopt;
  const std::uint64_t bytes = oldest->second.bytes;
  store_.Remove(oldest->first);
  bytes_ -= bytes;
  kept_.erase(oldest);
  return bytes;
}

bool BlobCache::RemoveIdle(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  std::uint64_t removed = 0;
  std::optional<std::uint64_t> oldest = RemoveOldest();
  const bool any = oldest.has_value();
  for (; oldest; oldest = RemoveOldest())
    if (removed += *oldest; removed >= bytes) break;
  return any;
}

// Each try costs a transfer, so each finds twice the room of the one before.
absl::Status BlobCache::WithRoom(const std::function<absl::Status()>& attempt, OpenCalls& calls) {
  absl::Status done = attempt();
  for (std::uint64_t bytes = kRoomBytes; WantsRoom(done) && !calls.stopping() && RemoveIdle(bytes);
       bytes *= 2)
    done = attempt();
  if (!WantsRoom(done)) return done;
  return absl::ResourceExhaustedError(
      absl::StrCat(done.message(), "; of the copies of programs and files in ", directory_,
                   ", which may take ", bytes_max_, " bytes (--cache-bytes), none is idle"));
}

}  // namespace bspnow::worker
