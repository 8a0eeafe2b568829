#include "runtime/link/link_segment.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace bspnow {
namespace {

constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// There is room for as many groups at a time as if each process were a member of so many: the first
// ones for a quarter of the address space, all of them if an eighth does.
constexpr std::uint64_t kGroupLevelsFirst = 16;
constexpr std::uint64_t kGroupLevels = 256;
constexpr std::uint64_t kGroupHeapShare = 32;  ///< A group's heaps are smaller by this factor.
constexpr std::uint64_t kGroupHeapBytesMin = kHeapBytesLeast;

/// Lays out ranges of whole pages, one after another.
class Ranges {
 public:
  std::uint64_t Place(std::uint64_t bytes) {
    return std::exchange(end_, end_ + RoundUp(bytes, kPageBytes));
  }
  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t end_ = 0;
};

// Lays out everything before the heaps.
Ranges PlaceTables(SegmentLayout& layout) {
  const std::uint64_t p = layout.nprocs;
  Ranges ranges;
  ranges.Place(sizeof(NodeHeader));
  layout.cells_offset = ranges.Place(p * sizeof(ProcessCell));
  layout.directories_offset = ranges.Place(2 * p * p * sizeof(DirectoryEntry));
  layout.stamps_offset = ranges.Place(2 * p * p * sizeof(std::uint64_t));
  layout.rings_offset = ranges.Place(p * kRingSupersteps * sizeof(Measurement));
  layout.handed_offset = ranges.Place(p * 2 * kHandedMax * sizeof(HandedChunk));
  layout.slots_offset = ranges.Place(p * kSlotsMax * sizeof(RegisteredArea));
  layout.pops_offset = ranges.Place(p * 2 * kSlotsMax * sizeof(std::uint64_t));
  layout.pushes_offset = ranges.Place(p * 2 * kSlotsMax * sizeof(std::uint64_t));
  layout.head_bytes =
      std::clamp(RoundUp(p * kFirstChunkBytes, kPageBytes), kHeadBytesMin, kHeadBytesMax);
  return ranges;
}

void PlaceHeaps(SegmentLayout& layout, std::uint64_t at, std::uint64_t heap_bytes) {
  layout.heap_bytes = heap_bytes / kPageBytes * kPageBytes;
  layout.arenas_offset = at;
  layout.arena_bytes = kPageBytes + kHeaps * layout.heap_bytes;
  layout.heads_offset = at + layout.nprocs * layout.arena_bytes;
}

std::uint64_t EndOfHeads(const SegmentLayout& layout) {
  return layout.heads_offset + layout.nprocs * kHeaps * layout.head_bytes;
}

// After the heads: where no process touches a page for it but its own.
std::uint64_t ProfilesBytes(std::uint32_t p) { return p * ProfileBytesOf(p); }

constexpr std::uint64_t kLaneAreaBytes = RoundUp(sizeof(LaneArea), kPageBytes);

std::uint64_t TurnsBytes(const SegmentPlan& plan) {
  if (!plan.takes_turns) return 0;
  return RoundUp(sizeof(TurnOrder) + plan.nprocs * sizeof(TurnPlace), kPageBytes);
}

std::uint64_t PartsBytes(std::uint64_t of_level, std::uint64_t spare) {
  return std::max(std::min(kGroupLevelsFirst * of_level, spare / 4),
                  std::min(kGroupLevels * of_level, spare / 8));
}

// What a part takes at most that was used little: nothing of its heaps beyond the heads, and of
// each process one page of slots, and one of pops and pushes of each parity.
std::uint64_t BytesOfLittleUse(const SegmentLayout& part) {
  constexpr std::uint64_t kSlotPages = 5;
  static_assert(kSlotsOfBlock * sizeof(RegisteredArea) <= kPageBytes);
  return part.slots_offset + part.nprocs * (kSlotPages * kPageBytes + kHeaps * part.head_bytes);
}

std::uint64_t SiteOf(const Measurement& m) { return m.site & ~kWithGroups; }

GroupSums GroupSumsOf(const Segment& segment, Pid pid, std::uint64_t superstep) {
  if (segment.layout().group_sums_offset == 0) return {};
  const GroupSums& sums = segment.group_sums(pid, superstep);
  return {.supersteps = ReadOnce(sums.supersteps),
          .sync_ns = ReadOnce(sums.sync_ns),
          .bytes_out = ReadOnce(sums.bytes_out),
          .bytes_in = ReadOnce(sums.bytes_in),
          .messages_out = ReadOnce(sums.messages_out),
          .messages_in = ReadOnce(sums.messages_in)};
}

// All processes of a node share its last arrival, and so would give one span, but for the moments
// at which they noticed the release before.
SuperstepSums SumsOf(const Segment& segment, Pid pid, std::uint64_t superstep) {
  const Measurement& m = segment.measurement(pid, superstep);
  const std::uint64_t compute_ns = ReadOnce(m.compute_ns);
  const std::uint64_t waiting_ns = ReadOnce(m.waiting_ns);
  const std::uint64_t delivery_ns =
      superstep == 0 ? 0 : ReadOnce(segment.measurement(pid, superstep - 1).exchange_ns);
  const std::uint64_t bytes_out = ReadOnce(m.bytes_out);
  const std::uint64_t bytes_in = ReadOnce(m.bytes_in);
  const bool with_groups = (ReadOnce(m.site) & kWithGroups) != 0;
  return {.superstep = superstep,
          .compute_ns = compute_ns,
          .waiting_ns = waiting_ns,
          .release_ns = ReadOnce(m.release_ns),
          .exchange_ns = ReadOnce(m.exchange_ns),
          .w_ns = compute_ns,
          .span_ns = delivery_ns + compute_ns + waiting_ns,
          .bytes_out = bytes_out,
          .bytes_in = bytes_in,
          .h_out_bytes = bytes_out,
          .h_in_bytes = bytes_in,
          .messages_out = ReadOnce(m.messages_out),
          .messages_in = ReadOnce(m.messages_in),
          .w_pid = Value(pid),
          .processes = 1,
          .groups = with_groups ? GroupSumsOf(segment, pid, superstep) : GroupSums{}};
}

}  // namespace

SegmentLayout LayOutSegment(const SegmentPlan& plan) {
  SegmentLayout layout{};
  const std::uint64_t p = plan.nprocs;
  layout.nprocs = plan.nprocs;
  layout.check_full = plan.check_full ? 1 : 0;
  layout.check_textual = plan.check_textual ? 1 : 0;
  layout.message_sizes = plan.message_sizes;
  layout.memory_max = plan.memory_max;
  Ranges ranges = PlaceTables(layout);
  layout.groups_offset = ranges.Place(kGroupSlotsMax * sizeof(GroupSlot));
  layout.group_sums_offset = ranges.Place(p * kRingSupersteps * sizeof(GroupSums));
  // Each heap is as large as can be of use, or as there is room for; groups get at most a quarter
  // of what there is beyond the least.
  const std::uint64_t wanted = RoundUp(std::max(2 * plan.memory_bytes, kHeapBytesMin), kPageBytes);
  PlaceHeaps(layout, ranges.end(), wanted);
  const std::uint64_t level = SegmentBytes(LayOutGroup(layout, plan.nprocs)) + p * kPageBytes;
  PlaceHeaps(layout, ranges.end(), kHeapBytesLeast);
  const std::uint64_t least =
      EndOfHeads(layout) + ProfilesBytes(plan.nprocs) + kLaneAreaBytes + TurnsBytes(plan);
  const std::uint64_t spare =
      plan.address_space_bytes > least ? plan.address_space_bytes - least : 0;
  layout.parts_bytes = PartsBytes(level, spare) / kPageBytes * kPageBytes;
  const std::uint64_t more = (spare - layout.parts_bytes) / p / kHeaps;
  PlaceHeaps(layout, ranges.end(), std::min(wanted, kHeapBytesLeast + more));
  layout.profiles_offset = EndOfHeads(layout);
  layout.lanes_offset = layout.profiles_offset + ProfilesBytes(plan.nprocs);
  const std::uint64_t turns_offset = layout.lanes_offset + kLaneAreaBytes;
  layout.turns_offset = plan.takes_turns ? turns_offset : 0;
  layout.parts_offset = turns_offset + TurnsBytes(plan);
  return layout;
}

SegmentLayout LayOutGroup(const SegmentLayout& root, std::uint32_t members) {
  SegmentLayout layout{};
  layout.nprocs = members;
  layout.check_full = root.check_full;
  layout.check_textual = root.check_textual;
  layout.memory_max = root.memory_max;
  const Ranges ranges = PlaceTables(layout);
  PlaceHeaps(layout, ranges.end(), std::max(root.heap_bytes / kGroupHeapShare, kGroupHeapBytesMin));
  layout.parts_offset = EndOfHeads(layout);
  return layout;
}

std::uint64_t SegmentBytes(const SegmentLayout& layout) {
  return layout.parts_offset + layout.parts_bytes;
}

std::uint64_t BytesToOpen(std::uint32_t members) {
  return RoundUp(sizeof(NodeHeader), kPageBytes) +
         RoundUp(members * sizeof(ProcessCell), kPageBytes) + members * kPageBytes;
}

void ImageOrder::ReleaseHeld(std::uint64_t number) {
  if (!Holds(number)) return;
  released_to.store(number);
  released.Advance();
}

void ImageOrder::AwaitRelease(std::uint64_t number, PollWait& wait) {
  for (;;) {
    const std::uint32_t seen = released.value.load();
    if (!Holds(number)) return;
    wait.Until(released, seen + 1);
  }
}

void Segment::GiveBack(Pid pid, int heap, std::uint64_t kept, HeapUse& use) const {
  const std::uint64_t from = RoundUp(std::max({kept, use.bytes, kHeapKeptBytes}), kPageBytes);
  if (use.peak <= 2 * from) return;
  madvise(arena(pid) + heap_offset(heap) + from, use.peak - from, MADV_REMOVE);
  root_->heap_memory.fetch_sub(use.peak - from, std::memory_order_relaxed);
  use.peak = from;
}

bool Segment::HasPart(std::uint64_t offset, std::uint32_t members) const {
  const std::uint64_t end = layout_.parts_offset + layout_.parts_bytes;
  return members != 0 && members <= layout_.nprocs && offset % kPageBytes == 0 &&
         offset >= layout_.parts_offset && offset <= end &&
         SegmentBytes(LayOutGroup(layout_, members)) <= end - offset;
}

bool Segment::MayKeep(std::uint64_t bytes) const {
  std::atomic<std::uint64_t>& kept = root_->groups.kept_bytes;
  const std::uint64_t all = kept.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (all <= kKeptPartsBytesMax && all + heap_memory() <= layout_.memory_max / 2) return true;
  kept.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void Segment::GiveUpPart(GroupSlot& slot, std::uint64_t offset, std::uint32_t members,
                         PartUse use) const {
  const SegmentLayout part = LayOutGroup(layout_, members);
  ReturnPart(members);
  root_->heap_memory.fetch_sub(held_in_part(offset).exchange(0), std::memory_order_relaxed);
  const bool keeps = use == PartUse::kLittle && MayKeep(BytesOfLittleUse(part));
  if (!keeps) madvise(data_ + offset, SegmentBytes(part), MADV_REMOVE);
  slot.state.store(keeps ? GroupSlot::kKept : GroupSlot::kFree, std::memory_order_release);
}

void Segment::TakeUpPart(GroupSlot& slot) const {
  const SegmentLayout part = LayOutGroup(layout_, slot.members);
  root_->groups.kept_bytes.fetch_sub(BytesOfLittleUse(part), std::memory_order_relaxed);
  slot.state.store(GroupSlot::kFree, std::memory_order_relaxed);
  std::byte* const at = data_ + slot.offset;
  std::memset(at, 0, part.rings_offset);  // Header, cells, directories and stamps.
  std::memset(at + part.handed_offset, 0, part.slots_offset - part.handed_offset);
}

void Segment::DropPart(GroupSlot& slot) const {
  TakeUpPart(slot);
  madvise(data_ + slot.offset, slot.bytes, MADV_REMOVE);
}

void ReleaseBarrier(NodeBarrier& barrier, std::uint32_t index) {
  BarrierPhase& other = barrier.phases[(index + 1) & 1];
  for (std::atomic<std::uint32_t>* count :
       {&other.arrived, &other.with_data, &other.with_gets, &other.with_votes, &other.ending,
        &other.with_groups, &other.answered, &other.save, &other.by_count, &other.after_count}) {
    count->store(0, std::memory_order_relaxed);
  }
  other.called_ns.store(0, std::memory_order_relaxed);
  barrier.released.Publish(index + 1);
}

void FoldMeasurements(const Segment& segment, std::uint32_t p, std::uint64_t to) {
  std::atomic<std::uint32_t>& version = segment.header().totals_version;
  std::uint32_t even = version.load(std::memory_order_relaxed) & ~1u;
  while (!version.compare_exchange_weak(even, even + 1, std::memory_order_acq_rel)) {
    even &= ~1u;
    sched_yield();
  }
  std::atomic_thread_fence(std::memory_order_release);  // No total is seen before that.
  SuperstepTotals& totals = segment.header().totals;
  AddMeasurements(segment, p, totals.supersteps, to, totals);
  version.store(even + 2, std::memory_order_release);
}

std::uint64_t FoldedSupersteps(const Segment& segment) {
  return ReadOnce(segment.header().totals.supersteps);
}

SuperstepTotals ReadTotals(const std::atomic<std::uint32_t>& version,
                           const SuperstepTotals& shared) {
  constexpr int kTries = 1000;  // Who changes them may have been stopped, or be wrong.
  for (int i = 0;; ++i) {
    const std::uint32_t before = version.load(std::memory_order_acquire);
    SuperstepTotals totals;
    std::memcpy(&totals, &shared, sizeof totals);
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool whole = (before & 1) == 0 && version.load(std::memory_order_relaxed) == before;
    if (whole || i == kTries) return totals;
  }
}

void AddMeasurements(const Segment& segment, std::uint32_t p, std::uint64_t from, std::uint64_t to,
                     SuperstepTotals& totals) {
  for (std::uint64_t s = from; s < to; ++s) AddSuperstep(SumsHere(segment, p, s), totals);
}

SuperstepSums SumsHere(const Segment& segment, std::uint32_t p, std::uint64_t superstep) {
  SuperstepSums sums{};
  for (std::uint32_t pid = 0; pid < p; ++pid) {
    if (!segment.IsHere(Pid{pid})) continue;
    AddProcesses(SumsOf(segment, Pid{pid}, superstep), sums);
  }
  sums.superstep = superstep;
  return sums;
}

// Neighbours that one call ended are added up on the way, if one record takes them: that is the
// usual case, and spares them the way to the record and to the site.
void FoldProfile(const Segment& segment, Pid pid, std::uint64_t to, const ProfilePart& part) {
  const std::uint64_t from = part.head().folded;
  if (to - from > kRingSupersteps || !part.CanAdd()) return;
  for (std::uint64_t s = from; s < to;) {
    const std::uint64_t site = SiteOf(segment.measurement(pid, s));
    const std::uint64_t end = s + std::min(part.room(), to - s);
    const std::uint64_t first = s;
    ProfileRecord sum;
    do {
      AddTo(sum, segment.measurement(pid, s));
      ++s;
    } while (s < end && SiteOf(segment.measurement(pid, s)) == site);
    part.Add(sum, s - first,
             static_cast<std::uint16_t>(std::min<std::uint64_t>(site, kProfileSitesMax - 1)));
  }
}

}  // namespace bspnow
