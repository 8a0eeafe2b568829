// A barrier of lanes (lane.h) whose frames have come: what they bring is made readable for the
// processes of this node, and these are released.
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

/// Before the worker writes entries of that parity: removes those that frames brought.
void RemoveLaneEntries(const Segment& segment, unsigned parity);

/// A copy that is no mixture. Of the supersteps that lanes carried, but the last.
SuperstepTotals ReadLaneTotals(const LaneState& state);

}  // namespace bspnow

#endif  // RUNTIME_LINK_LANE_COMPLETION_H_
