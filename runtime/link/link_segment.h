// Typed access to the segment of link.h. The worker lays it out, processes attach to it.
#ifndef RUNTIME_LINK_LINK_SEGMENT_H_
#define RUNTIME_LINK_LINK_SEGMENT_H_

#include <atomic>
#include <cstdint>

#include "base/ids.h"
#include "base/mapped_region.h"
#include "base/superstep_totals.h"
#include "runtime/link/lane.h"
#include "runtime/link/link.h"
#include "runtime/link/superstep_profile.h"

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
  /// That communication may take here, of memory; more would make the kernel kill a process.
  std::uint64_t memory_max = ~std::uint64_t{0};
  bool check_textual = false;
  bool takes_turns = false;  ///< One process runs at a time, on one node.
  MessageSizes message_sizes{};
};

SegmentLayout LayOutSegment(const SegmentPlan& plan);

/// The part of a segment that a group gets: that of a job of its members, with smaller heaps.
SegmentLayout LayOutGroup(const SegmentLayout& root, std::uint32_t members);

/// The length of what a layout describes; sparse.
std::uint64_t SegmentBytes(const SegmentLayout& layout);

/// A process's part of each registration slot.
class SlotAreas {
 public:
  SlotAreas() = default;
  /// `first_block` of the process; the next one is `stride` blocks further.
  SlotAreas(RegisteredArea* first_block, std::uint64_t stride)
      : first_block_(first_block), stride_(stride) {}

  RegisteredArea& operator[](std::uint64_t slot) const {
    return first_block_[slot / kSlotsOfBlock * stride_ * kSlotsOfBlock + slot % kSlotsOfBlock];
  }

 private:
  RegisteredArea* first_block_ = nullptr;
  std::uint64_t stride_ = 1;
};

/// A heap keeps this much memory from one superstep to the next; more only as long as it is in use.
inline constexpr std::uint64_t kHeapKeptBytes = 64 << 20;

/// Of parts of groups that were left, on one node.
inline constexpr std::uint64_t kKeptPartsBytesMax = 16 << 20;

/// What opening a part takes of memory at once: its header and cells, and a page that each member
/// writes when it ends a superstep. So it counts as what heaps hold.
std::uint64_t BytesToOpen(std::uint32_t members);

/// What is taken of a heap and its head.
struct HeapUse {
  std::uint64_t head = 0;
  std::uint64_t bytes = 0;  ///< Beside the head.
  std::uint64_t peak = 0;   ///< The most that `bytes` was: so much of the heap holds memory.

  /// What was taken is not needed any more; its memory stays.
  void Restart() { head = bytes = 0; }
  /// The same, for good. Returns how much of it that is; it still counts as held.
  std::uint64_t TakeAll() {
    const std::uint64_t held = peak;
    *this = HeapUse{};
    return held;
  }
};

/// A segment mapped into this process.
class Segment {
 public:
  Segment() = default;

  /// `layout` is the caller's own; its extent must be that of the region.
  Segment(MappedRegion region, const SegmentLayout& layout)
      : region_(static_cast<MappedRegion&&>(region)),
        data_(region_.data()),
        root_(reinterpret_cast<NodeHeader*>(region_.data())),
        layout_(layout) {}

  /// The part of a group at this offset, which must lie in it. Valid as long as this one is.
  Segment Part(std::uint64_t offset, const SegmentLayout& layout) const {
    Segment part;
    part.data_ = data_ + offset;
    part.root_ = root_;
    part.layout_ = layout;
    return part;
  }

  /// Whether a part for so many members can lie at this offset: for who reads a GroupSlot, which
  /// any process may have overwritten. The members' pids in the part are still to be checked.
  bool HasPart(std::uint64_t offset, std::uint32_t members) const;

  bool valid() const { return data_ != nullptr; }

  /// It is not mapped any more: in a process that has been restored.
  void Forget() {
    region_.Release();
    data_ = nullptr;
  }

  std::uint64_t bytes() const { return region_.bytes(); }
  const SegmentLayout& layout() const { return layout_; }
  NodeHeader& header() const { return *reinterpret_cast<NodeHeader*>(data_); }

  /// The header of the whole segment, if this is a group's part; else its own.
  NodeHeader& root() const { return *root_; }

  std::uint64_t OffsetOf(const std::byte* place) const {
    return static_cast<std::uint64_t>(place - data_);
  }
  /// Not of a group's part. nullptr: so many bytes do not lie there.
  std::byte* Find(std::uint64_t offset, std::uint64_t count) const {
    return offset <= bytes() && count <= bytes() - offset ? data_ + offset : nullptr;
  }

  GroupSlot& group_slot(std::uint32_t i) const { return At<GroupSlot>(layout_.groups_offset)[i]; }

  /// Not of a group's part.
  LaneArea& lanes() const { return *At<LaneArea>(layout_.lanes_offset); }

  /// Not of a group's part; none is taken if the job is not simulated.
  Turn turn(Pid pid) const {
    if (layout_.turns_offset == 0) return {};
    return Turn(*At<TurnOrder>(layout_.turns_offset),
                At<TurnPlace>(layout_.turns_offset + sizeof(TurnOrder)), layout_.nprocs,
                Value(pid));
  }

  ProcessCell& cell(Pid pid) const {
    auto* cells = At<ProcessCell>(layout_.cells_offset);
    return cells[Value(pid)];
  }

  /// Not of a group's part: then it is not valid.
  ProfilePart profile(Pid pid) const {
    if (layout_.profiles_offset == 0) return {};
    const std::uint32_t p = layout_.nprocs;
    return ProfilePart(data_ + layout_.profiles_offset + Value(pid) * ProfileBytesOf(p), p);
  }

  std::byte* arena(Pid pid) const {
    return data_ + layout_.arenas_offset + Value(pid) * layout_.arena_bytes;
  }

  /// What `owner` owes `reader` in supersteps of this parity. Its entries for two readers lie
  /// nprocs apart: who reads walks one range.
  DirectoryEntry& entry(Pid owner, Pid reader, unsigned parity) const {
    const std::uint64_t row = std::uint64_t{parity} * layout_.nprocs + Value(reader);
    return At<DirectoryEntry>(layout_.directories_offset)[row * layout_.nprocs + Value(owner)];
  }

  /// s + 1: in superstep s, which ends without a barrier, the owner has sent what its entry says.
  std::atomic<std::uint64_t>& stamp(Pid owner, Pid reader, unsigned parity) const {
    const std::uint64_t row = std::uint64_t{parity} * layout_.nprocs + Value(reader);
    return At<std::atomic<std::uint64_t>>(
        layout_.stamps_offset)[row * layout_.nprocs + Value(owner)];
  }

  Measurement& measurement(Pid owner, std::uint64_t superstep) const {
    return At<Measurement>(
        layout_.rings_offset)[Value(owner) * kRingSupersteps + superstep % kRingSupersteps];
  }

  /// Not of a group's part. Valid where kWithGroups says so.
  GroupSums& group_sums(Pid owner, std::uint64_t superstep) const {
    return At<GroupSums>(
        layout_.group_sums_offset)[Value(owner) * kRingSupersteps + superstep % kRingSupersteps];
  }

  SlotAreas slots(Pid owner) const {
    return {At<RegisteredArea>(layout_.slots_offset) + Value(owner) * kSlotsOfBlock,
            layout_.nprocs};
  }

  std::uint64_t* pops(Pid owner, unsigned parity) const {
    return At<std::uint64_t>(layout_.pops_offset) +
           (2 * std::uint64_t{Value(owner)} + parity) * kSlotsMax;
  }

  std::uint64_t* pushes(Pid owner, unsigned parity) const {
    return At<std::uint64_t>(layout_.pushes_offset) +
           (2 * std::uint64_t{Value(owner)} + parity) * kSlotsMax;
  }

  HandedChunk* handed(Pid owner, unsigned parity) const {
    return At<HandedChunk>(layout_.handed_offset) +
           (2 * std::uint64_t{Value(owner)} + parity) * kHandedMax;
  }

  /// Whether the process lives on this node.
  bool IsHere(Pid pid) const { return cell(pid).node == header().node; }

  /// From the start of the arena, and so is the next one.
  std::uint64_t heap_offset(int heap) const {
    return kPageBytes + static_cast<std::uint64_t>(heap) * layout_.heap_bytes;  // 0 is no chunk.
  }
  std::uint64_t head_offset(Pid pid, int heap) const {
    const std::uint64_t head = Value(pid) * std::uint64_t{kHeaps} + static_cast<unsigned>(heap);
    return layout_.heads_offset + head * layout_.head_bytes - layout_.arenas_offset -
           Value(pid) * layout_.arena_bytes;
  }
  /// Takes more memory for the heaps, if all together may have it.
  bool Claim(std::uint64_t bytes) const {
    std::atomic<std::uint64_t>& held = root_->heap_memory;
    if (held.fetch_add(bytes, std::memory_order_relaxed) + bytes <= layout_.memory_max) return true;
    held.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  std::uint64_t heap_memory() const { return root_->heap_memory.load(); }

  /// Room for so many bytes in a heap: in its head, as long as it has any. 0: there is none, or no
  /// memory for it.
  std::uint64_t TakeRoom(Pid pid, int heap, std::uint64_t bytes, HeapUse& use) const {
    if (bytes <= layout_.head_bytes - use.head) {
      use.head += bytes;
      return head_offset(pid, heap) + use.head - bytes;
    }
    if (bytes > layout_.heap_bytes - use.bytes) return 0;
    const std::uint64_t end = use.bytes + bytes;
    if (end > use.peak) {
      if (!Claim(end - use.peak)) return 0;
      use.peak = end;
    }
    use.bytes = end;
    return heap_offset(heap) + use.bytes - bytes;
  }
  /// The memory of a heap of a group goes with the group's part, but for what a worker has there.
  void Return(HeapUse& use) const {
    root_->heap_memory.fetch_sub(use.TakeAll(), std::memory_order_relaxed);
  }
  /// Of the part at this offset: what heaps of members hold that have left the group. It counts in
  /// heap_memory, too, until the part is given up.
  std::atomic<std::uint64_t>& held_in_part(std::uint64_t offset) const {
    return reinterpret_cast<NodeHeader*>(data_ + offset)->heap_memory;
  }
  /// Of who opens a part; whoever gives it up returns that.
  bool ClaimPart(std::uint32_t members) const { return Claim(BytesToOpen(members)); }
  void ReturnPart(std::uint32_t members) const {
    root_->heap_memory.fetch_sub(BytesToOpen(members), std::memory_order_relaxed);
  }
  /// Gives up the part at `offset` of a group that all members here have left; it has `members` in
  /// all. The next group is mostly of the same size. So if this one used little of its part, the
  /// memory is kept for that: up to kKeptPartsBytesMax in all, and while the heaps hold less than
  /// half of what they may. (It does not count as theirs, nor do heads and most of the tables of
  /// open groups.)
  enum class PartUse { kLittle, kMuch };
  static PartUse UseOf(const GroupSlot& slot) {  // Whatever a program has written there.
    return __atomic_load_n(&slot.large, __ATOMIC_RELAXED) == 0 ? PartUse::kLittle : PartUse::kMuch;
  }
  void GiveUpPart(GroupSlot& slot, std::uint64_t offset, std::uint32_t members, PartUse use) const;
  /// Of a slot that is kept: as new, but for what nobody reads before it has been written. Its slot
  /// is free then.
  void TakeUpPart(GroupSlot& slot) const;
  /// The same, and the memory is given back.
  void DropPart(GroupSlot& slot) const;

  /// One large superstep must not hold its memory for the rest of the run: where a heap holds more
  /// than twice what it keeps, which is at least `kept`, the rest is given back.
  void GiveBack(Pid pid, int heap, std::uint64_t kept, HeapUse& use) const;

  /// Whether [offset, offset + bytes) lies in a heap of the process, or in its head.
  bool InHeap(Pid pid, int heap, std::uint64_t offset, std::uint64_t bytes) const {
    const std::uint64_t in_heap = offset - heap_offset(heap);
    const std::uint64_t in_head = offset - head_offset(pid, heap);
    return (in_heap <= layout_.heap_bytes && bytes <= layout_.heap_bytes - in_heap) ||
           (in_head <= layout_.head_bytes && bytes <= layout_.head_bytes - in_head);
  }

 private:
  template <typename T>
  T* At(std::uint64_t offset) const {
    return reinterpret_cast<T*>(data_ + offset);
  }
  bool MayKeep(std::uint64_t bytes) const;

  MappedRegion region_;  ///< Not of a part.
  std::byte* data_ = nullptr;
  NodeHeader* root_ = nullptr;
  SegmentLayout layout_{};
};

/// Reads a word that a process may change at any time: by one load, so that the value that was
/// checked is the one that is used.
template <typename T>
T ReadOnce(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

/// Ends barrier number `index`: clears the other phase, which everybody has read by then, and lets
/// the processes go. By the last to arrive, or by the worker if the job has several nodes.
void ReleaseBarrier(NodeBarrier& barrier, std::uint32_t index);

/// Adds what processes 0..p-1 have recorded of the supersteps before `to`, and is not yet in the
/// totals, to these: w and h take the largest process of each superstep (Q&A about BSP, section 4:
/// cost w + h*g + l). Several processes may do so at a time.
void FoldMeasurements(const Segment& segment, std::uint32_t p, std::uint64_t to);

/// How many that are.
std::uint64_t FoldedSupersteps(const Segment& segment);

/// Totals that some process may be changing, and the word that says so (odd while it does).
SuperstepTotals ReadTotals(const std::atomic<std::uint32_t>& version,
                           const SuperstepTotals& totals);

/// Adds supersteps [from, to) to totals of the caller's.
void AddMeasurements(const Segment& segment, std::uint32_t p, std::uint64_t from, std::uint64_t to,
                     SuperstepTotals& totals);

/// Adds to `part`, the profile of `pid` or a copy of it, what its ring has of this epoch's
/// supersteps up to `to`, and the profile has not yet. Whatever a program has written there.
void FoldProfile(const Segment& segment, Pid pid, std::uint64_t to, const ProfilePart& part);

/// Of those of processes 0..p-1 that live here, in this superstep, which must be in the rings with
/// the one before. They may have written anything there.
SuperstepSums SumsHere(const Segment& segment, std::uint32_t p, std::uint64_t superstep);

}  // namespace bspnow

#endif  // RUNTIME_LINK_LINK_SEGMENT_H_
