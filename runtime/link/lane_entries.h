// What lies in a frame of a lane after its head (lane.h): entries, each with its chunks, and votes.
// For who fills frames, checks them and makes them readable.
#ifndef RUNTIME_LINK_LANE_ENTRIES_H_
#define RUNTIME_LINK_LANE_ENTRIES_H_

#include <cstddef>
#include <cstdint>

#include "runtime/link/lane.h"

namespace bspnow {

constexpr std::size_t AlignedInLane(std::size_t bytes) {
  return (bytes + kMessageAlign - 1) / kMessageAlign * kMessageAlign;
}

/// Of an entry.
constexpr std::size_t BytesOfChunks(const LaneEntry& entry) {
  return AlignedInLane(entry.puts_bytes) + AlignedInLane(entry.gets_bytes) +
         AlignedInLane(entry.messages_bytes);
}

/// Calls use(entry, its chunks) for each entry and each of its destinations, of which it has that
/// one; false as soon as it does, or if they do not lie in the frame, or are too many.
template <typename Use>
bool ForEachLaneEntry(const std::byte* bytes, const Use& use) {
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  std::size_t at = sizeof(LaneFrame);
  std::uint32_t pairs_left = kLanePairsMax;
  for (std::uint32_t i = 0; i < frame.entries; ++i) {
    if (frame.bytes - at < sizeof(LaneEntry)) return false;
    LaneEntry entry = *reinterpret_cast<const LaneEntry*>(bytes + at);
    at += sizeof(LaneEntry);
    const std::size_t chunks = BytesOfChunks(entry);
    if (chunks > frame.bytes - at || entry.more >= pairs_left) return false;
    pairs_left -= 1 + entry.more;
    for (const std::uint32_t last = entry.destination_pid + entry.more;; ++entry.destination_pid) {
      if (!use(entry, bytes + at)) return false;
      if (entry.destination_pid == last) break;
    }
    at += chunks;
  }
  return true;
}

/// What a vote takes of a frame; more than any frame has if it names more registrations than there
/// are slots.
inline std::size_t LaneVoteBytes(const RegistrationVote& vote) {
  if (vote.pushes > kSlotsMax || vote.pops > kSlotsMax) return kLaneFrameBytesMax + 1;
  return AlignedInLane(sizeof(LaneVote) + vote.pushes * sizeof(LanePush) +
                       vote.pops * sizeof(std::uint64_t));
}

/// Calls use(vote, its pushes, its pops) for each vote; else as ForEachLaneEntry, which has been
/// true.
template <typename Use>
bool ForEachLaneVote(const std::byte* bytes, const Use& use) {
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  if (frame.votes == 0) return true;
  std::size_t at = sizeof(LaneFrame);
  ForEachLaneEntry(bytes, [&](const LaneEntry& entry, const std::byte* chunks) {
    at = static_cast<std::size_t>(chunks - bytes) + BytesOfChunks(entry);
    return true;
  });
  for (std::uint32_t i = 0; i < frame.votes; ++i) {
    if (frame.bytes - at < sizeof(LaneVote)) return false;
    const auto& vote = *reinterpret_cast<const LaneVote*>(bytes + at);
    const std::size_t vote_bytes = LaneVoteBytes(vote.vote);
    if (vote_bytes > frame.bytes - at) return false;
    const auto* const pushes = reinterpret_cast<const LanePush*>(&vote + 1);
    const auto* const pops = reinterpret_cast<const std::uint64_t*>(pushes + vote.vote.pushes);
    if (!use(vote, pushes, pops)) return false;
    at += vote_bytes;
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
