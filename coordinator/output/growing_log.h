// One job's log as its readers see it: a file that grows, and that is replaced by a shorter one
// when the job goes back to a checkpoint.
#ifndef COORDINATOR_OUTPUT_GROWING_LOG_H_
#define COORDINATOR_OUTPUT_GROWING_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/unique_fd.h"
#include "coordinator/output/log_record.h"

namespace bspnow::coordinator {

/// Why a log cannot be opened, by errno. RESOURCE_EXHAUSTED is waited for, as the disk or
/// descriptors are what is missing; what is wrong with one log alone is not, since that would keep
/// a thread from the others.
absl::Status NotOpened(const std::string& path);

/// Appends, whatever else `flags` let it do; none: errno says why.
std::shared_ptr<const UniqueFd> OpenLog(const std::string& path, int flags);

/// Shared by JobLogs and the readers.
class GrowingLog {
 public:
  /// A file, the bytes of whole records in it (and of its header), and whether that is all. A
  /// replaced file lives on, unchanged, as long as somebody reads it.
  struct Extent {
    std::shared_ptr<const UniqueFd> file;  ///< None: nothing has been printed yet.
    std::uint64_t bytes = 0;
    bool ended = false;
  };

  explicit GrowingLog(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  Extent extent() const;

  using Changed = std::function<void()>;

  /// Calls `changed` once, when the log is another than `seen`: at once if it is so already, else
  /// by the thread that appends, unless it is gone by then.
  void WhenChanged(const Extent& seen, const std::shared_ptr<const Changed>& changed);

  /// By the thread that appends.
  void Set(Extent extent);

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  Extent extent_;  ///< Guarded by mutex_.
  /// Who leaves a log that does not change must not stay here. Guarded by mutex_.
  std::vector<std::weak_ptr<const Changed>> waiting_;
};

/// Reads one log from its beginning; used by one thread at a time. When the log is cut back it goes
/// on in the new file, and passes over what it has given out of each stream.
class LogReader {
 public:
  struct End {};     ///< There will never be more.
  struct NotYet {};  ///< WhenMore says when there is.
  struct Again {};   ///< It has passed over kPassedOverBytesMax: the caller may have other work.
  using Next = std::variant<LogRecord, NotYet, Again, End>;

  /// Of the file, in one call of Read: a follower that comes again may have seen all of a long log.
  static constexpr std::uint64_t kPassedOverBytesMax = std::uint64_t{1} << 20;

  /// Who opens the file: the thread that writes it; or, of a job that has ended, the first Read.
  enum class OpenedBy { kWriter, kReader };

  LogReader(std::shared_ptr<GrowingLog> log, OpenedBy opened_by)
      : log_(std::move(log)), to_open_(opened_by == OpenedBy::kReader) {}

  /// The job has printed something: that there is no file is an error, too.
  void RequireFile() { file_required_ = true; }

  /// Passes over what a follower has been given by an earlier reader.
  void PassOver(StreamEnds given) { given_ = std::move(given); }

  /// Neighbouring records of one stream come as one, as long as that stays small.
  absl::StatusOr<Next> Read();

  /// After NotYet. `more` is not called any more once this reader is gone, and so must not own it.
  void WhenMore(GrowingLog::Changed more) {
    waits_ = std::make_shared<const GrowingLog::Changed>(std::move(more));
    log_->WhenChanged(seen_, waits_);
  }

 private:
  /// The next record of the file; nothing at its present end.
  absl::StatusOr<std::optional<DecodedLogRecord>> Peek();
  absl::Status Fill();
  absl::Status Open();
  /// Bytes of the file after taken_bytes_, as far as they have been read.
  std::string_view Ahead() const { return std::string_view(ahead_).substr(ahead_taken_); }
  void Take(std::size_t bytes);
  /// Leaves what has not been given out yet; false if that is nothing.
  bool TrimKnown(LogRecord& record) const;
  absl::Status Damaged(const absl::Status& how) const;

  std::shared_ptr<GrowingLog> log_;
  bool to_open_;
  absl::Status opened_{};
  bool file_required_ = false;
  GrowingLog::Extent seen_;        ///< As far as the file is known here.
  std::uint64_t taken_bytes_ = 0;  ///< Of that file.
  std::string ahead_;              ///< Bytes of the file that were read ahead;
  std::size_t ahead_taken_ = 0;    ///< so many of them have been taken since.
  StreamEnds given_;               ///< How much of each stream was given out.
  std::shared_ptr<const GrowingLog::Changed> waits_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_OUTPUT_GROWING_LOG_H_
