// The directory in which a worker keeps what outlives it, and tells where it listens. One worker at
// a time has it.
//
//   address      once it is ready: lines NAME=HOST:PORT
//   cache/       contents that were fetched (blob_cache.h)
//   checkpoints/ images (image_store.h), unless they lie elsewhere
//   flops        what one core was measured to do
//   jobs/        directories of jobs (job_directory.h)
//   lock
#ifndef WORKER_STATE_DIRECTORY_H_
#define WORKER_STATE_DIRECTORY_H_

#include <absl/status/statusor.h>

#include <string>
#include <utility>

#include "base/unique_fd.h"

namespace bspnow::worker {

class StateDirectory {
 public:
  /// Makes what is missing of it. FAILED_PRECONDITION if another worker has it.
  static absl::StatusOr<StateDirectory> Open(const std::string& path);

  std::string jobs() const { return path_ + "/jobs"; }
  std::string cache() const { return path_ + "/cache"; }
  std::string checkpoints() const { return path_ + "/checkpoints"; }
  std::string flops() const { return path_ + "/flops"; }

  /// Replaces the file `address` as a whole.
  absl::Status WriteAddress(const std::string& lines) const;
  void RemoveAddress() const;

 private:
  StateDirectory(std::string path, UniqueFd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  UniqueFd lock_;
};

}  // namespace bspnow::worker

#endif  // WORKER_STATE_DIRECTORY_H_
