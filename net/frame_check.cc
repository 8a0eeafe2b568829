#include "net/frame_check.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <isa-l/crc.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace bspnow {
namespace {

constexpr std::array<const char*, kFrameFaults> kFaultNames = {
    "none",      "bad_magic", "bad_version", "bad_header_crc", "bad_payload_crc", "too_long",
    "malformed", "bad_proof", "in_clear",    "bad_tls",        "no_proof",        "bad_job_proof"};
constexpr std::uint16_t kFirstKind = static_cast<std::uint16_t>(FrameKind::kHello);
constexpr std::uint16_t kLastKind = static_cast<std::uint16_t>(FrameKind::kJobProof);

std::uint32_t HeaderCrc(const FrameHeader& header) {
  constexpr std::size_t kBefore = offsetof(FrameHeader, header_crc32c);
  constexpr std::size_t kAfter = kBefore + sizeof header.header_crc32c;
  return Crc32c(Crc32c(0, BytesOf(header).first(kBefore)), BytesOf(header).subspan(kAfter));
}

}  // namespace

const char* FaultName(FrameFault fault) { return kFaultNames[static_cast<std::size_t>(fault)]; }

const char* FaultText(FrameFault fault) {
  switch (fault) {
    case FrameFault::kBadProof:
      return "does not prove the key";
    case FrameFault::kInClear:
      return "speaks in clear, and the streams of this cluster are encrypted (bsp-coordinator "
             "--data-tls): it has to register anew, or is of a version that cannot encrypt";
    case FrameFault::kBadTls:
      return "TLS without the cluster's key, or changed on its way";
    case FrameFault::kNoProof:
      return "no proof in time";
    case FrameFault::kBadJobProof:
      return "does not prove the key of the job";
    default:
      return FaultName(fault);
  }
}

std::string ReasonIn(std::span<const std::byte> payload) {
  const std::size_t bytes = std::min(payload.size(), kReasonBytesMax);
  return absl::CHexEscape({reinterpret_cast<const char*>(payload.data()), bytes});
}

absl::Status FaultStatus(FrameFault fault) {
  if (fault == FrameFault::kNone) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("frame refused: ", FaultText(fault)));
}

std::uint32_t Crc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
  if (bytes.empty()) return crc;
  // isa-l takes a mutable pointer and an int, and inverts neither before nor after.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~crc);
}

void SealFrame(FrameHeader& header, std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  std::uint32_t crc = 0;
  std::uint32_t prefix_crc = 0;
  for (const iovec& piece : pieces) {
    std::span<const std::byte> rest = PieceBytes(piece);
    if (bytes < kFramePrefixBytes) {
      const auto prefix = rest.first(std::min(rest.size(), kFramePrefixBytes - bytes));
      crc = prefix_crc = Crc32c(crc, prefix);
      rest = rest.subspan(prefix.size());
    }
    if (!IsTrusted(header)) crc = Crc32c(crc, rest);
    bytes += piece.iov_len;
    BSP_CHECK_OP(bytes, <=, kFramePayloadBytesMax);
  }
  header.magic = kFrameMagic;
  header.version = kFrameVersion;
  header.payload_bytes = static_cast<std::uint32_t>(bytes);
  header.payload_crc32c = crc;
  header.prefix_crc32c = prefix_crc;
  header.header_crc32c = HeaderCrc(header);
}

void SealFrame(FrameHeader& header, std::span<const std::byte> payload) {
  const iovec piece = PieceOf(payload);
  SealFrame(header, std::span(&piece, 1));
}

FrameFault CheckHeader(const FrameHeader& header) {
  if (header.magic != kFrameMagic) return FrameFault::kBadMagic;
  if (header.version != kFrameVersion) return FrameFault::kBadVersion;
  if (header.header_crc32c != HeaderCrc(header)) return FrameFault::kBadHeaderCrc;
  if (header.payload_bytes > kFramePayloadBytesMax) return FrameFault::kTooLong;
  if (header.kind < kFirstKind || header.kind > kLastKind) return FrameFault::kMalformed;
  return FrameFault::kNone;
}

FrameFault CheckPrefix(const FrameHeader& header, std::span<const std::byte> prefix) {
  BSP_CHECK_OP(prefix.size(), ==, std::min<std::size_t>(kFramePrefixBytes, header.payload_bytes));
  return Crc32c(0, prefix) == header.prefix_crc32c ? FrameFault::kNone : FrameFault::kBadPayloadCrc;
}

FrameFault CheckPayload(const FrameHeader& header, std::span<const std::byte> payload) {
  BSP_CHECK_OP(payload.size(), ==, header.payload_bytes);
  const auto summed = payload.first(
      std::min(payload.size(), IsTrusted(header) ? kFramePrefixBytes : payload.size()));
  return Crc32c(0, summed) == header.payload_crc32c ? FrameFault::kNone
                                                    : FrameFault::kBadPayloadCrc;
}

}  // namespace bspnow
