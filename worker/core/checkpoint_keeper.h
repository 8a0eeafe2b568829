// What becomes of checkpoints on this node once they are written: made durable, copied, removed;
// one thing after the other for each job. Decides only; the disk is CheckpointDisk's.
//
// Orders to remove something hold for one registration. A disk may be slow, and the coordinator of
// the next registration may know another past (an older journal), in which what its forerunner had
// let go is what the job goes on from. See "State of the coordinator" in docs/design.md.
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

  /// What lies here, for a registration that begins. Orders of an earlier one that wait for the
  /// disk remove nothing: the coordinator that answers says anew what is to go.
  absl::StatusOr<std::vector<proto::StoredJob>> List();
  /// Something is under way on the disk, or waits for it: what was listed may change.
  bool busy() const { return !waiting_.empty(); }

  /// As CheckpointDisk has it, after everything of this job that was asked for before.
  void CheckRoom(JobId job, std::uint64_t bytes, std::function<void(const absl::Status&)> checked);
  void Settle(JobId job, const proto::CheckpointStored& written,
              std::function<void(const absl::StatusOr<proto::CheckpointStored>&)> settled);

  /// Removes what lies here of a checkpoint that was given up, unless it is one that is kept.
  void Discard(JobId job, std::uint64_t checkpoint, std::function<void()> discarded);

  // ---- By order.

  /// As Discard, of one that was reported.
  void Release(JobId job, std::uint64_t checkpoint);

  void Keep(const proto::KeepCheckpoints& order);

  /// Gives another node the images of these pids, then reports CheckpointCopied. `pids` empty: of
  /// all whose images lie here.
  void Copy(const proto::CopyCheckpoint& order, std::vector<std::uint32_t> pids);

 private:
  /// Begins something on the disk, and calls its argument when that is done.
  using Work = std::function<void(std::function<void()> next)>;

  void Queue(JobId job, Work work);
  /// Queues a removal that was ordered under this registration.
  void QueueOrdered(JobId job, Work removal);
  bool IsKept(JobId job, std::uint64_t checkpoint) const;
  void BeginNext(JobId job);

  CheckpointDisk& disk_;
  const std::function<void(proto::WorkerEvent)> report_;
  std::map<JobId, std::deque<Work>> waiting_;  ///< The first is under way.
  std::map<JobId, std::set<std::uint64_t>> kept_;
  std::uint64_t registration_ = 0;  ///< Which one this is, or the next.
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_CHECKPOINT_KEEPER_H_
