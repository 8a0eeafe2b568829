#include "runtime/link/link_segment.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace bspnow {
namespace {

constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

SegmentLayout LayOutSegment(const SegmentPlan& plan) {
  SegmentLayout layout{};
  const std::uint64_t p = plan.nprocs;
  layout.nprocs = plan.nprocs;
  layout.check_full = plan.check_full ? 1 : 0;
  layout.memory_max = plan.memory_max;
  layout.cells_offset = RoundUp(sizeof(NodeHeader), kPageBytes);
  std::uint64_t end = RoundUp(layout.cells_offset + p * sizeof(ProcessCell), kPageBytes);
  const auto place = [&end](std::uint64_t bytes) {
    return std::exchange(end, end + RoundUp(bytes, kPageBytes));
  };
  layout.directories_offset = place(2 * p * p * sizeof(DirectoryEntry));
  layout.rings_offset = place(p * kRingSupersteps * sizeof(Measurement));
  layout.handed_offset = place(p * 2 * kHandedMax * sizeof(HandedChunk));
  layout.slots_offset = place(p * kSlotsMax * sizeof(RegisteredArea));
  layout.pops_offset = place(p * 2 * kSlotsMax * sizeof(std::uint64_t));
  layout.pushes_offset = place(p * 2 * kSlotsMax * sizeof(std::uint64_t));
  layout.arenas_offset = end;
  layout.head_bytes =
      std::clamp(RoundUp(p * kFirstChunkBytes, kPageBytes), kHeadBytesMin, kHeadBytesMax);
  // Each heap is as large as can be of use, or as there is room for.
  const std::uint64_t wanted = std::max(2 * plan.memory_bytes, kHeapBytesMin);
  const std::uint64_t share = plan.address_space_bytes / p;
  const std::uint64_t others = end / p + kPageBytes + kHeaps * layout.head_bytes;
  const std::uint64_t possible = share > others ? (share - others) / kHeaps : 0;
  layout.heap_bytes =
      std::clamp(possible, kHeapBytesLeast, RoundUp(wanted, kPageBytes)) / kPageBytes * kPageBytes;
  layout.arena_bytes = kPageBytes + kHeaps * layout.heap_bytes;
  layout.heads_offset = layout.arenas_offset + p * layout.arena_bytes;
  return layout;
}

std::uint64_t SegmentBytes(const SegmentLayout& layout) {
  return layout.heads_offset + layout.nprocs * kHeaps * layout.head_bytes;
}

void Segment::GiveBack(Pid pid, int heap, std::uint64_t kept, HeapUse& use) const {
  const std::uint64_t from = RoundUp(std::max({kept, use.bytes, kHeapKeptBytes}), kPageBytes);
  if (use.peak <= 2 * from) return;
  madvise(arena(pid) + heap_offset(heap) + from, use.peak - from, MADV_REMOVE);
  header().heap_memory.fetch_sub(use.peak - from, std::memory_order_relaxed);
  use.peak = from;
}

void ReleaseBarrier(NodeBarrier& barrier, std::uint32_t index) {
  BarrierPhase& other = barrier.phases[(index + 1) & 1];
  for (std::atomic<std::uint32_t>* count :
       {&other.arrived, &other.with_data, &other.with_gets, &other.with_votes, &other.ending,
        &other.answered, &other.save}) {
    count->store(0, std::memory_order_relaxed);
  }
  barrier.released.Publish(index + 1);
}

void FoldMeasurements(const Segment& segment, std::uint32_t p, std::uint64_t from,
                      std::uint64_t to) {
  AddMeasurements(segment, p, from, to, segment.header().totals);
}

void AddMeasurements(const Segment& segment, std::uint32_t p, std::uint64_t from, std::uint64_t to,
                     JobTotals& totals) {
  for (std::uint64_t s = from; s < to; ++s) {
    SuperstepSums sums = SumsOf(segment.measurement(Pid{0}, s));
    for (std::uint32_t i = 1; i < p; ++i) FoldSums(SumsOf(segment.measurement(Pid{i}, s)), sums);
    AddSuperstep(sums, p, totals);
  }
}

SuperstepSums SumsOf(const Measurement& measurement) {
  const auto read = [](const std::uint64_t& word) {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
  };
  SuperstepSums sums{};
  sums.compute_ns = read(measurement.compute_ns);
  sums.wait_ns = read(measurement.wait_ns);
  sums.exchange_ns = read(measurement.exchange_ns);
  sums.w_ns = sums.compute_ns;
  sums.total_ns = sums.compute_ns + sums.wait_ns + sums.exchange_ns;
  sums.h_bytes = std::max(read(measurement.bytes_out), read(measurement.bytes_in));
  sums.messages = read(measurement.messages_out);
  return sums;
}

}  // namespace bspnow
