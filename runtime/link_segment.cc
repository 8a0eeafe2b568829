#include "runtime/link_segment.h"

#include <algorithm>

namespace bspnow {
namespace {

// The room that all arenas together may take of the 128 TiB of an x86-64 process.
constexpr std::uint64_t kAddressSpaceBytes = std::uint64_t{48} << 40;

constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

void LayOutSegment(const SegmentPlan& plan, NodeHeader& header) {
  const std::uint64_t p = plan.nprocs;
  header.magic = kLinkMagic;
  header.version = kLinkVersion;
  header.job = Value(plan.job);
  header.epoch = Value(plan.epoch);
  header.nprocs = plan.nprocs;
  header.check_full = plan.check_full ? 1 : 0;
  header.cells_offset = RoundUp(sizeof(NodeHeader), kPageBytes);
  header.arenas_offset = RoundUp(header.cells_offset + p * sizeof(ProcessCell), kPageBytes);
  header.ring_offset = RoundUp(2 * p * sizeof(DirectoryEntry), kPageBytes);
  header.slots_offset = header.ring_offset + kRingSupersteps * sizeof(Measurement);
  header.pops_offset = header.slots_offset + kSlotsMax * sizeof(RegisteredArea);
  header.heaps_offset =
      RoundUp(header.pops_offset + 2 * kSlotsMax * sizeof(std::uint64_t), kPageBytes);
  const std::uint64_t wanted = std::max(2 * plan.memory_bytes, kHeapBytesMin);
  const std::uint64_t possible = kAddressSpaceBytes / (p * kHeaps);
  header.heap_bytes = RoundUp(std::min(wanted, possible), kPageBytes);
  header.arena_bytes = header.heaps_offset + kHeaps * header.heap_bytes;
}

std::uint64_t SegmentBytes(const NodeHeader& header) {
  return header.arenas_offset + header.nprocs * header.arena_bytes;
}

void FoldMeasurements(const Segment& segment, std::uint32_t p, std::uint64_t from,
                      std::uint64_t to) {
  JobTotals& totals = segment.header().totals;
  for (std::uint64_t s = from; s < to; ++s) {
    std::uint64_t w_ns = 0;
    std::uint64_t h_bytes = 0;
    std::uint64_t total_ns = 0;
    for (std::uint32_t i = 0; i < p; ++i) {
      const Measurement& m = segment.measurement(Pid{i}, s);
      w_ns = std::max(w_ns, m.compute_ns);
      h_bytes = std::max({h_bytes, m.bytes_out, m.bytes_in});
      total_ns = std::max(total_ns, m.compute_ns + m.wait_ns + m.exchange_ns);
      totals.messages += m.messages_out;
    }
    totals.supersteps += 1;
    totals.total_ns += total_ns;
    totals.w_ns += w_ns;
    totals.h_bytes += h_bytes;
    const std::uint64_t beyond_ns = total_ns - w_ns;
    totals.beyond_ns += beyond_ns;
    if (h_bytes != 0) continue;
    totals.l_ns = totals.silent == 0 ? beyond_ns : std::min(totals.l_ns, beyond_ns);
    totals.silent += 1;
  }
}

}  // namespace bspnow
