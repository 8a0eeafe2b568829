#include "worker/checkpoint/cluster_note.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "base/durable_file.h"
#include "base/unique_fd.h"

namespace bspnow::worker {
namespace {

constexpr std::size_t kNoteBytesMax = 256;

absl::Status Failed(const char* what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", path));
}

}  // namespace

absl::StatusOr<KnownCoordinator> ClusterNote::Read() {
  const UniqueFd file(open(path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() && errno != ENOENT) return Failed("opening", path());
  std::string note(kNoteBytesMax, '\0');
  const ssize_t n = file.valid() ? read(file.get(), note.data(), note.size()) : 0;
  if (n < 0) return Failed("reading", path());
  note.resize(static_cast<std::size_t>(n));
  const std::vector<std::string> lines = absl::StrSplit(note, '\n');
  KnownCoordinator known{.cluster = lines[0]};
  if (file.valid() && known.cluster.empty())
    return absl::DataLossError(
        absl::StrCat(path(), " is empty; remove it if the images beside it are of this cluster"));
  // Without a term it was written before terms were noted.
  if (lines.size() > 1 && !absl::SimpleAtoi(lines[1], &known.term)) known.term = 0;
  if (lines.size() > 2 && !absl::SimpleAtoi(lines[2], &known.term_key)) known.term_key = 0;
  const std::lock_guard lock(mutex_);
  // What could not be written counts all the same, as long as this worker runs.
  if (known.cluster == known_.cluster && known.term < known_.term) known = known_;
  known_ = known;
  return known;
}

absl::Status ClusterNote::Write(const KnownCoordinator& known) {
  if (absl::Status s = ReplaceFile(
          path(), absl::StrCat(known.cluster, "\n", known.term, "\n", known.term_key, "\n"));
      !s.ok())
    return s;
  Remember(known);
  return absl::OkStatus();
}

absl::Status ClusterNote::CheckRoom() const {
  const std::string trial = path() + ".room";
  absl::Status written = ReplaceFile(trial, std::string(kNoteBytesMax, '\n'));
  unlink(trial.c_str());
  return written;
}

void ClusterNote::Remember(const KnownCoordinator& known) {
  const std::lock_guard lock(mutex_);
  known_ = known;
}

std::string ClusterNote::cluster() const {
  const std::lock_guard lock(mutex_);
  return known_.cluster;
}

absl::Status ClusterNote::Join(const proto::RegisterRequest& request,
                               const proto::RegisterReply& reply) {
  KnownCoordinator before;
  {
    const std::lock_guard lock(mutex_);
    before = known_;
  }
  const absl::StatusOr<KnownCoordinator> now = CheckCoordinator(before, request, reply);
  if (!now.ok() && reply.cluster() != before.cluster) {
    return absl::FailedPreconditionError(
        absl::StrCat(now.status().message(), ", or remove ", path(),
                     " to join the new cluster and give up all of them"));
  }
  if (!now.ok()) return now.status();
  if (now->cluster == before.cluster && now->term == before.term &&
      now->term_key == before.term_key)
    return absl::OkStatus();
  const absl::Status written = Write(*now);
  if (now->cluster != before.cluster)
    return written.ok() ? written : absl::UnavailableError(written.message());
  // With a full disk it goes on under the new term: nothing is lost as long as it runs.
  Remember(*now);
  return absl::OkStatus();
}

}  // namespace bspnow::worker
