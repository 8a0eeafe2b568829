// Sealing frames with their checksums, and checking received frames. A peer's bytes are never our
// bug: each check answers with the fault, which is counted, logged and sent to the peer.
#ifndef NET_FRAME_CHECK_H_
#define NET_FRAME_CHECK_H_

#include <absl/status/status.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "net/frame.h"

namespace bspnow {

/// What was wrong with a frame; the label of the counters of refused frames.
enum class FrameFault : std::uint8_t {
  kNone,
  kBadMagic,
  kBadVersion,
  kBadHeaderCrc,
  kBadPayloadCrc,
  kTooLong,
  kMalformed,    ///< Well sent, but it makes no sense there.
  kBadProof,     ///< Its sender does not prove the key.
  kInClear,      ///< Not encrypted, though the cluster's streams are.
  kBadTls,       ///< A handshake without the cluster's key, or a record that is not as it was sent.
  kNoProof,      ///< None came in time, on a connection that was taken.
  kBadJobProof,  ///< A batch whose sender has not proven the key of its job.
};

inline constexpr std::size_t kFrameFaults = 12;

/// "bad_magic" and so on.
const char* FaultName(FrameFault fault);

/// For the peer and the log: the name, or more than that.
const char* FaultText(FrameFault fault);

/// The reason in the payload of a kAbort, as far as anybody reads it, escaped for logs.
inline constexpr std::size_t kReasonBytesMax = 256;
std::string ReasonIn(std::span<const std::byte> payload);

/// OK for kNone, else DATA_LOSS with the fault's text.
absl::Status FaultStatus(FrameFault fault);

/// CRC32C of `bytes`, continuing from `crc` (0 at first).
std::uint32_t Crc32c(std::uint32_t crc, std::span<const std::byte> bytes);

/// Fills in what follows from the rest: magic, version, payload_bytes and the checksums.
/// Everything else is the caller's; the payload is the concatenation of `pieces`.
void SealFrame(FrameHeader& header, std::span<const iovec> pieces);
void SealFrame(FrameHeader& header, std::span<const std::byte> payload);

inline bool IsBatch(const FrameHeader& header) {
  return FrameKind{header.kind} == FrameKind::kBatch ||
         FrameKind{header.kind} == FrameKind::kTrustedBatch;
}
/// Whether the payload is checked no further than its prefix.
inline bool IsTrusted(const FrameHeader& header) {
  return FrameKind{header.kind} == FrameKind::kTrustedBatch;
}

/// The header alone: magic, version, checksum, length, kind.
FrameFault CheckHeader(const FrameHeader& header);

/// The first min(kFramePrefixBytes, payload_bytes) bytes of the payload.
FrameFault CheckPrefix(const FrameHeader& header, std::span<const std::byte> prefix);

/// The whole payload.
FrameFault CheckPayload(const FrameHeader& header, std::span<const std::byte> payload);

/// An empty header of this kind, to be filled in.
inline FrameHeader HeaderOf(FrameKind kind) { return {.kind = static_cast<std::uint16_t>(kind)}; }

inline std::span<const std::byte> PieceBytes(const iovec& piece) {
  return {static_cast<const std::byte*>(piece.iov_base), piece.iov_len};
}
inline iovec PieceOf(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

/// Bytes of any plain struct, for payloads.
template <typename T>
std::span<const std::byte> BytesOf(const T& body) {
  return std::as_bytes(std::span<const T, 1>(&body, 1));
}

}  // namespace bspnow

#endif  // NET_FRAME_CHECK_H_
