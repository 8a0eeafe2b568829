// Frames of lanes (lane.h) in the segment: made of what the processes of this node owe those of
// others, and checked when they have come.
#ifndef RUNTIME_LINK_LANE_FRAME_H_
#define RUNTIME_LINK_LANE_FRAME_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "runtime/link/lane.h"
#include "runtime/link/link_segment.h"

namespace bspnow {

/// The processes of a job, as the segment has them. All take part.
struct LaneShape {
  const Segment* segment = nullptr;
  std::uint32_t self = 0;   ///< This node's number.
  std::uint32_t hosts = 0;  ///< At most kLaneHostsMax.
  std::uint32_t p = 0;
  /// By pid, of the worker, which does not trust what processes can write; nullptr: as the segment
  /// has it.
  const std::uint32_t* host_of = nullptr;
};

/// To whom a node sends its frame itself: to those whom it owes something, or to all.
enum class LaneRoute { kAsOwed, kDirect };

/// Fills `out` of all other hosts for that barrier of the root group, which ends superstep
/// barrier - 1. All processes here have arrived at it. False: that does not fit into frames of
/// `bytes_max`.
bool ComposeLaneFrames(const LaneShape& shape, std::uint32_t barrier, LaneRoute route,
                       std::uint32_t bytes_max = kLaneFrameBytesMax);

/// LaneFrame::crc32c
std::uint32_t CrcOfLaneFrame(const LaneFrame& frame);
/// The same of a frame that lies in these parts, of which the first holds its head.
std::uint32_t CrcOfLaneFrame(const iovec* parts, std::uint32_t count);

/// LaneFrame::head_crc32c of a long one.
std::uint32_t CrcOfLongHead(const LaneFrame& frame);

/// What other nodes send on of a frame of `out` or `in`: that of who is owed nothing.
LaneFrame HeadOfLaneFrame(const std::byte* frame);

/// After a barrier that has been completed: fills `answers_out` of all other hosts with the answers
/// of the processes here, all of which have answered. Who asks has seen that they fit.
void ComposeLaneAnswers(const LaneShape& shape, std::uint32_t barrier);

/// What is known of bytes that begin a frame.
enum class LaneBytes { kMore, kWhole, kDamaged };

/// Whose frame begins with these bytes, which came on the lane of `by`: of another host it is a
/// head without entries, or has kSameToAll.
std::uint32_t OriginOfLaneBytes(const LaneShape& shape, std::uint32_t by, const std::byte* bytes,
                                std::size_t count);

/// Whether the first `count` bytes hold a frame of that host; if so it has `frame_bytes`.
LaneBytes LookAtLaneBytes(const LaneShape& shape, std::uint32_t host, const std::byte* bytes,
                          std::size_t count, std::uint32_t& frame_bytes);

/// Whether what a whole frame says of its entries can be: for a frame that is to be installed.
bool CheckLaneFrame(const LaneShape& shape, const std::byte* frame);

}  // namespace bspnow

#endif  // RUNTIME_LINK_LANE_FRAME_H_
