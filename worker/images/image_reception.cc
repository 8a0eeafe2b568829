#include "worker/images/image_reception.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <utility>

#include "base/failpoint.h"

namespace bspnow {

ImageReception::ImageReception(ImageStore& store, JobId job, std::string name, std::uint64_t bytes,
                               DurableFile file)
    : store_(store), job_(job), name_(std::move(name)), bytes_(bytes), file_(std::move(file)) {}

ImageReception::~ImageReception() { store_.Unreserve(bytes_ - file_.bytes()); }

absl::Status ImageReception::Append(std::string_view bytes) {
  if (bytes.size() > bytes_ - file_.bytes())
    return absl::InvalidArgumentError(absl::StrCat(name_, " is longer than was said"));
  if (absl::Status written = file_.Append(bytes); !written.ok()) return written;
  store_.Unreserve(bytes.size());
  return absl::OkStatus();
}

absl::Status ImageReception::Commit(Durability durability) {
  if (file_.bytes() != bytes_)
    return absl::DataLossError(
        absl::StrCat(file_.bytes(), " of ", bytes_, " bytes of ", name_, " came"));
  const auto right = store_.VerifyAs(job_, name_, file_.temporary_name());
  if (!right.ok()) return right.status();
  const bool syncs = durability == Durability::kSynced;
  absl::Status kept = syncs ? FailpointStatus("worker.image.before_sync") : absl::OkStatus();
  if (kept.ok()) kept = file_.Commit(name_, durability);
  if (kept.ok() && syncs) kept = SyncDirectory(store_.settings_.root);
  if (!kept.ok() && file_.renamed()) unlink(store_.PathOf(job_, name_).c_str());
  return kept;
}

}  // namespace bspnow
