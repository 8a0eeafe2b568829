// What this process owes the others in the superstep that it computes: puts, get requests and
// messages, appended to chains of chunks per destination, one chain a kind. The copy made here is
// the "buffered on source" of BSPlib 1997, "Direct Remote Memory Access".
//
// In a job of several nodes full chunks for other nodes leave their chains early: handed_ring.h.
//
// Two outboxes by parity of the superstep: the one of superstep s is used again in s + 2, when all
// have passed barrier s + 1 and so are done with it.
#ifndef RUNTIME_TRANSFERS_OUTBOX_H_
#define RUNTIME_TRANSFERS_OUTBOX_H_

#include <cstddef>
#include <cstdint>

#include "base/copy.h"
#include "base/grow_array.h"
#include "base/ids.h"
#include "runtime/link/handed_ring.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

/// Where a transfer goes, and what of it. `offset` and `bytes` in bytes.
struct RemoteRange {
  Pid pid;
  SlotId slot;
  std::uint64_t offset;
  std::uint64_t bytes;
};

class Outbox {
 public:
  /// For process `self` of `p`. `site_bytes` is 8 if records carry call sites, else 0.
  void Attach(const Segment& segment, Pid self, std::uint32_t p, std::size_t site_bytes);

  /// For a job of several nodes, after Attach: hands full chunks for other nodes to the worker.
  void HandOverBy(Doorbell& doorbell) { ring_.Attach(*segment_, self_, doorbell); }

  void AppendPut(const RemoteRange& to, const void* source, std::uint64_t call_site) {
    Writer& w = writer(to.pid, kPuts);
    records_ += 1;
    entry(to.pid).bytes_to += to.bytes;
    if (Merge(w, to, source)) return;
    std::byte* at = AlignUp(w.tail, kRecordAlign);
    // Short and the chunk has room: the whole path of a fine-grained put, kept inline.
    if (__builtin_expect(to.bytes <= kRecordBytesMax && site_bytes_ == 0 &&
                             EndsBy(w.end, at, sizeof(PutRecord) + to.bytes),
                         1)) {
      WritePut(w, at, to, source);
    } else {
      AppendPutSlowly(to, static_cast<const std::byte*>(source), call_site);
    }
  }
  void AppendGet(const RemoteRange& from, void* destination, std::uint64_t call_site);
  void AppendMessage(Pid to, const void* tag, std::size_t tag_bytes, const void* payload,
                     std::size_t payload_bytes);

  /// Whether unbuffered puts to other nodes go by HandDirectPut.
  bool HandsOver() const { return ring_.attached(); }

  /// An unbuffered put of at most kHandedPutBytesMax to another node: the worker sends it at once.
  /// Waits for a place in the ring; AwaitsPlace names what for.
  void HandDirectPut(const RemoteRange& to, const std::byte* source);
  Watched AwaitsPlace() const { return ring_.AwaitsPlace(parity_); }

  // Chunks that travel while the next is filled are short: what is under way then stays in the
  // caches, between the copy that is made here and that of the worker.
  static constexpr std::uint64_t kHandedChunkBytes = 256 << 10;
  static constexpr std::uint64_t kHandedPutBytesMax =
      kHandedChunkBytes - kChunkHeaderBytes - sizeof(PutRecord);

  /// Counts an unbuffered transfer, which leaves no record, in the h-relation.
  void CountDirectPut(Pid to, std::uint64_t bytes) { Touch(to).bytes_to += bytes; }
  void CountDirectGet(Pid from, std::uint64_t bytes) { Touch(from).bytes_from += bytes; }

  bool empty() const { return touched_[parity_].empty(); }
  std::uint64_t gets() const { return gets_; }
  std::uint64_t records() const { return records_; }

  /// Makes the chunks readable for the others; before the barrier.
  void Seal();

  /// Empties the outbox of two supersteps ago and makes it the current one; after the barrier.
  void NextSuperstep();

  unsigned parity() const { return parity_; }

 private:
  /// The open chunk of one chain.
  struct Writer {
    std::byte* tail;         ///< End of what is written, payload not padded.
    std::byte* end;          ///< Of the chunk.
    std::byte* last_record;  ///< That a put may be merged into.
    Chunk* chunk;
    std::uint64_t next_bytes;  ///< Of the next chunk; grows geometrically.
  };
  enum Kind { kPuts, kGets, kMessages, kKinds };

  Writer& writer(Pid pid, Kind kind) { return writers_[Value(pid) * kKinds + kind]; }
  DirectoryEntry& entry(Pid pid) { return entries_[std::size_t{Value(pid)} * nprocs_]; }
  static constexpr std::size_t kRecordAlign = 8;

  static std::byte* AlignUp(std::byte* at, std::size_t align) {
    return at + (-reinterpret_cast<std::uintptr_t>(at) & (align - 1));
  }

  // Whether the bytes from `at` on end at `end` or before. Without an open chunk both are null, to
  // which nothing may be added: so this counts in addresses.
  static bool EndsBy(const std::byte* end, const std::byte* at, std::uint64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(at) + bytes <= reinterpret_cast<std::uintptr_t>(end);
  }

  // A put that continues the last one is written after it (combining: Q&A about BSP, section 8).
  bool Merge(Writer& w, const RemoteRange& to, const void* source) {
    if (w.last_record == nullptr || site_bytes_ != 0) return false;
    auto* last = reinterpret_cast<PutRecord*>(w.last_record);
    if (last->offset + last->bytes != to.offset || last->slot != Value(to.slot)) return false;
    if (!EndsBy(w.end, w.tail, to.bytes) || last->bytes + to.bytes > kRecordBytesMax) return false;
    Copy(w.tail, source, to.bytes);
    w.tail += to.bytes;
    last->bytes += static_cast<std::uint32_t>(to.bytes);
    return true;
  }

  static void WritePut(Writer& w, std::byte* at, const RemoteRange& to, const void* source) {
    *reinterpret_cast<PutRecord*>(at) = PutRecord{
        .slot = Value(to.slot), .bytes = static_cast<std::uint32_t>(to.bytes), .offset = to.offset};
    Copy(at + sizeof(PutRecord), source, to.bytes);
    w.last_record = at;
    w.tail = at + sizeof(PutRecord) + to.bytes;
  }

  void RequireRoom(std::uint64_t bytes) const;
  DirectoryEntry& Touch(Pid pid);
  void AppendPutSlowly(const RemoteRange& to, const std::byte* from, std::uint64_t call_site);
  std::byte* Room(Pid pid, Kind kind, std::size_t align, std::size_t bytes) {
    Writer& w = writer(pid, kind);
    std::byte* at = AlignUp(w.tail, align);
    if (__builtin_expect(!EndsBy(w.end, at, bytes), 0)) at = OpenChunk(pid, kind, bytes);
    w.last_record = at;
    w.tail = at + bytes;
    return at;
  }
  std::byte* OpenChunk(Pid pid, Kind kind, std::size_t bytes);
  std::byte* Open(Writer& w, std::uint64_t& first, const ChunkRoom& room);
  static void Close(Writer& w, std::size_t align);
  ChunkRoom Allocate(std::uint64_t bytes);
  ChunkRoom HandOver(Pid pid, Kind kind, std::uint64_t first);
  bool IsHandedOver(Pid pid, Kind kind) const {
    return ring_.attached() && kind != kGets && !segment_->IsHere(pid);
  }

  const Segment* segment_ = nullptr;
  Pid self_{};
  std::size_t site_bytes_ = 0;
  unsigned parity_ = 0;
  DirectoryEntry* entries_ = nullptr;  ///< Of the current parity; the one for pid 0.
  std::size_t nprocs_ = 0;             ///< Entries from one pid's to the next one's.
  std::byte* arena_ = nullptr;
  HeapUse use_;                          ///< Of the current parity's heap.
  std::uint64_t recycled_bytes_ = 0;     ///< Of chunks that hold their second load or a later one.
  std::uint64_t heap_peak_[2] = {0, 0};  ///< Bytes of each heap that hold memory.
  std::uint64_t gets_ = 0;
  std::uint64_t records_ = 0;
  GrowArray<Writer> writers_;
  ChunkRoom direct_room_;  ///< For the next unbuffered put to another node.
  HandedRing ring_;
  GrowArray<std::uint32_t> touched_[2];  ///< Destinations, by parity.
  GrowArray<std::uint8_t> is_touched_;   ///< By pid, of the current parity.
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_OUTBOX_H_
