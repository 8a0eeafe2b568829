#include "runtime/link/lane_frame.h"

#include <algorithm>

#include "runtime/link/crc32c.h"
#include "runtime/link/lane_entries.h"

namespace bspnow {
namespace {

constexpr std::size_t kCrcFrom = offsetof(LaneFrame, bytes);

bool IsChunk(const std::byte* at, std::uint32_t bytes) {
  if (bytes == 0) return true;
  const auto& chunk = *reinterpret_cast<const Chunk*>(at);
  return bytes > kChunkHeaderBytes && chunk.next == 0 && chunk.used_bytes == bytes;
}

}  // namespace

std::uint32_t CrcOfLaneFrame(const iovec* parts, std::uint32_t count) {
  std::uint32_t crc = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t before = i == 0 ? kCrcFrom : 0;
    crc = Crc32c(crc, static_cast<const std::byte*>(parts[i].iov_base) + before,
                 parts[i].iov_len - before);
  }
  return crc;
}

std::uint32_t CrcOfLaneFrame(const LaneFrame& frame) {
  const iovec whole{.iov_base = const_cast<LaneFrame*>(&frame), .iov_len = frame.bytes};
  return CrcOfLaneFrame(&whole, 1);
}

std::uint32_t CrcOfLongHead(const LaneFrame& frame) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&frame);
  return Crc32c(0, bytes + kCrcFrom, offsetof(LaneFrame, head_crc32c) - kCrcFrom);
}

LaneFrame HeadOfLaneFrame(const std::byte* bytes) {
  LaneFrame head = *reinterpret_cast<const LaneFrame*>(bytes);
  head.entries = head.votes = head.head_crc32c = 0;
  head.bytes = sizeof head;
  head.crc32c = CrcOfLaneFrame(head);
  return head;
}

std::uint32_t OriginOfLaneBytes(const LaneShape& shape, std::uint32_t by, const std::byte* bytes,
                                std::size_t count) {
  if (count < sizeof(LaneFrame)) return by;
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  if (frame.magic != kLaneMagic || frame.host >= shape.hosts || frame.host == shape.self) return by;
  const bool head = frame.entries == 0 && frame.votes == 0 && frame.bytes == sizeof frame;
  const bool same = frame.direct == kSameToAll && frame.bytes <= kSameBytesMax;
  return head || same ? frame.host : by;
}

LaneBytes LookAtLaneBytes(const LaneShape& shape, std::uint32_t host, const std::byte* bytes,
                          std::size_t count, std::uint32_t& frame_bytes) {
  if (count < sizeof(LaneFrame)) return LaneBytes::kMore;
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  if ((frame.magic != kLaneMagic && frame.magic != kLaneAnswersMagic) || frame.host != host ||
      frame.bytes < sizeof frame || frame.bytes > kLaneFrameBytesMax ||
      (frame.magic == kLaneAnswersMagic && frame.bytes > kLaneShortBytesMax) ||
      frame.bytes % kMessageAlign != 0)
    return LaneBytes::kDamaged;
  if (count < frame.bytes) return LaneBytes::kMore;
  frame_bytes = frame.bytes;
  return CheckLaneFrame(shape, bytes) ? LaneBytes::kWhole : LaneBytes::kDamaged;
}

bool CheckLaneFrame(const LaneShape& shape, const std::byte* bytes) {
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  if (CrcOfLaneFrame(frame) != frame.crc32c) return false;
  if (frame.entries > kLanePairsMax) return false;
  const auto lives = [&shape](std::uint32_t pid, std::uint32_t host) {
    if (pid >= shape.p) return false;
    return (shape.host_of != nullptr ? shape.host_of[pid] : shape.segment->cell(Pid{pid}).node) ==
           host;
  };
  if (frame.magic == kLaneAnswersMagic) {
    return ForEachLaneAnswers(bytes, [&](const LaneAnswers& answers, const std::byte*) {
      return lives(answers.source_pid, frame.host) && lives(answers.destination_pid, shape.self);
    });
  }
  const auto sound = [&](const LaneEntry& entry, const std::byte* chunks) {
    const std::byte* const gets = chunks + AlignedInLane(entry.puts_bytes);
    return lives(entry.source_pid, frame.host) && lives(entry.destination_pid, shape.self) &&
           IsChunk(chunks, entry.puts_bytes) && IsChunk(gets, entry.gets_bytes) &&
           IsChunk(gets + AlignedInLane(entry.gets_bytes), entry.messages_bytes);
  };
  return ForEachLaneEntry(bytes, sound) &&
         ForEachLaneVote(
             bytes, [&](const LaneVote& vote, const LanePush* pushes, const std::uint64_t*) {
               const LanePush* const end = pushes + vote.vote.pushes;
               return lives(vote.source_pid, frame.host) &&
                      std::all_of(pushes, end,
                                  [](const LanePush& push) { return push.slot < kSlotsMax; });
             });
}

}  // namespace bspnow
