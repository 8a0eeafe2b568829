// Moves images between nodes: copies to the partner when a checkpoint is taken, and everything that
// a node needs for a restore. Waits for disks and peers, so it runs on work threads.
#ifndef WORKER_CHECKPOINT_IMAGE_TRANSFER_H_
#define WORKER_CHECKPOINT_IMAGE_TRANSFER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "proto/workers.pb.h"
#include "worker/checkpoint/image_store.h"
#include "worker/checkpoint/images_stub.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {

/// The files of checkpoints that one node copies to another.
struct ImageCopy {
  JobId job;
  std::vector<std::uint64_t> chain;  ///< Checkpoints, oldest first.
  std::vector<std::uint32_t> pids;   ///< That live here.
  std::uint32_t files_pid;           ///< The lowest of them.
  std::string to_node;               ///< For messages.
  std::string to_address;
};

/// What a node needs to put its processes back, verified.
struct CollectedImages {
  std::map<std::uint32_t, std::vector<std::string>> images;  ///< Paths by pid, oldest first.
  std::map<std::uint32_t, std::string> files;                ///< Paths of archives, by files_pid.
  std::vector<std::string> notes;      ///< What was damaged here and taken from elsewhere.
  std::vector<std::uint32_t> missing;  ///< Pids of which no holder has an undamaged image.
  std::string reason;                  ///< Why they cannot be put back here; empty: they can.
  absl::Status whole_files{};          ///< Whether all archives are here, though images are not.
};

/// What a restore waits for, to be stopped: the one without the other.
struct RestoreCalls {
  OpenCalls& files;
  OpenCalls& images;
};

class ImageTransfer {
 public:
  ImageTransfer(ImageStore& store, const RpcCredentials& credentials)
      : store_(store), stub_(credentials) {}

  /// Sends the other node the files that it lacks. They are durable there when this returns.
  absl::Status Copy(const ImageCopy& copy);

  /// Takes what these pids need from this node's store, else from the holders in their order: the
  /// files first. Stop of `restore` breaks it off, soon but for a file that is being verified.
  CollectedImages Collect(JobId job, const proto::Resume& resume,
                          const std::vector<std::uint32_t>& pids, const RestoreCalls& restore);

  /// Cancels all transfers, and those that are started later. From any thread.
  void Stop() { stub_.Stop(); }

 private:
  /// What a node needs to have to hold the copy.
  struct Needed {
    std::set<std::string> of_checkpoints;  ///< Images and archives.
    std::set<std::string> texts;
  };
  absl::StatusOr<Needed> NeededFor(const ImageCopy& copy) const;
  absl::Status PutMissing(const ImageCopy& copy, const std::set<std::string>& names);

  ImageStore& store_;
  ImagesStub stub_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGE_TRANSFER_H_
