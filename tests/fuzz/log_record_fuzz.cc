// Fuzzes the decoder of a job's log file, which a torn write or a bad disk may have changed. Little
// gets past its checksum: so the input is also tried with the right one.
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "coordinator/output/log_record.h"
#include "net/frame_check.h"

namespace bspnow {
namespace {

using coordinator::DecodeLogRecord;
using coordinator::EncodeLogRecord;
using coordinator::LogRecordHeader;

void Decode(const std::string& bytes) {
  const auto decoded = DecodeLogRecord(bytes);
  if (!decoded.ok() || !decoded->has_value()) return;
  BSP_CHECK_OP((*decoded)->bytes, <=, bytes.size());
  BSP_CHECK(EncodeLogRecord((*decoded)->record) == bytes.substr(0, (*decoded)->bytes));
}

void Repair(std::string& bytes) {
  LogRecordHeader header;
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.text_bytes = static_cast<std::uint32_t>(bytes.size() - sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  header.crc32c = Crc32c(0, std::as_bytes(std::span(bytes)).subspan(sizeof header.crc32c));
  std::memcpy(bytes.data(), &header, sizeof header);
}

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  std::string text(reinterpret_cast<const char*>(data), bytes);
  bspnow::Decode(text);
  bspnow::Repair(text);
  bspnow::Decode(text);
  return 0;
}
