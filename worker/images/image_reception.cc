#include "worker/images/image_reception.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "base/write_all.h"
#include "worker/images/image_name.h"

namespace bspnow {
namespace {

/// The disk begins to write long before the sync that waits for it.
constexpr std::uint64_t kWriteBehindBytes = 8 << 20;

}  // namespace

ImageReception::ImageReception(ImageStore& store, JobId job, std::string name, std::uint64_t bytes)
    : store_(store), job_(job), name_(std::move(name)), bytes_(bytes) {
  std::string path =
      store_.PathOf(job_, absl::StrCat(name_, std::string(kBeingReceived), "XXXXXX"));
  file_ = UniqueFd(mkostemp(path.data(), O_CLOEXEC));
  temporary_ = path.substr(path.rfind('/') + 1);
}

ImageReception::~ImageReception() {
  store_.Unreserve(bytes_ - received_bytes_);
  if (file_.valid()) unlink(store_.PathOf(job_, temporary_).c_str());
}

absl::Status ImageReception::Append(std::string_view bytes) {
  if (bytes.size() > bytes_ - received_bytes_)
    return absl::InvalidArgumentError(absl::StrCat(name_, " is longer than was said"));
  if (absl::Status written =
          WriteAll(file_.get(), bytes, absl::StrCat(name_, " to ", store_.DirectoryOf(job_)));
      !written.ok())
    return written;
  received_bytes_ += bytes.size();
  store_.Unreserve(bytes.size());
  if (received_bytes_ - written_behind_bytes_ >= kWriteBehindBytes) {
    sync_file_range(file_.get(), static_cast<off_t>(written_behind_bytes_),
                    static_cast<off_t>(received_bytes_ - written_behind_bytes_),
                    SYNC_FILE_RANGE_WRITE);
    written_behind_bytes_ = received_bytes_;
  }
  return absl::OkStatus();
}

absl::Status ImageReception::Commit(Durability durability) {
  if (received_bytes_ != bytes_)
    return absl::DataLossError(
        absl::StrCat(received_bytes_, " of ", bytes_, " bytes of ", name_, " came"));
  const auto right = store_.VerifyAs(job_, name_, temporary_);
  if (!right.ok()) return right.status();
  const bool syncs = durability == Durability::kSynced;
  absl::Status kept =
      syncs ? store_.Sync(file_.get(), store_.PathOf(job_, name_)) : absl::OkStatus();
  if (kept.ok()) kept = store_.Rename(job_, temporary_, name_);
  if (!kept.ok()) return kept;
  file_.Reset();
  if (syncs) kept = store_.SyncDirectory(job_);
  if (!kept.ok()) unlink(store_.PathOf(job_, name_).c_str());
  return kept;
}

}  // namespace bspnow
