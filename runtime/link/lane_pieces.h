// Frames of lanes (lane.h) of which a part lies elsewhere: long records are not copied into `out`,
// but sent from the heap in which their process has written them.
#ifndef RUNTIME_LINK_LANE_PIECES_H_
#define RUNTIME_LINK_LANE_PIECES_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "runtime/link/lane.h"
#include "runtime/link/link_segment.h"

namespace bspnow {

/// What lies in `out` between two pieces is a part, too.
inline constexpr std::uint32_t kLanePartsMax = 2 * kLanePiecesMax + 1;

/// Where the frame to that host of a barrier of that parity lies, from its first byte to its last.
/// Returns how many parts there are. They are within the segment, whatever a program wrote there.
/// Until the next barrier is over: then heaps are used again.
std::uint32_t PartsOfLaneFrame(const Segment& segment, std::uint32_t host, unsigned parity,
                               iovec (&parts)[kLanePartsMax]);

}  // namespace bspnow

#endif  // RUNTIME_LINK_LANE_PIECES_H_
