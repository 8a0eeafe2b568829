#include "runtime/link/link_segment.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "base/unique_fd.h"

namespace bspnow {
namespace {

SegmentLayout LayOut(std::uint32_t nprocs) {
  return LayOutSegment({.job = JobId{1},
                        .epoch = Epoch{1},
                        .nprocs = nprocs,
                        .check_full = false,
                        .memory_bytes = std::uint64_t{24} << 30});
}

MappedRegion Sparse(const SegmentLayout& layout) {
  const UniqueFd memory(memfd_create("link_segment_test", 0));
  EXPECT_EQ(ftruncate(memory.get(), static_cast<off_t>(SegmentBytes(layout))), 0);
  return MappedRegion::Shared(memory.get(), SegmentBytes(layout));
}

/// A segment of rings alone.
Segment RingsOf(std::uint32_t p) {
  SegmentLayout layout = LayOut(p);
  layout.group_sums_offset = layout.slots_offset;
  const std::uint64_t end = layout.group_sums_offset + p * kRingSupersteps * sizeof(GroupSums);
  layout.arenas_offset = end;
  layout.heads_offset = end;
  layout.head_bytes = 0;
  layout.parts_offset = end;
  layout.parts_bytes = 0;
  return Segment(MappedRegion::Private(SegmentBytes(layout)), layout);
}

void Record(const Segment& segment, Pid pid, std::uint64_t superstep, std::uint64_t site,
            const ProfileRecord& record) {
  Measurement& measured = segment.measurement(pid, superstep);
  static_cast<ProfileRecord&>(measured) = record;
  measured.site = site;
}

/// A profile, and where it lies.
struct Profile {
  explicit Profile(std::uint32_t p)
      : memory(ProfileBytesOf(p) / sizeof(std::uint64_t)),
        part(reinterpret_cast<std::byte*>(memory.data()), p) {}

  std::vector<std::uint64_t> memory;
  ProfilePart part;
};

TEST(SegmentTest, PartsDoNotOverlapAndFitTheAddressSpace) {
  for (const std::uint32_t p : {1u, 2u, 7u, 64u, 1000u, kProcessesOfNodeMax}) {
    SCOPED_TRACE(p);
    const SegmentLayout layout = LayOut(p);
    const std::uint64_t n = p;
    EXPECT_GE(layout.cells_offset, sizeof(NodeHeader));
    EXPECT_GE(layout.directories_offset, layout.cells_offset + n * sizeof(ProcessCell));
    EXPECT_GE(layout.stamps_offset, layout.directories_offset + 2 * n * n * sizeof(DirectoryEntry));
    EXPECT_GE(layout.rings_offset, layout.stamps_offset + 2 * n * n * sizeof(std::uint64_t));
    EXPECT_GE(layout.handed_offset,
              layout.rings_offset + n * kRingSupersteps * sizeof(Measurement));
    EXPECT_GE(layout.slots_offset, layout.handed_offset + n * 2 * kHandedMax * sizeof(HandedChunk));
    EXPECT_GE(layout.pops_offset, layout.slots_offset + n * kSlotsMax * sizeof(RegisteredArea));
    EXPECT_GE(layout.pushes_offset, layout.pops_offset + n * 2 * kSlotsMax * sizeof(std::uint64_t));
    EXPECT_GE(layout.group_sums_offset,
              layout.pushes_offset + n * 2 * kSlotsMax * sizeof(std::uint64_t));
    EXPECT_GE(layout.arenas_offset,
              layout.group_sums_offset + n * kRingSupersteps * sizeof(GroupSums));
    EXPECT_GE(layout.arena_bytes, kPageBytes + kHeaps * layout.heap_bytes);
    EXPECT_GE(layout.heads_offset, layout.arenas_offset + n * layout.arena_bytes);
    EXPECT_GE(SegmentBytes(layout), layout.heads_offset + n * kHeaps * layout.head_bytes);
    EXPECT_EQ(layout.heads_offset % kPageBytes + layout.head_bytes % kPageBytes, 0u);
    EXPECT_EQ(layout.arena_bytes % kPageBytes, 0u);
    EXPECT_LT(SegmentBytes(layout), std::uint64_t{1} << 46);  // Of 2^47 that a process has.
  }
}

TEST(SegmentTest, RoomComesFromTheHeadFirstAndOverlapsNowhere) {
  const SegmentLayout layout = LayOut(3);
  const Segment segment(Sparse(layout), layout);
  for (const std::uint32_t pid : {0u, 2u}) {
    HeapUse use;
    for (const std::uint64_t bytes : {std::uint64_t{1024}, layout.head_bytes - 1024,
                                      std::uint64_t{64}, layout.heap_bytes - 64}) {
      const std::uint64_t at = segment.TakeRoom(Pid{pid}, 1, bytes, use);
      EXPECT_TRUE(segment.InHeap(Pid{pid}, 1, at, bytes)) << bytes;
      EXPECT_FALSE(segment.InHeap(Pid{pid}, 0, at, bytes)) << bytes;
      EXPECT_FALSE(segment.InHeap(Pid{1}, 1, at, bytes) && at >= layout.arena_bytes) << bytes;
    }
    EXPECT_EQ(segment.TakeRoom(Pid{pid}, 1, 64, use), 0u);
    EXPECT_EQ(use.head, layout.head_bytes);
    EXPECT_EQ(use.bytes, layout.heap_bytes);
    // In the segment, whatever the sum.
    EXPECT_LE(layout.arenas_offset + Value(Pid{pid}) * layout.arena_bytes +
                  segment.head_offset(Pid{pid}, kAnswerHeap) + layout.head_bytes,
              SegmentBytes(layout));
  }
}

TEST(SegmentTest, AllHeapsTogetherHoldNoMoreThanTheyMay) {
  constexpr std::uint64_t kMiB = 1 << 20;
  const SegmentLayout layout = LayOutSegment({.job = JobId{1},
                                              .epoch = Epoch{1},
                                              .nprocs = 2,
                                              .check_full = false,
                                              .memory_bytes = 1024 * kMiB,
                                              .memory_max = 300 * kMiB});
  const Segment segment(Sparse(layout), layout);
  HeapUse first;
  HeapUse second;
  EXPECT_NE(segment.TakeRoom(Pid{0}, 0, 200 * kMiB, first), 0u);
  EXPECT_EQ(segment.TakeRoom(Pid{1}, 1, 200 * kMiB, second), 0u);
  EXPECT_EQ(second.bytes + second.peak, 0u);
  EXPECT_EQ(segment.heap_memory(), 200 * kMiB);
  first.Restart();
  EXPECT_NE(segment.TakeRoom(Pid{0}, 0, 150 * kMiB, first), 0u);  // It has that already.
  EXPECT_EQ(segment.heap_memory(), 200 * kMiB);
  first.Restart();
  segment.GiveBack(Pid{0}, 0, 0, first);
  EXPECT_EQ(segment.heap_memory(), kHeapKeptBytes);
  EXPECT_NE(segment.TakeRoom(Pid{1}, 1, 200 * kMiB, second), 0u);
}

TEST(SegmentTest, FoldTakesTheLargestProcessOfEachSuperstep) {
  const std::uint32_t p = 2;
  const Segment segment = RingsOf(p);
  Record(segment, Pid{0}, 0, 0,
         {.compute_ns = 100,
          .waiting_ns = 50,
          .release_ns = 10,
          .exchange_ns = 10,
          .bytes_out = 8,
          .bytes_in = 0,
          .messages_out = 1,
          .messages_in = 2});
  Record(segment, Pid{1}, 0, 0,
         {.compute_ns = 150,
          .waiting_ns = 0,
          .release_ns = 10,
          .exchange_ns = 10,
          .bytes_out = 0,
          .bytes_in = 24,
          .messages_out = 2,
          .messages_in = 1});
  segment.measurement(Pid{0}, 1).release_ns = 7;
  segment.measurement(Pid{1}, 1).release_ns = 5;
  FoldMeasurements(segment, p, 2);
  const SuperstepTotals& totals = segment.header().totals;
  EXPECT_EQ(totals.supersteps, 2u);
  EXPECT_EQ(totals.compute_ns, 250u);
  EXPECT_EQ(totals.waiting_ns, 50u);
  EXPECT_EQ(totals.release_ns, 20u + 12u);
  EXPECT_EQ(totals.exchange_ns, 20u);
  EXPECT_EQ(totals.w_ns, 150u);
  EXPECT_EQ(totals.h_bytes, 24u);
  EXPECT_EQ(totals.h_out_bytes, 8u);
  EXPECT_EQ(totals.bytes_in, 24u);
  EXPECT_EQ(totals.messages_out, 3u);
  EXPECT_EQ(totals.beyond[0].pending_ns[0], 6);             // Of 7 and 5.
  EXPECT_EQ(totals.beyond[ClassOf(24)].pending_ns[0], 20);  // Of 170 each, less w.
  EXPECT_EQ(totals.stragglers[0].pid, 1u);
  EXPECT_EQ(totals.stragglers[0].cost_ns, 25u);     // 150, where 125 are the mean.
  EXPECT_EQ(SumsHere(segment, p, 1).span_ns, 10u);  // What superstep 0 delivered.
}

TEST(SegmentTest, FoldAddsWhatWasDoneInGroupsWhereAnythingWas) {
  const Segment segment = RingsOf(2);
  const GroupSums sums{.supersteps = 3,
                       .sync_ns = 40,
                       .bytes_out = 8,
                       .bytes_in = 16,
                       .messages_out = 1,
                       .messages_in = 2};
  for (const std::uint64_t superstep : {0u, 1u}) {
    for (const Pid pid : {Pid{0}, Pid{1}}) {
      const std::uint64_t site = superstep == 1 ? kWithGroups : 0;
      Record(segment, pid, superstep, site | 1, {.compute_ns = 100});
      segment.group_sums(pid, superstep) = sums;
    }
  }
  FoldMeasurements(segment, 2, 2);
  const SuperstepTotals& totals = segment.header().totals;
  EXPECT_EQ(totals.compute_ns, 400u);
  EXPECT_EQ(totals.group_supersteps, 6u);
  EXPECT_EQ(totals.group_sync_ns, 80u);
  EXPECT_EQ(totals.group_bytes_out, 16u);
  EXPECT_EQ(totals.group_bytes_in, 32u);
  EXPECT_EQ(totals.group_messages_out, 2u);
  EXPECT_EQ(totals.group_messages_in, 4u);
  Profile profile(2);
  FoldProfile(segment, Pid{0}, 2, profile.part);
  EXPECT_EQ(profile.part.head().sites[1].supersteps, 2u);  // One call, with groups and without.
}

// Some at a time, and merged meanwhile, they are as if each had been added alone.
TEST(FoldProfileTest, AddsEachSuperstepOfTheRingOnce) {
  constexpr std::uint32_t kMany = 1024;  // So that there are as few records as can be.
  const Segment segment = RingsOf(1);
  Profile folded(kMany), added(kMany);
  std::mt19937 random(7);
  std::uint64_t done = 0;
  for (std::uint64_t s = 0; s < 5 * kProfileRecordsMin; ++s) {
    const auto site = static_cast<std::uint16_t>(random() % 8 == 0 ? 2 : 1);
    const ProfileRecord record{.compute_ns = s, .bytes_in = 3 * s, .messages_in = 1};
    Record(segment, Pid{0}, s, site, record);
    added.part.Add(record, 1, site);
    if (random() % 40 != 0 && s + 1 - done < kRingSupersteps) continue;
    done = s + 1;
    FoldProfile(segment, Pid{0}, done, folded.part);
    FoldProfile(segment, Pid{0}, done, folded.part);
  }
  FoldProfile(segment, Pid{0}, 5 * kProfileRecordsMin, folded.part);
  folded.part.head().changes = 0;  // That it had fewer of them is the purpose.
  added.part.head().changes = 0;
  EXPECT_EQ(folded.memory, added.memory);
}

TEST(FoldProfileTest, AddsNothingToWhatAProgramHasWrittenOver) {
  const Segment segment = RingsOf(1);
  Record(segment, Pid{0}, 0, ~std::uint64_t{0}, {.compute_ns = 1});
  Profile profile(4);
  FoldProfile(segment, Pid{0}, 1, profile.part);  // Of a call that there cannot be.
  EXPECT_EQ(profile.part.head().sites[kProfileSitesMax - 1].supersteps, 1u);
  profile.part.head().merged_bits = ~std::uint64_t{0};
  FoldProfile(segment, Pid{0}, 2, profile.part);
  profile.part.head().merged_bits = 0;
  profile.part.head().supersteps = ~std::uint64_t{0};
  FoldProfile(segment, Pid{0}, 2, profile.part);
  profile.part.head().supersteps = 1;
  profile.part.head().folded = 1'000;
  FoldProfile(segment, Pid{0}, 2, profile.part);
  EXPECT_EQ(profile.part.head().sites[0].supersteps, 0u);
}

}  // namespace
}  // namespace bspnow
