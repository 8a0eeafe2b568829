// The checkpoints in the store of this node. The work is done on NodeThreads; callbacks come on the
// loop's thread.
#ifndef WORKER_CHECKPOINT_STORED_CHECKPOINTS_H_
#define WORKER_CHECKPOINT_STORED_CHECKPOINTS_H_

#include <vector>

#include "net/event_loop.h"
#include "worker/checkpoint/image_store.h"
#include "worker/checkpoint/image_transfer.h"
#include "worker/core/checkpoint_disk.h"
#include "worker/work_threads.h"

namespace bspnow::worker {

class StoredCheckpoints final : public CheckpointDisk {
 public:
  /// All of these outlive it; what runs on the threads must have ended before it goes.
  StoredCheckpoints(EventLoop& loop, NodeThreads& threads, ImageStore& store,
                    ImageTransfer& transfer)
      : loop_(loop), threads_(threads), store_(store), transfer_(transfer) {}

  void CheckRoom(std::uint64_t bytes, std::function<void(const absl::Status&)> done) override;
  void Settle(JobId job, const proto::CheckpointStored& written,
              std::function<void(const absl::StatusOr<proto::CheckpointStored>&)> done) override;
  absl::StatusOr<std::vector<proto::StoredJob>> List() override { return store_.List(); }
  void Discard(JobId job, std::uint64_t checkpoint, std::function<void()> done) override;
  void Release(JobId job, std::uint64_t checkpoint, std::function<void()> done) override;
  void Keep(JobId job, const std::vector<std::uint64_t>& checkpoints,
            std::function<void()> done) override;
  void Copy(const proto::CopyCheckpoint& order, const std::vector<std::uint32_t>& pids,
            std::function<void(const absl::Status&)> done) override;

 private:
  EventLoop& loop_;
  NodeThreads& threads_;
  ImageStore& store_;
  ImageTransfer& transfer_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_STORED_CHECKPOINTS_H_
