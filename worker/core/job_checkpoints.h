// The checkpoints that one job takes on this node, from the order or the first report of bsp-host
// to the event that says how it went. On the loop's thread.
#ifndef WORKER_CORE_JOB_CHECKPOINTS_H_
#define WORKER_CORE_JOB_CHECKPOINTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "proto/workers.pb.h"
#include "worker/core/checkpoint_keeper.h"

namespace bspnow::worker {

class JobCheckpoints {
 public:
  /// `cpu_features`: all that the processes may use; none: everything. `report` is not called once
  /// this object is gone, nor is `set_room`, which gets the reason if there is no room for the next
  /// checkpoint, and an empty text when there is again.
  JobCheckpoints(JobId job, std::vector<std::string> cpu_features, CheckpointKeeper& keeper,
                 std::function<void(proto::WorkerEvent)> report,
                 std::function<void(const std::string&)> set_room)
      : job_(job),
        allowed_(std::move(cpu_features)),
        keeper_(keeper),
        report_(std::move(report)),
        set_room_(std::move(set_room)) {}

  /// In advance: nobody waits for a disk at a barrier.
  void LookForRoom();

  /// The checkpoint was given up: what was written of it is removed once nobody writes any more.
  void GiveUp(std::uint64_t checkpoint);

  /// All images and the archive are written, and nothing of it is durable yet.
  void OnWritten(const proto::CheckpointStored& written);

  /// Nobody writes it any more.
  void OnFailed(const proto::CheckpointFailed& failed);

  /// Nobody writes any more, since nobody lives: what was not reported of the checkpoint that was
  /// ordered last is removed.
  void OnHostGone(std::uint64_t ordered);

 private:
  void OnSettled(const proto::CheckpointStored& stored);
  void Discard(std::uint64_t checkpoint, const std::string& reason);
  void ReportFailed(std::uint64_t checkpoint, const std::string& reason);
  bool MayUse(const std::string& cpu_feature) const;

  const JobId job_;
  const std::vector<std::string> allowed_;
  CheckpointKeeper& keeper_;
  const std::function<void(proto::WorkerEvent)> report_;
  const std::function<void(const std::string&)> set_room_;
  std::string no_room_;               ///< As set_room_ got it last.
  std::uint64_t largest_bytes_ = 0;   ///< Of one checkpoint, written here.
  std::uint64_t expected_bytes_ = 0;  ///< Of the next: after one that failed it is whole.
  std::uint64_t finished_ = 0;        ///< The last that is no longer being written.
  std::uint64_t given_up_ = 0;        ///< The last that nobody wants.
  const std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_JOB_CHECKPOINTS_H_
