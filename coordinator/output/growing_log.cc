#include "coordinator/output/growing_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <absl/strings/str_cat.h>
#include "base/disk_room.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kReadAheadBytes = 256 << 10;
constexpr std::size_t kJoinedTextBytesMax = 64 << 10;

}  // namespace

absl::Status NotOpened(const std::string& path) {
  const int error = errno;
  const std::string text =
      absl::StrCat("opening ", path, LackOfInodes(error, path), ": ", strerror(error));
  const bool log_alone =
      error == EACCES || error == EPERM || error == ELOOP || error == ENOTDIR || error == EISDIR;
  return log_alone ? absl::PermissionDeniedError(text) : absl::ResourceExhaustedError(text);
}

std::shared_ptr<const UniqueFd> OpenLog(const std::string& path, int flags) {
  UniqueFd fd(open(path.c_str(), flags | O_APPEND | O_CLOEXEC, 0600));
  return fd.valid() ? std::make_shared<const UniqueFd>(std::move(fd)) : nullptr;
}

// ---- GrowingLog ---------------------------------------------------------------------------------

GrowingLog::Extent GrowingLog::extent() const {
  const std::lock_guard lock(mutex_);
  return extent_;
}

void GrowingLog::WhenChanged(const Extent& seen, const std::shared_ptr<const Changed>& changed) {
  {
    const std::lock_guard lock(mutex_);
    if (extent_.file == seen.file && extent_.bytes == seen.bytes && extent_.ended == seen.ended) {
      std::erase_if(waiting_, [](const auto& waiting) { return waiting.expired(); });
      waiting_.push_back(changed);
      return;
    }
  }
  (*changed)();
}

void GrowingLog::Set(Extent extent) {
  std::vector<std::weak_ptr<const Changed>> waiting;
  {
    const std::lock_guard lock(mutex_);
    extent_ = std::move(extent);
    waiting.swap(waiting_);
  }
  for (const auto& each : waiting) {
    if (const auto changed = each.lock()) (*changed)();
  }
}

// ---- LogReader ----------------------------------------------------------------------------------

// That there is no file is a job that has printed nothing.
absl::Status LogReader::Open() {
  if (std::exchange(to_open_, false)) {
    const auto file = OpenLog(log_->path(), O_RDONLY);
    if (!file) opened_ = absl::ErrnoToStatus(errno, absl::StrCat("opening ", log_->path()));
    struct stat status {};
    if (file && fstat(file->get(), &status) != 0)
      opened_ = absl::ErrnoToStatus(errno, absl::StrCat("looking at ", log_->path()));
    log_->Set({.file = file, .bytes = static_cast<std::uint64_t>(status.st_size), .ended = true});
  }
  if (!absl::IsNotFound(opened_)) return opened_;
  if (!file_required_) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("what the job printed is not kept any more (--keep-days and --user-bytes of the "
                   "coordinator), or is lost: there is no ",
                   log_->path()));
}

absl::StatusOr<LogReader::Next> LogReader::Read() {
  if (absl::Status opened = Open(); !opened.ok()) return opened;
  GrowingLog::Extent now = log_->extent();
  if (now.file != seen_.file) {  // The first file, or a shorter one in its place.
    taken_bytes_ = 0;
    ahead_.clear();
    ahead_taken_ = 0;
  }
  seen_ = std::move(now);
  const std::uint64_t begin = taken_bytes_;
  std::optional<LogRecord> joined;
  while (true) {
    auto next = Peek();
    // Records that are whole are handed out before the error that follows them.
    if (!next.ok() && !joined) return next.status();
    if (!next.ok() || !next->has_value()) break;
    LogRecord& more = (*next)->record;
    if (joined && (StreamOf(*joined) != StreamOf(more) ||
                   joined->offset + joined->text.size() != more.offset ||
                   joined->text.size() + more.text.size() > kJoinedTextBytesMax))
      break;
    Take((*next)->bytes);
    if (!TrimKnown(more)) {
      if (!joined && taken_bytes_ - begin >= kPassedOverBytesMax) return Again{};
      continue;
    }
    given_[StreamOf(more)] = more.offset + more.text.size();
    if (joined) {
      joined->text += more.text;
    } else {
      joined = std::move(more);
    }
  }
  if (joined) return *std::move(joined);
  if (seen_.ended) return End{};
  return NotYet{};
}

bool LogReader::TrimKnown(LogRecord& record) const {
  const auto given = given_.find(StreamOf(record));
  if (given == given_.end() || given->second <= record.offset) return true;
  const std::uint64_t known = given->second - record.offset;
  if (known >= record.text.size()) return false;
  record.text.erase(0, known);
  record.offset += known;
  return true;
}

absl::StatusOr<std::optional<DecodedLogRecord>> LogReader::Peek() {
  while (true) {
    if (taken_bytes_ == 0 && Ahead().size() >= sizeof(LogFileHeader)) {
      if (absl::Status checked = CheckLogFileHeader(Ahead()); !checked.ok())
        return Damaged(checked);
      Take(sizeof(LogFileHeader));
    }
    if (taken_bytes_ > 0) {
      auto decoded = DecodeLogRecord(Ahead());
      if (!decoded.ok()) return Damaged(decoded.status());
      if (decoded->has_value()) return decoded;
    }
    if (taken_bytes_ + Ahead().size() >= seen_.bytes) return std::nullopt;
    if (absl::Status filled = Fill(); !filled.ok()) return filled;
  }
}

void LogReader::Take(std::size_t bytes) {
  ahead_taken_ += bytes;
  taken_bytes_ += bytes;
}

absl::Status LogReader::Fill() {
  ahead_.erase(0, std::exchange(ahead_taken_, 0));  // Once for all records that were in it.
  const std::uint64_t from = taken_bytes_ + ahead_.size();
  const std::size_t had = ahead_.size();
  ahead_.resize(had + std::min(kReadAheadBytes, seen_.bytes - from));
  const ssize_t n =
      pread(seen_.file->get(), ahead_.data() + had, ahead_.size() - had, static_cast<off_t>(from));
  ahead_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", log_->path()));
  if (n == 0) return absl::DataLossError(absl::StrCat(log_->path(), " has become shorter"));
  return absl::OkStatus();
}

absl::Status LogReader::Damaged(const absl::Status& how) const {
  return absl::DataLossError(
      absl::StrCat(log_->path(), " is damaged at byte ", taken_bytes_, ": ", how.message()));
}

}  // namespace bspnow::coordinator
