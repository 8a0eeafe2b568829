// The cluster to which the images below a directory belong: the file `cluster` in that directory
// holds the id from the coordinator's journal and, in two more lines, term and key of the newest
// coordinator that was obeyed here. The note is written before the first image of the cluster, and
// stands beside the images so that both always move together. A coordinator of another cluster, or
// one that was replaced, does not know these jobs and would have their images removed. See
// "Clusters" in docs/design.md.
#ifndef WORKER_CHECKPOINT_CLUSTER_NOTE_H_
#define WORKER_CHECKPOINT_CLUSTER_NOTE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <mutex>
#include <shared_mutex>
#include <string>

#include "proto/workers.pb.h"
#include "worker/core/known_coordinator.h"

namespace bspnow::worker {

/// All calls may come from any thread.
class ClusterNote {
 public:
  explicit ClusterNote(const std::string& directory) : directory_(directory) {}

  /// Reads the note from the disk; without a cluster if there is none. A read error is not an empty
  /// note.
  absl::StatusOr<KnownCoordinator> Read();

  /// Durable when it returns.
  absl::Status Write(const KnownCoordinator& known);

  /// Whether Write would succeed now.
  absl::Status CheckRoom() const;

  /// The id that was last read or written.
  std::string cluster() const;

  /// What the coordinator answered to a registration that had this note. OK: the note is `reply`'s
  /// now. FAILED_PRECONDITION, and nothing has changed: what is kept here is another cluster's, or
  /// this coordinator has been replaced.
  /// UNAVAILABLE: it could not be written; see CheckRoom.
  absl::Status Join(const proto::RegisterRequest& request, const proto::RegisterReply& reply);

  /// For who adds something of a cluster, from the look at cluster() until that is listed here.
  [[nodiscard]] std::shared_lock<std::shared_mutex> Stay() const {
    return std::shared_lock(belonging_);
  }
  /// For who may join another cluster, from the list of what is kept here until Join has returned.
  [[nodiscard]] std::unique_lock<std::shared_mutex> BeginJoin() const {
    return std::unique_lock(belonging_);
  }

 private:
  std::string path() const { return directory_ + "/cluster"; }
  void Remember(const KnownCoordinator& known);

  const std::string directory_;
  mutable std::shared_mutex belonging_;  ///< Taken before mutex_.
  mutable std::mutex mutex_;
  KnownCoordinator known_;  ///< Guarded by mutex_.
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_CLUSTER_NOTE_H_
