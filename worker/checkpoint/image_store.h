// The images on this node (runtime/image/image_format.h): a directory ROOT/job-<JOB>/ for each job,
// readable by this user only. A file gets its final name only when it is complete, verified, and
// on the disk. A failed sync is never retried: the file is removed, and the checkpoint fails. All
// calls wait for the disk. They may come from any thread, but Settle, Discard and Keep of one job
// must not overlap. See "Checkpoints" in docs/design.md.
#ifndef WORKER_CHECKPOINT_IMAGE_STORE_H_
#define WORKER_CHECKPOINT_IMAGE_STORE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "files/file_chunks.h"
#include "proto/workers.pb.h"
#include "worker/checkpoint/cluster_note.h"
#include "worker/checkpoint/image_file.h"
#include "worker/checkpoint/images_token.h"

namespace bspnow::worker {

class ImageReception;

class ImageStore {
 public:
  enum class Sharing {
    kOwn,     ///< Only this worker uses the directory.
    kShared,  ///< Other workers write to the same directory.
  };

  struct Settings {
    std::string root;
    std::uint64_t quota_bytes;  ///< Of all that lies below root; 0: as much as there is room.
    Sharing sharing;
  };

  /// Makes the directory; what an earlier run of this worker did not finish is removed.
  static absl::StatusOr<std::unique_ptr<ImageStore>> Open(Settings settings);

  /// Use Open.
  explicit ImageStore(Settings settings)
      : settings_(std::move(settings)), cluster_note_(settings_.root) {}

  /// The cluster of the jobs whose images these are.
  ClusterNote& cluster_note() { return cluster_note_; }
  std::string cluster() const { return cluster_note_.cluster(); }
  /// With which workers of the cluster get at each other's images.
  ImagesToken& token() { return token_; }
  const ImagesToken& token() const { return token_; }

  // ---- Taking a checkpoint ----------------------------------------------------------------------

  /// The directory where the processes write NAME.new, with mode 0700. It may not exist yet.
  std::string DirectoryOf(JobId job) const;
  /// If it is not there.
  absl::Status MakeDirectory(JobId job) const;

  /// That in which it stands, if somebody has removed it. Others make that of the job then.
  void MakeRoot() const;
  /// Takes it back from the account that had it (worker/host/account.h), when none of the processes
  /// is left; removes it if nothing is in it. In a share other nodes may still write to it.
  void TakeBackDirectory(JobId job) const;

  /// Whether quota and disk allow this many more bytes; what is to stay free of the disk does.
  /// Called before a checkpoint begins.
  absl::Status CheckRoom(std::uint64_t bytes) const;

  /// Makes the files NAME.new durable: first the texts that these images need, then each file is
  /// verified, synced and renamed. Called when all processes here have reported. If anything fails,
  /// all files of the checkpoint on this node are removed.
  absl::Status Settle(JobId job, std::uint64_t checkpoint, const std::vector<std::string>& names);

  /// Removes the files of a checkpoint that was given up.
  void Discard(JobId job, std::uint64_t checkpoint);

  // ---- By order, which came after a list of what is here (List), and holds until the next.

  enum class ListNumber : std::uint64_t {};

  /// As Stored, for a registration. What was ordered after an earlier list removes nothing any
  /// more, not even the rest of what it has begun to remove.
  absl::StatusOr<std::vector<proto::StoredJob>> List();
  ListNumber last_list() const;

  /// As Discard, of a checkpoint that was reported.
  void Release(JobId job, std::uint64_t checkpoint, ListNumber ordered_after);

  /// Removes older checkpoints of the job that are not listed, and texts that no image needs any
  /// more. Without any checkpoint in the list, everything of the job goes.
  void Keep(JobId job, const std::vector<std::uint64_t>& checkpoints, ListNumber ordered_after);

  // ---- What is there ----------------------------------------------------------------------------

  /// Only of files that have their final name.
  absl::StatusOr<std::vector<std::string>> Names(JobId job) const;
  bool Has(JobId job, const std::string& name) const;
  absl::StatusOr<std::vector<proto::StoredJob>> Stored() const;
  std::uint64_t used_bytes() const;
  /// Of files that are being written, what they take of the disk on which that directory lies, too.
  std::uint64_t unfinished_bytes_beside(const std::string& directory) const;
  Sharing sharing() const { return settings_.sharing; }

  absl::StatusOr<UniqueFd> OpenToRead(JobId job, const std::string& name) const;

  absl::StatusOr<files::OutgoingFile> OpenToSend(JobId job, const std::string& name) const;

  /// Verifies all checksums of an image, an archive or a text.
  absl::Status Verify(JobId job, const std::string& name);

  /// Reads header and tables of an image, no pages.
  absl::StatusOr<ImageFacts> FactsOf(JobId job, const std::string& name) const;

  std::string PathOf(JobId job, const std::string& name) const;

 private:
  friend class ImageReception;

  /// Names in a directory; none if it is not there. All, or a failure.
  static absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& directory);
  /// As many as can be had: where one that is overlooked does no harm.
  static std::vector<std::string> AnyNamesIn(const std::string& directory);
  void TakeOver();
  void PutBackTexts();
  absl::Status TrySettle(JobId job, const std::vector<std::string>& names);
  absl::Status SettleText(JobId job, const std::string& name);
  absl::Status AwaitText(JobId job, const std::string& name);
  /// Whether `file` is what `name` says; the texts that it needs.
  absl::StatusOr<std::vector<std::string>> VerifyAs(JobId job, const std::string& name,
                                                    const std::string& file) const;
  /// Texts that no image needs. Those that one needs are put back.
  std::set<std::string> IdleTexts(JobId job);
  void RemoveTexts(JobId job, ListNumber ordered_after);
  /// False: another list was made since then.
  bool RemoveOrdered(const std::string& path, ListNumber ordered_after);
  /// A file whose sync has failed may look right until the machine restarts: it must be removed.
  absl::Status Sync(int file, const std::string& path) const;
  /// Syncs the name of the job's directory, too.
  absl::Status SyncDirectory(JobId job) const;
  absl::Status Rename(JobId job, const std::string& from, const std::string& name) const;
  /// For files that are being received: what is still to come.
  absl::Status Reserve(std::uint64_t bytes);
  void Unreserve(std::uint64_t bytes);

  const Settings settings_;
  ClusterNote cluster_note_;
  ImagesToken token_;
  /// Held while texts that no image needs are looked for and removed, and while a file that comes
  /// from another node begins: the file is seen there, or begins after they are gone.
  std::mutex texts_;
  mutable std::mutex removing_;  ///< Held while one file is removed by order.
  ListNumber last_list_{0};      ///< Guarded by removing_.
  mutable std::mutex mutex_;
  std::uint64_t reserved_bytes_ = 0;                        ///< Guarded by mutex_.
  std::set<std::pair<JobId, std::string>> verified_texts_;  ///< In this run. Guarded by mutex_.
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGE_STORE_H_
