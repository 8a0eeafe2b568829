// A barrier of lanes (lane.h) whose frames have come: what they bring is made readable for the
// processes of this node, and these are released; or read before that, by who may go ahead of it.
#ifndef RUNTIME_LINK_LANE_COMPLETION_H_
#define RUNTIME_LINK_LANE_COMPLETION_H_

#include <cstddef>
#include <cstdint>

#include "runtime/link/lane_frame.h"

namespace bspnow {

/// The frames of a barrier by host, this node's own among them.
struct LaneFrames {
  const std::byte* of[kLaneHostsMax] = {};
};

/// As they lie in the segment.
LaneFrames FramesInSegment(const LaneShape& shape, std::uint32_t barrier);

/// All frames of the barrier are in `in`: makes them readable for the processes here and releases
/// them. By whoever drives, or the worker if nobody can. `frames`: those, or checked copies, if the
/// segment is not to be trusted.
void CompleteLaneBarrier(const LaneShape& shape, std::uint32_t barrier, const LaneFrames& frames);

/// Whether each process here has the messages that it waits for (ProcessCell::expected) in the
/// superstep that this barrier ends: from processes here, and in the frames of `hosts`, a bit each,
/// which lie in `in`.
bool HasExpected(const LaneShape& shape, std::uint32_t barrier, std::uint32_t hosts);

/// What a frame in `in` has for one process: the messages of one source, as in DirectoryEntry.
struct LaneMessages {
  std::uint64_t first_chunk = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_to = 0;
};

/// Those for `to` in the frames of these hosts; to the place of each source in `by_source`.
void FindLaneMessages(const LaneShape& shape, std::uint32_t barrier, std::uint32_t hosts, Pid to,
                      LaneMessages* by_source);

/// The answers of that host, of a barrier that has been completed, lie in `answers_in`, and are, or
/// have the checked copy, `frame`: lets the processes here read them.
void PublishLaneAnswers(const LaneShape& shape, std::uint32_t host, const std::byte* frame);

/// Before the worker writes entries of that parity: removes those that frames brought.
void RemoveLaneEntries(const Segment& segment, unsigned parity);

/// A copy that is no mixture. Of the supersteps that lanes carried, but the last.
SuperstepTotals ReadLaneTotals(const LaneState& state);

}  // namespace bspnow

#endif  // RUNTIME_LINK_LANE_COMPLETION_H_
