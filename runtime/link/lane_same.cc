#include "runtime/link/lane_same.h"

#include <cstring>

#include "runtime/link/lane_entries.h"

namespace bspnow {
namespace {

const LaneFrame& HeadOf(const std::byte* bytes) {
  return *reinterpret_cast<const LaneFrame*>(bytes);
}

const LaneEntry& EntryAt(const std::byte* at) { return *reinterpret_cast<const LaneEntry*>(at); }

// Of one node's frames to two others: but for the processes that their entries are for.
bool SayTheSame(const std::byte* one, const std::byte* other) {
  if (HeadOf(one).entries != HeadOf(other).entries || HeadOf(one).bytes != HeadOf(other).bytes)
    return false;
  std::size_t at = sizeof(LaneFrame);
  for (std::uint32_t i = 0; i < HeadOf(one).entries; ++i) {
    LaneEntry entry = EntryAt(one + at);
    entry.destination_pid = EntryAt(other + at).destination_pid;
    entry.more = EntryAt(other + at).more;
    if (memcmp(&entry, other + at, sizeof entry) != 0) return false;
    at += sizeof entry;
    const std::size_t messages = at + AlignedInLane(entry.puts_bytes);  // There are no gets.
    if (memcmp(one + at, other + at, entry.puts_bytes) != 0 ||
        memcmp(one + messages, other + messages, entry.messages_bytes) != 0)
      return false;
    at += BytesOfChunks(entry);
  }
  return true;
}

// Each entry is for all of so many processes. Who asks waits for answers of its own.
bool IsForAll(const std::byte* frame, std::uint32_t processes) {
  std::size_t at = sizeof(LaneFrame);
  for (std::uint32_t i = 0; i < HeadOf(frame).entries; ++i) {
    const LaneEntry& entry = EntryAt(frame + at);
    if (entry.more + 1 != processes || entry.gets_bytes != 0) return false;
    at += sizeof entry + BytesOfChunks(entry);
  }
  return true;
}

}  // namespace

// Votes are the same in all frames.
bool OwesAllTheSame(const LaneShape& shape, unsigned parity) {
  const auto& out = shape.segment->lanes().out;
  const std::byte* const first = out[shape.self == 0 ? 1 : 0][parity];
  if (shape.hosts <= 2 || (HeadOf(first).entries | HeadOf(first).votes) == 0 ||
      HeadOf(first).bytes > kSameBytesMax)
    return false;
  std::uint32_t processes[kLaneHostsMax] = {};
  for (std::uint32_t pid = 0; pid < shape.p; ++pid)
    processes[shape.segment->cell(Pid{pid}).node] += 1;
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    const std::byte* const frame = out[host][parity];
    if (host != shape.self && !(IsForAll(frame, processes[host]) && SayTheSame(first, frame)))
      return false;
  }
  return true;
}

void AddressToProcessesHere(const LaneShape& shape, std::byte* bytes, std::size_t count) {
  auto& frame = *reinterpret_cast<LaneFrame*>(bytes);
  if (count < sizeof frame || frame.direct != kSameToAll || frame.bytes < sizeof frame ||
      frame.bytes > count || CrcOfLaneFrame(frame) != frame.crc32c)
    return;
  std::uint32_t first = shape.p;
  std::uint32_t here = 0;
  for (std::uint32_t pid = shape.p; pid-- > 0;) {
    if (!shape.segment->IsHere(Pid{pid})) continue;
    first = pid;
    here += 1;
  }
  std::size_t at = sizeof frame;
  for (std::uint32_t i = 0; i < frame.entries; ++i) {
    if (frame.bytes - at < sizeof(LaneEntry)) return;
    auto& entry = *reinterpret_cast<LaneEntry*>(bytes + at);
    if (BytesOfChunks(entry) > frame.bytes - at - sizeof entry) return;
    entry.destination_pid = first;
    entry.more = here - 1;
    at += sizeof entry + BytesOfChunks(entry);
  }
  frame.crc32c = CrcOfLaneFrame(frame);
}

}  // namespace bspnow
