#include "worker/checkpoint/cluster_note.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/durable_file.h"
#include "base/unique_fd.h"

namespace bspnow::worker {
namespace {

constexpr std::size_t kNoteBytesMax = 256;

absl::Status Failed(const char* what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", path));
}

}  // namespace

absl::StatusOr<std::string> ClusterNote::Read() {
  const UniqueFd file(open(path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() && errno != ENOENT) return Failed("opening", path());
  std::string note(kNoteBytesMax, '\0');
  const ssize_t n = file.valid() ? read(file.get(), note.data(), note.size()) : 0;
  if (n < 0) return Failed("reading", path());
  note.resize(static_cast<std::size_t>(n));
  note.resize(std::min(note.find('\n'), note.size()));
  if (file.valid() && note.empty())
    return absl::DataLossError(
        absl::StrCat(path(), " is empty; remove it if the images beside it are of this cluster"));
  Remember(note);
  return note;
}

absl::Status ClusterNote::Write(const std::string& cluster) {
  if (absl::Status s = ReplaceFile(path(), cluster + "\n"); !s.ok()) return s;
  Remember(cluster);
  return absl::OkStatus();
}

void ClusterNote::Remember(const std::string& cluster) {
  const std::lock_guard lock(mutex_);
  cluster_ = cluster;
}

std::string ClusterNote::cluster() const {
  const std::lock_guard lock(mutex_);
  return cluster_;
}

// The coordinator makes the same check. The worker repeats it, because a mistake would cost images.
absl::Status ClusterNote::Join(const proto::RegisterRequest& request,
                               const proto::RegisterReply& reply) {
  if (request.cluster() == reply.cluster() && reply.worker() != 0) return absl::OkStatus();
  const bool keeps =
      request.stored_size() != 0 || request.held_size() != 0 || !request.images_share().empty();
  if (reply.worker() != 0 && (request.cluster().empty() || !keeps)) return Write(reply.cluster());
  return absl::FailedPreconditionError(absl::StrCat(
      "it is the coordinator of cluster ", reply.cluster(), ", but checkpoints of ",
      request.stored_size(), " jobs and ", request.held_size(), " running jobs of cluster ",
      request.cluster(), " are kept here; start the coordinator with the --state-dir that it had, ",
      "or remove ", path(), " to join the new cluster and give up all of them"));
}

}  // namespace bspnow::worker
