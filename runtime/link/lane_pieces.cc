#include "runtime/link/lane_pieces.h"

#include <algorithm>

namespace bspnow {

std::uint32_t PartsOfLaneFrame(const Segment& segment, std::uint32_t host, unsigned parity,
                               iovec (&parts)[kLanePartsMax]) {
  LaneArea& area = segment.lanes();
  std::byte* const frame = area.out[host][parity];
  const LanePieces& pieces = area.pieces[host][parity];
  const std::size_t bytes =
      std::clamp<std::size_t>(ReadOnce(reinterpret_cast<const LaneFrame*>(frame)->bytes),
                              sizeof(LaneFrame), kLaneFrameBytesMax);
  const std::uint32_t piece_count = std::min(ReadOnce(pieces.count), kLanePiecesMax);
  std::uint32_t count = 0;
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < piece_count; ++i) {
    const LanePiece& piece = pieces.of[i];
    const std::size_t begin = ReadOnce(piece.at);
    const std::size_t length = ReadOnce(piece.bytes);
    std::byte* const records = segment.Find(ReadOnce(piece.offset), length);
    if (begin < at || begin > bytes || length > bytes - begin || records == nullptr) break;
    if (begin != at) parts[count++] = {.iov_base = frame + at, .iov_len = begin - at};
    parts[count++] = {.iov_base = records, .iov_len = length};
    at = begin + length;
  }
  if (at != bytes) parts[count++] = {.iov_base = frame + at, .iov_len = bytes - at};
  return count;
}

}  // namespace bspnow
