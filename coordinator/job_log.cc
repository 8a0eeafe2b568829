#include "coordinator/job_log.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <absl/strings/str_cat.h>
#include "coordinator/durable_file.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kReadAheadBytes = 256 << 10;
constexpr std::size_t kJoinedTextBytesMax = 64 << 10;

bool SameOrigin(const LogRecord& a, const LogRecord& b) {
  return a.pid == b.pid && a.origin == b.origin;
}

}  // namespace

// ---- GrowingLog ---------------------------------------------------------------------------------

GrowingLog::Extent GrowingLog::extent() const {
  const std::lock_guard lock(mutex_);
  return extent_;
}

void GrowingLog::WhenGrown(std::uint64_t beyond, std::function<void()> grown) {
  {
    const std::lock_guard lock(mutex_);
    if (extent_.bytes <= beyond && !extent_.ended) {
      waiting_.push_back(std::move(grown));
      return;
    }
  }
  grown();
}

void GrowingLog::Grow(Extent extent) {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    extent_ = extent;
    waiting.swap(waiting_);
  }
  for (const auto& grown : waiting) grown();
}

// ---- LogReader ----------------------------------------------------------------------------------

absl::StatusOr<LogReader::Next> LogReader::Read() {
  const auto first = Peek();
  if (!first.ok()) return first.status();
  if (!first->has_value()) {
    const GrowingLog::Extent extent = log_->extent();
    if (extent.ended && taken_bytes_ >= extent.bytes) return End{};
    return NotYet{};
  }
  LogRecord record = (*first)->record;
  std::size_t bytes = (*first)->bytes;
  while (true) {
    const auto next = DecodeLogRecord(std::string_view(ahead_).substr(bytes));
    if (!next.ok() || !next->has_value()) break;
    const LogRecord& more = (*next)->record;
    if (!SameOrigin(record, more)) break;
    if (record.text.size() + more.text.size() > kJoinedTextBytesMax) break;
    record.text += more.text;
    bytes += (*next)->bytes;
  }
  ahead_.erase(0, bytes);
  taken_bytes_ += bytes;
  return record;
}

absl::StatusOr<std::optional<DecodedLogRecord>> LogReader::Peek() {
  const std::uint64_t file_bytes = log_->extent().bytes;
  while (true) {
    auto decoded = DecodeLogRecord(ahead_);
    if (!decoded.ok())
      return absl::DataLossError(absl::StrCat(log_->path(), " is damaged at byte ", taken_bytes_,
                                              ": ", decoded.status().message()));
    if (decoded->has_value() || taken_bytes_ + ahead_.size() >= file_bytes) return decoded;
    if (absl::Status filled = Fill(file_bytes); !filled.ok()) return filled;
  }
}

absl::Status LogReader::Fill(std::uint64_t file_bytes) {
  if (!fd_.valid()) fd_ = UniqueFd(open(log_->path().c_str(), O_RDONLY | O_CLOEXEC));
  const std::uint64_t from = taken_bytes_ + ahead_.size();
  const std::size_t had = ahead_.size();
  ahead_.resize(had + std::min(kReadAheadBytes, file_bytes - from));
  const ssize_t n =
      pread(fd_.get(), ahead_.data() + had, ahead_.size() - had, static_cast<off_t>(from));
  ahead_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", log_->path()));
  if (n == 0) return absl::DataLossError(absl::StrCat(log_->path(), " has become shorter"));
  return absl::OkStatus();
}

// ---- JobLogs ------------------------------------------------------------------------------------

JobLogs::JobLogs(const StateDirectory& state, std::uint64_t log_bytes_max)
    : state_(state), log_bytes_max_(log_bytes_max), writer_([this] { WriteQueued(); }) {}

JobLogs::~JobLogs() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  not_empty_.notify_one();
}

void JobLogs::Begin(JobId job) {
  auto log = std::make_shared<GrowingLog>(state_.log(job));
  const UniqueFd earlier(open(log->path().c_str(), O_RDWR | O_CLOEXEC));
  if (earlier.valid()) {
    const auto whole_bytes = WholeRecordBytes(earlier.get());
    if (whole_bytes.ok() && ftruncate(earlier.get(), static_cast<off_t>(*whole_bytes)) == 0)
      log->Grow({.bytes = *whole_bytes, .ended = false});
  }
  const std::lock_guard lock(mutex_);
  growing_[job] = {.log = std::move(log), .ending = false};
}

void JobLogs::Append(JobId job, LogRecord record, Done done) {
  const std::lock_guard lock(mutex_);
  const auto found = growing_.find(job);
  const bool takes = found != growing_.end() && !found->second.ending;
  queue_.push_back({.job = job,
                    .log = takes ? found->second.log : nullptr,
                    .record = std::move(record),
                    .done = std::move(done),
                    .ends = false});
  not_empty_.notify_one();
}

void JobLogs::End(JobId job) {
  const std::lock_guard lock(mutex_);
  const auto found = growing_.find(job);
  if (found == growing_.end() || found->second.ending) return;
  found->second.ending = true;
  queue_.push_back(
      {.job = job, .log = found->second.log, .record = {}, .done = nullptr, .ends = true});
  not_empty_.notify_one();
}

LogReader JobLogs::Read(JobId job) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = growing_.find(job);
    if (found != growing_.end()) return LogReader(found->second.log);
  }
  auto ended = std::make_shared<GrowingLog>(state_.log(job));
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(ended->path(), error);
  ended->Grow({.bytes = error ? 0 : bytes, .ended = true});
  return LogReader(std::move(ended));
}

void JobLogs::WriteQueued() {
  std::deque<Entry> taken;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      not_empty_.wait(
          lock, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      taken.swap(queue_);
    }
    for (Entry& entry : taken) Write(entry);
    taken.clear();
  }
}

void JobLogs::Write(Entry& entry) {
  if (entry.log == nullptr) {
    entry.done(absl::OkStatus());  // Of a job that has ended: nobody can read it any more.
    return;
  }
  if (entry.ends) {
    files_.erase(entry.job);
    entry.log->Grow({.bytes = entry.log->extent().bytes, .ended = true});
    const std::lock_guard lock(mutex_);
    growing_.erase(entry.job);
    return;
  }
  entry.done(WriteRecord(entry));
}

absl::Status JobLogs::WriteRecord(const Entry& entry) {
  const std::uint64_t had = entry.log->extent().bytes;
  const std::string bytes = EncodeLogRecord(entry.record);
  if (had + bytes.size() > log_bytes_max_ && entry.record.origin != LogOrigin::kLauncher)
    return absl::ResourceExhaustedError(
        absl::StrCat("the job has printed more than ", log_bytes_max_,
                     " bytes, which is the coordinator's --max-log-bytes"));
  const absl::StatusOr<int> fd = FileOf(entry.job, *entry.log);
  if (!fd.ok()) return fd.status();
  if (absl::Status written = WriteAll(*fd, bytes); !written.ok()) {
    // No half record stays behind; if that fails too, the next start cuts it.
    if (ftruncate(*fd, static_cast<off_t>(had)) != 0) files_.erase(entry.job);
    return absl::Status(written.code(), absl::StrCat(written.message(), " ", entry.log->path()));
  }
  entry.log->Grow({.bytes = had + bytes.size(), .ended = false});
  return absl::OkStatus();
}

absl::StatusOr<int> JobLogs::FileOf(JobId job, const GrowingLog& log) {
  const auto found = files_.find(job);
  if (found != files_.end()) return found->second.get();
  std::error_code error;
  std::filesystem::create_directories(state_.job(job), error);
  UniqueFd fd(open(log.path().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", log.path()));
  return files_.emplace(job, std::move(fd)).first->second.get();
}

}  // namespace bspnow
