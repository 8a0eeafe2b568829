// What a node needs before the processes of a job can go on from a checkpoint: their images, all
// checksums verified, a processor that can run them, and the files of the job's directory. Waits
// for disks and peers: for work threads.
#ifndef WORKER_JOB_CHECKPOINT_RESTORE_H_
#define WORKER_JOB_CHECKPOINT_RESTORE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "proto/host.pb.h"
#include "proto/workers.pb.h"
#include "worker/checkpoint/image_transfer.h"

namespace bspnow::worker {

struct RestoreOrder {
  JobId job;
  const proto::Resume& resume;
  std::vector<std::uint32_t> pids;        ///< Of this node, ascending.
  std::string directory;                  ///< The job's, as it is at a start.
  std::vector<std::string> cpu_features;  ///< All that the processes may use; none: everything.
  /// Gives up what is idle on the disk, for so many bytes; false: there is nothing more.
  std::function<bool(std::uint64_t)> make_room{};
};

struct PreparedRestore {
  /// All pids of the order; those that took no part begin in main.
  std::vector<proto::HostedProcess> processes{};
  /// With a reason: nothing can be started. The pids are those whose images are not to be had.
  proto::RestoreFailed failed{};
  std::string not_brought{};  ///< Why the files are not all there; empty: they are.
};

/// Puts the files where they were, collects the images, and checks them against this machine. What
/// this node's processes print goes on where `resume` says. The files may all be there though
/// images are not, or are not waited for.
PreparedRestore PrepareRestore(const RestoreOrder& order, ImageTransfer& transfer,
                               ImageStore& store, const RestoreCalls& calls);

}  // namespace bspnow::worker

#endif  // WORKER_JOB_CHECKPOINT_RESTORE_H_
