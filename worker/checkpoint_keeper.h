// What becomes of checkpoints on this node once they are written: made durable, copied, removed;
// one thing after the other for each job, on WorkThreads. Called, and calls back, on the loop's
// thread.
#ifndef WORKER_CHECKPOINT_KEEPER_H_
#define WORKER_CHECKPOINT_KEEPER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "net/event_loop.h"
#include "proto/workers.pb.h"
#include "worker/images/image_store.h"
#include "worker/images/image_transfer.h"
#include "worker/work_threads.h"

namespace bspnow {

/// What is known of images when they lie in the store.
struct SettledImages {
  std::uint64_t superstep = 0;  ///< That the processes went on with, as it is shown.
  bool of_areas = false;
  std::vector<std::string> cpu_features;  ///< Of the node, that code can depend on.
};

class CheckpointKeeper {
 public:
  CheckpointKeeper(EventLoop& loop, WorkThreads& threads, ImageStore& store,
                   ImageTransfer& transfer, std::function<void(proto::WorkerEvent)> report)
      : loop_(loop),
        threads_(threads),
        store_(store),
        transfer_(transfer),
        report_(std::move(report)) {}

  /// Whether so many more bytes may come: quota and free space.
  void CheckRoom(JobId job, std::uint64_t bytes, std::function<void(absl::Status)> checked);

  using Settled = std::function<void(const absl::StatusOr<SettledImages>&)>;

  /// Makes images and archive (these names) durable. If that fails all of it is removed.
  void Settle(JobId job, std::uint64_t checkpoint, std::vector<std::string> names, Settled settled);

  /// Removes what lies here of a checkpoint that was given up, unless it is one that is kept.
  void Discard(JobId job, std::uint64_t checkpoint, std::function<void()> discarded);

  void Keep(const proto::KeepCheckpoints& order);

  /// Gives another node the images of these pids, then reports CheckpointCopied. `pids` empty: of
  /// all whose images lie here.
  void Copy(const proto::CopyCheckpoint& order, std::vector<std::uint32_t> pids);

 private:
  using Done = std::function<void()>;
  /// Runs on one of the threads; what it returns is called on the loop's.
  using Work = std::function<Done()>;

  void Run(JobId job, Work work);
  void Begin(JobId job);

  EventLoop& loop_;
  WorkThreads& threads_;
  ImageStore& store_;
  ImageTransfer& transfer_;
  const std::function<void(proto::WorkerEvent)> report_;
  std::map<JobId, std::deque<Work>> waiting_;  ///< The first is under way.
  std::map<JobId, std::set<std::uint64_t>> kept_;
};

}  // namespace bspnow

#endif  // WORKER_CHECKPOINT_KEEPER_H_
