#include "runtime/link/link_segment.h"

#include <gtest/gtest.h>

namespace bspnow {
namespace {

SegmentLayout LayOut(std::uint32_t nprocs) {
  return LayOutSegment({.job = JobId{1},
                        .epoch = Epoch{1},
                        .nprocs = nprocs,
                        .check_full = false,
                        .memory_bytes = std::uint64_t{24} << 30});
}

TEST(SegmentTest, PartsDoNotOverlapAndFitTheAddressSpace) {
  for (const std::uint32_t p : {1u, 2u, 7u, 64u, 1000u, kProcessesOfNodeMax}) {
    SCOPED_TRACE(p);
    const SegmentLayout layout = LayOut(p);
    EXPECT_GE(layout.cells_offset, sizeof(NodeHeader));
    EXPECT_GE(layout.arenas_offset, layout.cells_offset + p * sizeof(ProcessCell));
    EXPECT_GE(layout.ring_offset, 2 * p * sizeof(DirectoryEntry));
    EXPECT_GE(layout.slots_offset, layout.ring_offset + kRingSupersteps * sizeof(Measurement));
    EXPECT_GE(layout.pops_offset, layout.slots_offset + kSlotsMax * sizeof(RegisteredArea));
    EXPECT_GE(layout.heaps_offset, layout.pops_offset + 2 * kSlotsMax * sizeof(std::uint64_t));
    EXPECT_GE(layout.arena_bytes, layout.heaps_offset + kHeaps * layout.heap_bytes);
    EXPECT_EQ(layout.arena_bytes % kPageBytes, 0u);
    EXPECT_LT(SegmentBytes(layout), std::uint64_t{1} << 46);  // Of 2^47 that a process has.
  }
}

TEST(SegmentTest, FoldTakesTheLargestProcessOfEachSuperstep) {
  const std::uint32_t p = 2;
  SegmentLayout layout = LayOut(p);
  // The ring is all that is needed of an arena.
  layout.arena_bytes = layout.slots_offset;
  MappedRegion region = MappedRegion::Private(SegmentBytes(layout));
  const Segment segment(std::move(region), layout);
  segment.measurement(Pid{0}, 0) = {.start_ns = 0,
                                    .compute_ns = 100,
                                    .wait_ns = 60,
                                    .exchange_ns = 10,
                                    .bytes_out = 8,
                                    .bytes_in = 0,
                                    .messages_out = 1,
                                    .call_site = 0};
  segment.measurement(Pid{1}, 0) = {.start_ns = 0,
                                    .compute_ns = 150,
                                    .wait_ns = 10,
                                    .exchange_ns = 10,
                                    .bytes_out = 0,
                                    .bytes_in = 24,
                                    .messages_out = 2,
                                    .call_site = 0};
  segment.measurement(Pid{0}, 1).wait_ns = 7;
  segment.measurement(Pid{1}, 1).wait_ns = 5;
  FoldMeasurements(segment, p, 0, 2);
  const JobTotals& totals = segment.header().totals;
  EXPECT_EQ(totals.supersteps, 2u);
  EXPECT_EQ(totals.w_ns, 150u);
  EXPECT_EQ(totals.h_bytes, 24u);
  EXPECT_EQ(totals.total_ns, 170u + 7u);
  EXPECT_EQ(totals.beyond_ns, 20u + 7u);
  EXPECT_EQ(totals.l_ns, 7u);
  EXPECT_EQ(totals.messages, 3u);
}

}  // namespace
}  // namespace bspnow
