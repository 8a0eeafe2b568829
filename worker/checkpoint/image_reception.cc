#include "worker/checkpoint/image_reception.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <optional>

#include "base/failpoint.h"
#include "worker/checkpoint/image_name.h"
#include "worker/host/account.h"

namespace bspnow::worker {

ImageReception::~ImageReception() {
  if (file_) store_.Unreserve(bytes_ - file_->bytes());
}

absl::Status ImageReception::Begin(const files::FileHead& head) {
  if (file_ || head.name != name_ || !ParseStoredName(name_))
    return absl::InvalidArgumentError(
        absl::StrCat("\"", head.name, "\" is no image, or not the one that is due"));
  if (absl::Status made = store_.MakeDirectory(job_); !made.ok()) return made;
  if (absl::Status room = store_.Reserve(head.bytes); !room.ok()) return room;
  const std::optional<Account> owner = OwnerOf(store_.DirectoryOf(job_));
  const FilesAs as(owner ? &*owner : nullptr);
  auto file = [this] {
    const std::lock_guard none_is_removed(store_.texts_);
    return DurableFile::Create(store_.DirectoryOf(job_),
                               absl::StrCat(name_, kBeingReceived.data()));
  }();
  bytes_ = head.bytes;
  if (file.ok()) file_.emplace(*std::move(file));
  if (!file.ok()) store_.Unreserve(head.bytes);
  return file.status();
}

absl::Status ImageReception::Append(std::string_view bytes) {
  if (!file_ || bytes.size() > bytes_ - file_->bytes())
    return absl::InvalidArgumentError(absl::StrCat(name_, " is longer than announced"));
  if (absl::Status written = file_->Append(bytes); !written.ok()) return written;
  store_.Unreserve(bytes.size());
  return absl::OkStatus();
}

absl::Status ImageReception::Finish() {
  if (!file_ || file_->bytes() != bytes_)
    return absl::DataLossError(
        absl::StrCat("not all of the ", bytes_, " bytes of ", name_, " came"));
  const auto right = store_.VerifyAs(job_, name_, file_->temporary_name());
  if (!right.ok()) return right.status();
  const bool syncs = durability_ == Durability::kSynced;
  absl::Status kept = syncs ? FailpointStatus("worker.image.before_sync") : absl::OkStatus();
  if (kept.ok()) kept = file_->Commit(name_, durability_);
  if (kept.ok() && syncs) kept = SyncDirectory(store_.settings_.root);
  if (!kept.ok() && file_->renamed()) unlink(store_.PathOf(job_, name_).c_str());
  return kept;
}

}  // namespace bspnow::worker
