#include "coordinator/output/log_record.h"

#include <errno.h>
#include <isa-l/crc.h>
#include <string.h>
#include <unistd.h>

#include <absl/strings/str_cat.h>
#include "base/check.h"
#include "base/failpoint.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
static_assert(kReadBytes > 0 && kLogTextBytesMax < UINT32_MAX - sizeof(LogRecordHeader));

std::uint32_t Crc32c(std::string_view bytes) {
  // isa-l takes a pointer to what it does not change.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  return crc32_iscsi(data, static_cast<int>(bytes.size()), 0xffffffff);
}

bool KnownOrigin(std::uint32_t origin) {
  return origin >= static_cast<std::uint32_t>(LogOrigin::kStdout) &&
         origin <= static_cast<std::uint32_t>(LogOrigin::kLauncher);
}

}  // namespace

std::string EncodeLogRecord(const LogRecord& record) {
  BSP_CHECK_OP(record.text.size(), <=, kLogTextBytesMax);
  LogRecordHeader header{.crc32c = 0,
                         .pid = record.pid,
                         .origin = static_cast<std::uint32_t>(record.origin),
                         .text_bytes = static_cast<std::uint32_t>(record.text.size()),
                         .offset = record.offset};
  std::string bytes(sizeof(header) + record.text.size(), '\0');
  memcpy(bytes.data(), &header, sizeof(header));
  memcpy(bytes.data() + sizeof(header), record.text.data(), record.text.size());
  header.crc32c = Crc32c(std::string_view(bytes).substr(sizeof(header.crc32c)));
  memcpy(bytes.data(), &header.crc32c, sizeof(header.crc32c));
  return bytes;
}

absl::StatusOr<std::optional<DecodedLogRecord>> DecodeLogRecord(std::string_view bytes) {
  LogRecordHeader header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  memcpy(&header, bytes.data(), sizeof(header));
  if (header.text_bytes > kLogTextBytesMax || !KnownOrigin(header.origin))
    return absl::DataLossError("no record begins here");
  const std::size_t record_bytes = sizeof(header) + header.text_bytes;
  if (bytes.size() < record_bytes) return std::nullopt;
  const std::string_view covered =
      bytes.substr(sizeof(header.crc32c), record_bytes - sizeof(header.crc32c));
  if (Crc32c(covered) != header.crc32c) return absl::DataLossError("a record's CRC is wrong");
  return DecodedLogRecord{
      .record = {.pid = header.pid,
                 .origin = static_cast<LogOrigin>(header.origin),
                 .offset = header.offset,
                 .text = std::string(bytes.substr(sizeof(header), header.text_bytes))},
      .bytes = record_bytes};
}

std::string EncodeLogFileHeader() {
  const LogFileHeader header{.magic = kLogMagic, .version = kLogVersion, .reserved = 0};
  std::string bytes(sizeof(header), '\0');
  memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

absl::Status CheckLogFileHeader(std::string_view bytes) {
  LogFileHeader header;
  if (bytes.size() < sizeof(header)) return absl::DataLossError("its header is torn");
  memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kLogMagic)
    return absl::DataLossError("it does not begin as a log; was it written by an older version?");
  if (header.version == kLogVersion) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("it has version ", header.version, ", and this program ",
                                          "reads version ", kLogVersion));
}

absl::StatusOr<std::uint64_t> ForEachLogRecord(
    int fd, const std::function<absl::Status(const LogRecord& record)>& visit) {
  std::uint64_t whole = 0;
  std::string bytes;
  while (true) {
    const std::size_t had = bytes.size();
    bytes.resize(had + kReadBytes);
    const ssize_t n = pread(fd, bytes.data() + had, kReadBytes, static_cast<off_t>(whole + had));
    if (absl::Status failed = FailpointStatus("coordinator.log.read"); !failed.ok()) return failed;
    if (n < 0) return absl::ErrnoToStatus(errno, "reading a log");
    bytes.resize(had + static_cast<std::size_t>(n));
    std::size_t taken = 0;
    if (whole == 0) {
      if (bytes.size() < sizeof(LogFileHeader)) return 0;
      if (absl::Status checked = CheckLogFileHeader(bytes); !checked.ok()) return checked;
      taken = sizeof(LogFileHeader);
    }
    while (true) {
      const auto decoded = DecodeLogRecord(std::string_view(bytes).substr(taken));
      if (!decoded.ok()) return whole + taken;
      if (!decoded->has_value()) break;
      if (absl::Status visited = visit((*decoded)->record); !visited.ok()) return visited;
      taken += (*decoded)->bytes;
    }
    bytes.erase(0, taken);
    whole += taken;
    if (n == 0) return whole;
  }
}

}  // namespace bspnow::coordinator
