#include "coordinator/rpc/left_files.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace bspnow::coordinator {

LeftFiles::LeftFiles(std::string directory, const proto::FetchFilesRequest& request)
    : directory_(std::move(directory)), request_(request) {}

absl::StatusOr<bool> LeftFiles::Next(proto::FileChunk& chunk, std::size_t bytes_max) {
  if (!listed_)
    if (absl::Status listed = List(); !listed.ok()) return listed;
  listed_ = true;
  if (!unlisted_.empty()) {
    const absl::Status why = absl::InternalError(unlisted_.back());
    unlisted_.pop_back();
    return Unread(why, chunk);
  }
  if (!file_ || file_->ended()) {
    if (next_ == files_.size()) return false;
    const files::StoredFile& file = files_[next_++];
    absl::StatusOr<files::OutgoingFile> opened = files::OutgoingFile::Open(file.path, file.name);
    file_.reset();
    if (!opened.ok()) return Unread(opened.status(), chunk);
    if (opened->sparse() && request_.holes()) opened->LeaveHoles();
    file_ = *std::move(opened);
  }
  chunk.clear_unread();  // Read leaves what else is there.
  const absl::Status read = file_->Read(chunk, bytes_max);
  if (read.ok()) return true;
  file_.reset();
  return Unread(read, chunk);
}

absl::Status LeftFiles::List() {
  if (request_.names().empty() && request_.unread()) {
    absl::StatusOr<files::FilesFound> found = files::FilesBelow(directory_);
    if (!found.ok()) return found.status();
    for (const auto& [what, why] : found->left_out)
      unlisted_.push_back(absl::StrCat(what, " below ", directory_, ": ", why));
    files_ = std::move(found->files);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<files::StoredFile>> listed =
      files::ListFiles(directory_, {request_.names().begin(), request_.names().end()});
  if (!listed.ok()) return listed.status();
  files_ = *std::move(listed);
  return absl::OkStatus();
}

absl::StatusOr<bool> LeftFiles::Unread(const absl::Status& why, proto::FileChunk& chunk) const {
  if (!request_.unread()) return why;
  chunk.Clear();
  chunk.set_unread(std::string(why.message()));
  return true;
}

}  // namespace bspnow::coordinator
