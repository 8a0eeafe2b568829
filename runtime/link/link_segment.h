// Typed access to the segment of link.h. The worker lays it out, processes attach to it.
#ifndef RUNTIME_LINK_LINK_SEGMENT_H_
#define RUNTIME_LINK_LINK_SEGMENT_H_

#include <cstdint>

#include "base/ids.h"
#include "base/mapped_region.h"
#include "runtime/link/link.h"

namespace bspnow {

/// The room that a segment may take of the 128 TiB of an x86-64 process.
inline constexpr std::uint64_t kAddressSpaceBytes = std::uint64_t{48} << 40;

/// What the worker decides about a segment before any process runs.
struct SegmentPlan {
  JobId job;
  Epoch epoch;
  std::uint32_t nprocs;
  bool check_full;
  std::uint64_t memory_bytes;  ///< Of the machine; no heap needs to be larger than twice that.
  std::uint64_t address_space_bytes = kAddressSpaceBytes;  ///< That the segment may take.
};

SegmentLayout LayOutSegment(const SegmentPlan& plan);

/// The length of the memfd that a layout describes; sparse.
std::uint64_t SegmentBytes(const SegmentLayout& layout);

/// A segment mapped into this process.
class Segment {
 public:
  Segment() = default;

  /// `layout` is the caller's own; its extent must be that of the region.
  Segment(MappedRegion region, const SegmentLayout& layout)
      : region_(static_cast<MappedRegion&&>(region)), layout_(layout) {}

  bool valid() const { return region_.valid(); }

  /// It is not mapped any more: in a process that has been restored.
  void Forget() { region_.Release(); }

  std::uint64_t bytes() const { return region_.bytes(); }
  const SegmentLayout& layout() const { return layout_; }
  NodeHeader& header() const { return *reinterpret_cast<NodeHeader*>(region_.data()); }

  ProcessCell& cell(Pid pid) const {
    auto* cells = reinterpret_cast<ProcessCell*>(region_.data() + layout_.cells_offset);
    return cells[Value(pid)];
  }

  std::byte* arena(Pid pid) const {
    return region_.data() + layout_.arenas_offset + Value(pid) * layout_.arena_bytes;
  }

  /// What `owner` owes each process in supersteps of this parity; nprocs entries.
  DirectoryEntry* directory(Pid owner, unsigned parity) const {
    return reinterpret_cast<DirectoryEntry*>(arena(owner)) + parity * layout_.nprocs;
  }

  Measurement& measurement(Pid owner, std::uint64_t superstep) const {
    auto* ring = reinterpret_cast<Measurement*>(arena(owner) + layout_.ring_offset);
    return ring[superstep % kRingSupersteps];
  }

  RegisteredArea* slots(Pid owner) const {
    return reinterpret_cast<RegisteredArea*>(arena(owner) + layout_.slots_offset);
  }

  std::uint64_t* pops(Pid owner, unsigned parity) const {
    return reinterpret_cast<std::uint64_t*>(arena(owner) + layout_.pops_offset) +
           parity * kSlotsMax;
  }

  std::uint64_t* pushes(Pid owner, unsigned parity) const {
    return reinterpret_cast<std::uint64_t*>(arena(owner) + layout_.pushes_offset) +
           parity * kSlotsMax;
  }

  HandedChunk* handed(Pid owner, unsigned parity) const {
    return reinterpret_cast<HandedChunk*>(arena(owner) + layout_.handed_offset) +
           parity * kHandedMax;
  }

  /// Whether the process lives on this node.
  bool IsHere(Pid pid) const { return cell(pid).node == header().node; }

  std::uint64_t heap_offset(int heap) const {
    return layout_.heaps_offset + static_cast<std::uint64_t>(heap) * layout_.heap_bytes;
  }

 private:
  MappedRegion region_;
  SegmentLayout layout_{};
};

/// Ends barrier number `index`: clears the other phase, which everybody has read by then, and lets
/// the processes go. By the last to arrive, or by the worker if the job has several nodes.
void ReleaseBarrier(NodeBarrier& barrier, std::uint32_t index);

/// Adds supersteps [from, to) of processes 0..p-1 to the totals: w and h take the largest process
/// of each superstep (Q&A about BSP, section 4: cost w + h*g + l).
void FoldMeasurements(const Segment& segment, std::uint32_t p, std::uint64_t from,
                      std::uint64_t to);

/// The same, to totals of the caller's.
void AddMeasurements(const Segment& segment, std::uint32_t p, std::uint64_t from, std::uint64_t to,
                     JobTotals& totals);

}  // namespace bspnow

#endif  // RUNTIME_LINK_LINK_SEGMENT_H_
