// The cluster to which the images below a directory belong: the file `cluster` in that directory
// holds the id from the coordinator's journal. The note is written before the first image of the
// cluster, and stands beside the images so that both always move together. A coordinator of another
// cluster knows none of these jobs and would have their images removed. See "Clusters" in
// docs/design.md.
#ifndef WORKER_CHECKPOINT_CLUSTER_NOTE_H_
#define WORKER_CHECKPOINT_CLUSTER_NOTE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <mutex>
#include <string>

#include "proto/workers.pb.h"

namespace bspnow::worker {

/// All calls may come from any thread.
class ClusterNote {
 public:
  explicit ClusterNote(const std::string& directory) : directory_(directory) {}

  /// Reads the note from the disk; empty if there is none. A read error is not an empty note.
  absl::StatusOr<std::string> Read();

  /// Durable when it returns.
  absl::Status Write(const std::string& cluster);

  /// The id that was last read or written.
  std::string cluster() const;

  /// Checks the coordinator's reply to a registration that contained this note. OK: the note now
  /// holds the reply's id. FAILED_PRECONDITION: the images here belong to another cluster, and
  /// nothing has changed.
  absl::Status Join(const proto::RegisterRequest& request, const proto::RegisterReply& reply);

 private:
  std::string path() const { return directory_ + "/cluster"; }
  void Remember(const std::string& cluster);

  const std::string directory_;
  mutable std::mutex mutex_;
  std::string cluster_;  ///< Guarded by mutex_.
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_CLUSTER_NOTE_H_
