// What CheckpointKeeper asks of the disk on which checkpoints lie, and of the other nodes'. The
// daemon has StoredCheckpoints (stored_checkpoints.h); a simulation has a disk that it makes up.
#ifndef WORKER_CORE_CHECKPOINT_DISK_H_
#define WORKER_CORE_CHECKPOINT_DISK_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/ids.h"
#include "proto/workers.pb.h"

namespace bspnow::worker {

/// Each call takes its time, and `done` is called after it, never from within.
class CheckpointDisk {
 public:
  /// Whether this many more bytes may come: quota and free space.
  virtual void CheckRoom(std::uint64_t bytes, std::function<void(const absl::Status&)> done) = 0;

  /// Makes the images and the archive durable; completes what is known of them by what they say
  /// themselves. If that fails all of it is removed.
  virtual void Settle(JobId job, const proto::CheckpointStored& written,
                      std::function<void(const absl::StatusOr<proto::CheckpointStored>&)> done) = 0;

  /// All that lies here, at once, for a registration: the coordinator will count upon it. So what
  /// was asked of Keep and Release before removes nothing any more, be it under way.
  virtual absl::StatusOr<std::vector<proto::StoredJob>> List() = 0;

  /// Removes all files on this node of a checkpoint that was never reported.
  virtual void Discard(JobId job, std::uint64_t checkpoint, std::function<void()> done) = 0;

  /// The same of one that was, since the coordinator does not want it.
  virtual void Release(JobId job, std::uint64_t checkpoint, std::function<void()> done) = 0;

  /// Removes all checkpoints of the job but these and newer ones.
  virtual void Keep(JobId job, const std::vector<std::uint64_t>& checkpoints,
                    std::function<void()> done) = 0;

  /// Gives another node the images of these pids; none: of all whose images lie here.
  virtual void Copy(const proto::CopyCheckpoint& order, const std::vector<std::uint32_t>& pids,
                    std::function<void(const absl::Status&)> done) = 0;

 protected:
  ~CheckpointDisk() = default;
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_CHECKPOINT_DISK_H_
