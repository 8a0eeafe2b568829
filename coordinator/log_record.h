// One record of a job's log, and its bytes in the file.
#ifndef COORDINATOR_LOG_RECORD_H_
#define COORDINATOR_LOG_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

namespace bspnow {

enum class LogOrigin : std::uint32_t {
  kStdout = 1,
  kStderr = 2,
  kLauncher = 3,  ///< The service's own words.
};

struct LogRecord {
  std::uint32_t pid;  ///< 0 with kLauncher.
  LogOrigin origin;
  std::string text;  ///< At most kLogTextBytesMax.
};

inline constexpr std::size_t kLogTextBytesMax = std::size_t{1} << 20;

/// Before each text in the file; integers little-endian.
struct LogRecordHeader {
  std::uint32_t crc32c;  ///< Of every byte after this field, text included.
  std::uint32_t pid;
  std::uint32_t origin;
  std::uint32_t text_bytes;
};
static_assert(sizeof(LogRecordHeader) == 16, "the file has no padding");

/// The bytes of a record.
std::string EncodeLogRecord(const LogRecord& record);

/// What the first bytes of a file, or of the rest of one, hold.
struct DecodedLogRecord {
  LogRecord record;
  std::size_t bytes;  ///< Of the file.
};

/// Nothing if `bytes` end before the record does; an error if no such record was ever written.
absl::StatusOr<std::optional<DecodedLogRecord>> DecodeLogRecord(std::string_view bytes);

/// How many bytes at the beginning of the file are whole records.
absl::StatusOr<std::uint64_t> WholeRecordBytes(int fd);

}  // namespace bspnow

#endif  // COORDINATOR_LOG_RECORD_H_
