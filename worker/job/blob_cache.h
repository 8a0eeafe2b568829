// Contents by hash (programs, files of jobs) that this worker keeps: STATE_DIR/cache/SHA256. A
// content is verified when it comes, and so is each copy; the least recently used ones go when
// there are too many bytes, or too few on the disk.
// Safe to use from several threads.
#ifndef WORKER_JOB_BLOB_CACHE_H_
#define WORKER_JOB_BLOB_CACHE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "files/blob_store.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {

/// ResourceExhausted, as of a full disk, if the disk does not take one more file of this size.
absl::Status CheckRoomFor(const std::string& path, std::uint64_t bytes);

class BlobCache {
 public:
  /// Puts the content with this hash into the store, unless that is stopped.
  using Fetch = std::function<absl::Status(const std::string& sha256, const files::BlobStore& into,
                                           OpenCalls& calls)>;

  /// Use Open.
  BlobCache(const std::string& directory, std::uint64_t bytes_max, Fetch fetch);

  /// Makes the directory if it is missing, clears what was not finished, takes over the rest.
  static absl::StatusOr<std::unique_ptr<BlobCache>> Open(const std::string& directory,
                                                         std::uint64_t bytes_max, Fetch fetch);

  /// Puts a copy at `path`, which must not exist, with these permission bits. Fetches the content
  /// if it is not here, or is damaged. Stop of `calls` breaks that off, and leaves the content to
  /// others who need it. Nothing begins that would take what is to stay free of the disk
  /// (DiskRoom::Takes): a job that runs would have to end for it.
  absl::Status CopyTo(const std::string& sha256, const std::string& path, std::uint32_t mode,
                      OpenCalls& calls);

  /// Removes contents that nobody uses, the least recently used ones first, until at least `bytes`
  /// bytes are free again. False if no content was idle.
  bool RemoveIdle(std::uint64_t bytes);

  /// Waits for nobody: a thread that removes a large content, or asks a disk that hangs, holds the
  /// mutex meanwhile.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Kept {
    std::uint64_t bytes = 0;
    std::uint64_t last_use = 0;
    int users = 0;         ///< Not removed while somebody copies it.
    bool doubted = false;  ///< The last copy failed.
  };

  void TakeOver();
  absl::Status Acquire(const std::string& sha256, OpenCalls& calls);
  absl::Status CopyAcquired(const std::string& sha256, const std::string& path, std::uint32_t mode,
                            OpenCalls& calls);
  absl::StatusOr<std::uint64_t> VerifyOrFetch(const std::string& sha256, OpenCalls& calls);
  void Release(const std::string& sha256, const absl::Status& copied);
  std::optional<std::uint64_t> RemoveOldest();
  /// What needs room on the disk; there it may take that of contents that nobody uses.
  absl::Status WithRoom(const std::function<absl::Status()>& attempt, OpenCalls& calls);

  const std::string directory_;
  const files::BlobStore store_;
  const std::uint64_t bytes_max_;
  const Fetch fetch_;
  std::mutex mutex_;
  std::condition_variable fetched_;
  // All guarded by mutex_:
  std::map<std::string, Kept> kept_;
  std::set<std::string> fetching_;
  std::atomic<std::uint64_t> bytes_ = 0;  ///< Changed under mutex_, read without.
  std::uint64_t uses_ = 0;
};

}  // namespace bspnow::worker

#endif  // WORKER_JOB_BLOB_CACHE_H_
