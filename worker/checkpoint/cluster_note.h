// Which cluster the jobs are of whose images lie below a directory: the file `cluster` there, with
// the id that the coordinator's journal has. It is written before anything of that cluster can come
// to lie there, and lies beside the images because it must go wherever they go. A coordinator of
// another cluster knows none of these jobs and would have them removed. See "Clusters" in
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

  /// From the disk; empty: there is no note. An error is no empty note.
  absl::StatusOr<std::string> Read();

  /// Durable when it returns.
  absl::Status Write(const std::string& cluster);

  /// As it was read or written last.
  std::string cluster() const;

  /// What the coordinator answered to a registration that had this note. OK: the note is `reply`'s
  /// now. FAILED_PRECONDITION, and nothing has changed: what is kept here is another cluster's.
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
