// One record of a job's log, and its bytes in the file.
#ifndef COORDINATOR_OUTPUT_LOG_RECORD_H_
#define COORDINATOR_OUTPUT_LOG_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace bspnow::coordinator {

enum class LogOrigin : std::uint32_t {
  kStdout = 1,
  kStderr = 2,
  kLauncher = 3,  ///< The service's own words.
};

struct LogRecord {
  std::uint32_t pid;  ///< 0 with kLauncher.
  LogOrigin origin;
  /// Of the text's first byte in all that this process wrote to this stream; kLauncher's lines are
  /// counted by the log itself.
  std::uint64_t offset = 0;
  std::string text;  ///< At most kLogTextBytesMax.
};

/// What one process wrote to one of its streams; or all of kLauncher's lines.
struct LogStream {
  std::uint32_t pid;
  LogOrigin origin;
  auto operator<=>(const LogStream&) const = default;
};

inline LogStream StreamOf(const LogRecord& record) { return {record.pid, record.origin}; }

/// How far each stream goes: bytes.
using StreamEnds = std::map<LogStream, std::uint64_t>;

/// How much a process had printed at a checkpoint.
struct LogPosition {
  std::uint32_t pid;
  std::uint64_t stdout_bytes;
  std::uint64_t stderr_bytes;
  /// It had left its job, and does not print again: what it printed later stays.
  bool left = false;
};

/// What a cut did; bytes of text.
struct LogCut {
  std::uint64_t dropped_bytes = 0;
  /// Were to stay, but are not there: the log was damaged, or lost. Then nothing has been cut.
  std::uint64_t missing_bytes = 0;
  StreamEnds kept{};  ///< How far each stream of a process goes now.
};

inline constexpr std::size_t kLogTextBytesMax = std::size_t{1} << 20;

/// First in the file; integers little-endian.
struct LogFileHeader {
  std::uint64_t magic;  ///< kLogMagic.
  std::uint32_t version;
  std::uint32_t reserved;
};
static_assert(sizeof(LogFileHeader) == 16, "the file has no padding");

inline constexpr std::uint64_t kLogMagic = 0x474f4c4f4e505342;  // "BSPNOLOG"
inline constexpr std::uint32_t kLogVersion = 2;

/// Before each text in the file.
struct LogRecordHeader {
  std::uint32_t crc32c;  ///< Of every byte after this field, text included.
  std::uint32_t pid;
  std::uint32_t origin;
  std::uint32_t text_bytes;
  std::uint64_t offset;  ///< LogRecord::offset.
};
static_assert(sizeof(LogRecordHeader) == 24, "the file has no padding");

/// The bytes of a record.
std::string EncodeLogRecord(const LogRecord& record);

/// What the first bytes of a file, or of the rest of one, hold.
struct DecodedLogRecord {
  LogRecord record;
  std::size_t bytes;  ///< Of the file.
};

/// Nothing if `bytes` end before the record does; an error if no such record was ever written.
absl::StatusOr<std::optional<DecodedLogRecord>> DecodeLogRecord(std::string_view bytes);

/// The bytes of the header, and whether a file begins with them: an error says what it is instead.
std::string EncodeLogFileHeader();
absl::Status CheckLogFileHeader(std::string_view bytes);

/// Hands out all whole records of a file from its beginning; returns their bytes and the header's,
/// or the error of `visit`. What a crash tore off at the end is passed over.
absl::StatusOr<std::uint64_t> ForEachLogRecord(
    int fd, const std::function<absl::Status(const LogRecord& record)>& visit);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_OUTPUT_LOG_RECORD_H_
