// For tests: the segment of a node, of which only what is touched takes memory, as of a worker's.
#ifndef RUNTIME_LINK_TESTING_NODE_MEMORY_H_
#define RUNTIME_LINK_TESTING_NODE_MEMORY_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>

#include "base/check.h"
#include "base/unique_fd.h"
#include "runtime/link/link_segment.h"

namespace bspnow {

inline Segment SegmentOf(std::uint32_t nprocs) {
  const SegmentLayout layout = LayOutSegment({.job = JobId{1},
                                              .epoch = Epoch{1},
                                              .nprocs = nprocs,
                                              .check_full = false,
                                              .memory_bytes = std::uint64_t{1} << 30});
  const UniqueFd memory(memfd_create("segment", MFD_CLOEXEC));
  BSP_CHECK(ftruncate(memory.get(), static_cast<off_t>(SegmentBytes(layout))) == 0);
  Segment segment(MappedRegion::Shared(memory.get(), SegmentBytes(layout)), layout);
  segment.header().layout = layout;
  return segment;
}

/// That of node `self`, where process i is on node nodes[i].
inline Segment SegmentOfNode(std::uint32_t self, std::span<const std::uint32_t> nodes) {
  Segment segment = SegmentOf(static_cast<std::uint32_t>(nodes.size()));
  segment.header().node = self;
  for (std::uint32_t pid = 0; pid < nodes.size(); ++pid) segment.cell(Pid{pid}).node = nodes[pid];
  return segment;
}

}  // namespace bspnow

#endif  // RUNTIME_LINK_TESTING_NODE_MEMORY_H_
