// What lies in a frame of a lane after its head (lane.h): entries, each with its chunks. For who
// fills frames, checks them and makes them readable.
#ifndef RUNTIME_LINK_LANE_ENTRIES_H_
#define RUNTIME_LINK_LANE_ENTRIES_H_

#include <cstddef>
#include <cstdint>

#include "runtime/link/lane.h"

namespace bspnow {

constexpr std::size_t AlignedInLane(std::size_t bytes) {
  return (bytes + kMessageAlign - 1) / kMessageAlign * kMessageAlign;
}

/// Calls use(entry, its chunks) for each entry; false as soon as it does, or if they do not lie in
/// the frame.
template <typename Use>
bool ForEachLaneEntry(const std::byte* bytes, const Use& use) {
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  std::size_t at = sizeof(LaneFrame);
  for (std::uint32_t i = 0; i < frame.entries; ++i) {
    if (frame.bytes - at < sizeof(LaneEntry)) return false;
    const auto& entry = *reinterpret_cast<const LaneEntry*>(bytes + at);
    at += sizeof(LaneEntry);
    const std::size_t chunks = AlignedInLane(entry.puts_bytes) + AlignedInLane(entry.gets_bytes) +
                               AlignedInLane(entry.messages_bytes);
    if (chunks > frame.bytes - at || !use(entry, bytes + at)) return false;
    at += chunks;
  }
  return true;
}

/// The same of a frame of answers.
template <typename Use>
bool ForEachLaneAnswers(const std::byte* bytes, const Use& use) {
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  std::size_t at = sizeof(LaneFrame);
  for (std::uint32_t i = 0; i < frame.entries; ++i) {
    if (frame.bytes - at < sizeof(LaneAnswers)) return false;
    const auto& answers = *reinterpret_cast<const LaneAnswers*>(bytes + at);
    at += sizeof(LaneAnswers);
    if (AlignedInLane(answers.bytes) > frame.bytes - at || !use(answers, bytes + at)) return false;
    at += AlignedInLane(answers.bytes);
  }
  return true;
}

}  // namespace bspnow

#endif  // RUNTIME_LINK_LANE_ENTRIES_H_
