// What becomes of checkpoints on this node once they are written: made durable, copied, removed;
// one thing after the other for each job. Decides only; the disk is CheckpointDisk's.
#ifndef WORKER_CORE_CHECKPOINT_KEEPER_H_
#define WORKER_CORE_CHECKPOINT_KEEPER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "base/ids.h"
#include "proto/workers.pb.h"
#include "worker/core/checkpoint_disk.h"

namespace bspnow::worker {

class CheckpointKeeper {
 public:
  CheckpointKeeper(CheckpointDisk& disk, std::function<void(proto::WorkerEvent)> report)
      : disk_(disk), report_(std::move(report)) {}

  /// As CheckpointDisk has it, after everything of this job that was asked for before.
  void CheckRoom(JobId job, std::uint64_t bytes, std::function<void(const absl::Status&)> checked);
  void Settle(JobId job, const proto::CheckpointStored& written,
              std::function<void(const absl::StatusOr<proto::CheckpointStored>&)> settled);

  /// Removes what lies here of a checkpoint that was given up, unless it is one that is kept.
  void Discard(JobId job, std::uint64_t checkpoint, std::function<void()> discarded);

  void Keep(const proto::KeepCheckpoints& order);

  /// Gives another node the images of these pids, then reports CheckpointCopied. `pids` empty: of
  /// all whose images lie here.
  void Copy(const proto::CopyCheckpoint& order, std::vector<std::uint32_t> pids);

 private:
  /// Begins something on the disk, and calls its argument when that is done.
  using Work = std::function<void(std::function<void()> next)>;

  void Queue(JobId job, Work work);
  void BeginNext(JobId job);

  CheckpointDisk& disk_;
  const std::function<void(proto::WorkerEvent)> report_;
  std::map<JobId, std::deque<Work>> waiting_;  ///< The first is under way.
  std::map<JobId, std::set<std::uint64_t>> kept_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_CHECKPOINT_KEEPER_H_
