// Frames of lanes (lane.h) that say the same to all nodes: they go by way of others, as heads do.
#ifndef RUNTIME_LINK_LANE_SAME_H_
#define RUNTIME_LINK_LANE_SAME_H_

#include <cstddef>

#include "runtime/link/lane_frame.h"

namespace bspnow {

/// Whether the frames in `out`, of barriers of that parity, are short, and say the same to all
/// nodes: as where a process puts its part of a sum to all, or registers an area. They have their
/// lengths.
bool OwesAllTheSame(const LaneShape& shape, unsigned parity);

/// Of a frame with kSameToAll that another than its host has sent here, if these bytes hold all of
/// it: what it has for all is for the processes here, as if its host had sent it.
void AddressToProcessesHere(const LaneShape& shape, std::byte* bytes, std::size_t count);

}  // namespace bspnow

#endif  // RUNTIME_LINK_LANE_SAME_H_
