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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/copy.h"
#include "base/grow_array.h"
#include "base/ids.h"
#include "base/poll_wait.h"
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

  /// Large puts to other nodes are handed over; or stay in their chains while the frame of a lane
  /// could take these; or, if nothing else is put there, in any case: they may go by bulk lanes.
  enum class LargePuts { kHandedOver, kInFrames, kKept };
  void Treat(LargePuts large_puts) { large_puts_ = large_puts; }
  /// In this superstep: for bulk lanes.
  void KeepNoMore() { large_puts_ = std::min(large_puts_, LargePuts::kInFrames); }
  bool KeptAny() const { return kept_count_ != 0; }
  /// Something was kept, and what was put after it made that useless.
  bool kept_in_vain() const { return kept_in_vain_; }
  bool Kept(Pid pid) const {
    return std::find(kept_, kept_ + kept_count_, Value(pid)) != kept_ + kept_count_;
  }
  std::uint64_t kept_ns() const { return kept_ns_; }  ///< When the last of them was put.
  /// After Seal: all that is put to `pid` is in its place.
  void DropPuts(Pid pid) { entry(pid).puts = 0; }

  /// The barrier before this superstep is not over yet: chunks stay here until HandChunks.
  void KeepChunks() { keeps_chunks_ = true; }
  void HandChunks() { keeps_chunks_ = false; }

  void AppendPut(const RemoteRange& to, const void* source, std::uint64_t call_site) {
    if (PutMore(to, source)) return;
    Writer& w = writer(to.pid, kPuts);
    EndRun(to.pid, kPuts);
    DirectoryEntry& owed = entry(to.pid);
    owed.transfers += 1;
    owed.bytes_to += to.bytes;
    if (Merge(w, to, source)) return;
    std::byte* at = AlignUp(w.tail, kRecordAlign);
    // Short and the chunk has room: the whole path of a fine-grained put, kept inline.
    if (__builtin_expect(to.bytes <= kRecordBytesMax && site_bytes_ == 0 &&
                             EndsBy(w.end, at, sizeof(PutRun) + sizeof(RunOffset) + to.bytes),
                         1)) {
      BeginsRun(w, to) ? BeginRun(at, to, source) : WritePut(w, at, to, source);
    } else {
      AppendPutSlowly(to, static_cast<const std::byte*>(source), call_site);
    }
  }
  void AppendGet(const RemoteRange& from, void* destination, std::uint64_t call_site) {
    if (GetMore(from, destination)) return;
    EndRun(from.pid, kGets);
    has_gets_ = true;
    DirectoryEntry& owed = entry(from.pid);
    owed.transfers += 1;
    owed.bytes_from += from.bytes;
    if (site_bytes_ == 0 && BeginRun(from, destination)) return;
    AppendGetSlowly(from, destination, call_site);
  }
  /// `tag_bytes` is the same in all calls of a superstep.
  void AppendMessage(Pid to, const void* tag, std::size_t tag_bytes, const void* payload,
                     std::size_t payload_bytes) {
    tag_bytes_ = tag_bytes;
    if (SendMore(to, tag, tag_bytes, payload, payload_bytes)) return;
    const std::size_t long_tag = LongTagBytes(tag_bytes);
    Writer& w = writer(to, kMessages);
    EndRun(to, kMessages);
    DirectoryEntry& owed = entry(to);
    owed.message_count += 1;
    owed.message_bytes += payload_bytes;
    if (BeginRun(w, long_tag, payload_bytes))
      return WriteToRun(w, tag, tag_bytes, payload, payload_bytes);
    std::byte* at = AlignUp(w.tail, kRecordAlign);
    // In numbers, since `at` is null without an open chunk.
    std::size_t head = sizeof(MessageRecord);
    if (AlignsContent(long_tag, payload_bytes))
      head += reinterpret_cast<std::uintptr_t>(at) & (kMessageAlign - 1);
    if (__builtin_expect(!EndsBy(w.end, at, head + long_tag + payload_bytes), 0)) {
      head = sizeof(MessageRecord);
      at = OpenChunk(to, kMessages, head + long_tag + payload_bytes);
    }
    std::byte* const content = at + head;
    auto* record = reinterpret_cast<MessageRecord*>(at);
    w.last_record = at;
    w.tail = content + long_tag + payload_bytes;
    record->payload_and_padding = payload_bytes;
    Copy(long_tag == 0 ? record->tag : content, tag, tag_bytes);
    CopyPayload(content + long_tag, payload, payload_bytes);
  }

  /// A message with a short tag. Returns where its content, of 16 bytes or more, is to be written.
  std::byte* AppendRecord(Pid to, const MessageRecord& record);

  // Whoever gets a message reads it soon, and what is kept is sent soon: while the outbox fits into
  // the caches it is left there.
  void CopyPayload(std::byte* to, const void* payload, std::size_t bytes) const {
    if (bytes < kStreamingBytesMin || uses_[parity_].bytes > kCachedBytesMax) {
      Copy(to, payload, bytes);
    } else {
      std::memcpy(to, payload, bytes);
    }
  }

  // A transfer or message like the last one to or from that process is one more of the run that
  // the last ones are (records.h). These write it, in a few instructions, since the run knows what
  // was checked and chosen when it began. False: nothing was done, it is for the calls above.
  bool PutMore(const RemoteRange& to, const void* source) {
    Writer& w = writer(to.pid, kPuts);
    // What goes on where the last one ends does better as a record, with which more can be merged.
    if (!GoesOn(w, to) || to.offset == w.run_at) return false;
    WriteToRun(w, to, source);
    return true;
  }
  bool GetMore(const RemoteRange& from, const void* destination) {
    Writer& w = writer(from.pid, kGets);
    const std::int64_t distance = DistanceInRun(destination, w.run_at);
    if (!GoesOn(w, from) || !FitsARun(distance)) return false;
    WriteToRun(w, from.offset, distance);
    return true;
  }
  bool SendMore(Pid to, const void* tag, std::size_t tag_bytes, const void* payload,
                std::size_t payload_bytes) {
    Writer& w = writer(to, kMessages);
    if (w.run_bytes != payload_bytes || w.tail >= w.run_limit) return false;
    WriteToRun(w, tag, tag_bytes, payload, payload_bytes);
    return true;
  }

  /// From now on each message has a record of its own: messages are named by it.
  void KeepMessagesApart() { messages_apart_ = true; }
  bool keeps_messages_apart() const { return messages_apart_; }

  /// Whether unbuffered puts to other nodes go by HandDirectPut.
  bool HandsOver() const { return ring_.attached(); }
  /// Whether the frame of a lane can take this one, too: then it does best as a buffered put.
  bool FitsAFrame(const RemoteRange& put);

  /// A part of an unbuffered put, which the caller counts, of at most kHandedPutBytesMax to another
  /// node: the worker sends it at once.
  /// Waits for a place in the ring; AwaitsPlace names what for.
  void HandDirectPut(const RemoteRange& to, const std::byte* source);
  Watched AwaitsPlace() const { return ring_.AwaitsPlace(parity_); }

  // Chunks that travel while the next is filled are short: what is under way then stays in the
  // caches, between the copy that is made here and that of the worker.
  static constexpr std::uint64_t kHandedChunkBytes = 256 << 10;
  static constexpr std::uint64_t kHandedPutBytesMax =
      kHandedChunkBytes - kChunkHeaderBytes - sizeof(PutRecord);

  /// Counts an unbuffered transfer, which leaves no record, in the h-relation.
  void CountDirectPut(Pid to, std::uint64_t bytes) {
    DirectoryEntry& owed = Touch(to);
    owed.transfers += 1;
    owed.bytes_to += sizes_.Counted(bytes);
  }
  void CountDirectGet(Pid from, std::uint64_t bytes) {
    DirectoryEntry& owed = Touch(from);
    owed.transfers += 1;
    owed.bytes_from += sizes_.Counted(bytes);
  }

  bool empty() const { return touched_[parity_].empty(); }
  bool has_gets() const { return has_gets_; }  ///< Buffered ones.

  /// Makes the chunks readable for the others; before the barrier.
  void Seal();

  /// After Seal, in a superstep that ends without a barrier: whoever is sent something may read it.
  void Announce(std::uint64_t superstep);
  /// The processes to which something goes in this superstep.
  const GrowArray<std::uint32_t>& destinations() const { return touched_[parity_]; }

  /// Who was sent something in the superstep before this one.
  const GrowArray<std::uint32_t>& readers() const { return touched_[parity_ ^ 1]; }

  /// Whether something else than messages was issued.
  bool HasTransfers() const;

  /// Empties the outbox of two supersteps ago and makes it the current one; after the barrier.
  void NextSuperstep();

  unsigned parity() const { return parity_; }

  /// Of those that most supersteps need.
  template <typename Use>
  void ForEachArray(const Use& use) {
    use(writers_);
    for (GrowArray<std::uint32_t>& touched : touched_) use(touched);
  }

  /// Nothing is written to this outbox any more. Returns what its heaps hold.
  std::uint64_t GiveBackAll();
  /// Whether it holds more than the heads of its heaps.
  bool UsesMore() const { return uses_[0].peak + uses_[1].peak != 0; }

 private:
  /// The open chunk of one chain. What a run adds to the directory entry and to its own header is
  /// counted when it ends.
  struct Writer {
    std::byte* tail;           ///< End of what is written, payload not padded.
    std::byte* run_limit;      ///< Of `tail`, for one more of the run that is open; null: none is.
    std::uint64_t offset_end;  ///< Transfers of the run begin before it in the area.
    std::uint64_t run_at;      ///< Where the last put ends; of gets, whence destinations count.
    std::uint32_t run_slot;
    std::uint32_t run_bytes;  ///< Of each transfer or payload.
    std::byte* end;           ///< Of the chunk.
    std::byte* last_record;   ///< Of any kind; a run is one.
    Chunk* chunk;
    std::uint64_t next_bytes;  ///< Of the next chunk; grows geometrically.
    bool touched;              ///< Of puts: its pid is in touched_.
  };
  enum Kind { kPuts, kGets, kMessages, kKinds };

  Writer& writer(Pid pid, Kind kind) { return writers_[Value(pid) * kKinds + kind]; }
  DirectoryEntry& entry(Pid pid) { return entries_[std::size_t{Value(pid)} * nprocs_]; }
  static constexpr std::uint64_t kRunOffsetMax = ~RunOffset{0};

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
    auto* last = reinterpret_cast<PutRecord*>(w.last_record);  // A run has another slot.
    if (last->offset + last->bytes != to.offset || last->slot != Value(to.slot)) return false;
    if (!EndsBy(w.end, w.tail, to.bytes) || last->bytes + to.bytes > kRecordBytesMax) return false;
    Copy(w.tail, source, to.bytes);
    w.tail += to.bytes;
    last->bytes += static_cast<std::uint32_t>(to.bytes);
    return true;
  }

  static bool GoesOn(const Writer& w, const RemoteRange& range) {
    return w.run_bytes == range.bytes && w.run_slot == Value(range.slot) &&
           range.offset < w.offset_end && w.tail < w.run_limit;
  }

  // Two puts in turn that could be a run.
  static bool BeginsRun(const Writer& w, const RemoteRange& to) {
    if (w.last_record == nullptr || to.bytes > kRunBytesMax) return false;
    const auto& last = *reinterpret_cast<const PutRecord*>(w.last_record);
    return last.slot == Value(to.slot) && last.bytes == to.bytes && to.bytes != 0 &&
           to.offset <= kRunOffsetMax;
  }
  void BeginRun(std::byte* at, const RemoteRange& to, const void* source);
  /// Of the last get, to which this one is added. False: they differ too much.
  bool BeginRun(const RemoteRange& from, const void* destination);
  /// Of the last message, the same.
  bool BeginRun(Writer& w, std::size_t long_tag, std::size_t payload_bytes) const;
  void OpenRun(Pid pid, Kind kind, const RemoteRange& range);
  void EndRun(Pid pid, Kind kind) {
    if (writer(pid, kind).run_limit != nullptr) EndOpenRun(pid, kind);
  }
  void EndOpenRun(Pid pid, Kind kind);
  /// From one transfer or message of a run to the next.
  static std::uint64_t StrideOf(Kind kind, std::uint64_t bytes) {
    if (kind == kMessages) return StrideInRun(bytes);
    return kind == kPuts ? sizeof(RunOffset) + bytes : sizeof(GetRunEntry);
  }

  static void WriteToRun(Writer& w, const RemoteRange& to, const void* source) {
    std::byte* const at = w.tail;
    const auto offset = static_cast<RunOffset>(to.offset);
    std::memcpy(at, &offset, sizeof offset);
    Copy(at + sizeof offset, source, to.bytes);
    w.tail = at + sizeof offset + to.bytes;
    w.run_at = to.offset + to.bytes;
  }
  static void WriteToRun(Writer& w, std::uint64_t offset, std::int64_t distance) {
    std::byte* const at = w.tail;
    *reinterpret_cast<GetRunEntry*>(at) = {.offset = static_cast<RunOffset>(offset),
                                           .destination = static_cast<std::int32_t>(distance)};
    w.tail = at + sizeof(GetRunEntry);
  }
  static void WriteToRun(Writer& w, const void* tag, std::size_t tag_bytes, const void* payload,
                         std::size_t payload_bytes) {
    std::byte* const at = w.tail;
    Copy(at, tag, tag_bytes);
    Copy(at + sizeof(MessageRecord::tag), payload, payload_bytes);
    w.tail = at + StrideInRun(payload_bytes);
  }
  static std::int64_t DistanceInRun(const void* destination, std::uint64_t first) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(destination) - first);
  }
  static bool FitsARun(std::int64_t distance) {
    return distance == static_cast<std::int32_t>(distance);
  }

  static void WritePut(Writer& w, std::byte* at, const RemoteRange& to, const void* source) {
    *reinterpret_cast<PutRecord*>(at) = PutRecord{
        .slot = Value(to.slot), .bytes = static_cast<std::uint32_t>(to.bytes), .offset = to.offset};
    Copy(at + sizeof(PutRecord), source, to.bytes);
    w.last_record = at;
    w.tail = at + sizeof(PutRecord) + to.bytes;
  }

  // What the model counts of a message beyond its bytes.
  std::uint64_t Beyond(std::uint64_t bytes) const { return sizes_.Counted(bytes) - bytes; }
  std::uint64_t BeyondMessages(const DirectoryEntry& owed) const;

  static constexpr std::uint64_t kCachedBytesMax = 8 << 20;

  static constexpr std::uint64_t kKeptBytesMin = 256 << 10;
  // Of the outbox: so what is kept comes out of the caches, and takes no more memory than what is
  // handed over.
  static constexpr std::uint64_t kKeptBytesMax = kCachedBytesMax;
  bool StaysForAFrame(std::uint64_t first, std::uint64_t more) const;
  std::uint64_t frame_data_max_ = 0;  ///< What a pair of processes may send in a frame.
  bool Keeps(Pid pid, Kind kind, std::uint64_t bytes);
  void NoteKept(Pid pid);
  void ForgetKept(Pid pid);

  void RequireRoom(const char* call, std::uint64_t bytes) const;
  [[noreturn]] __attribute__((cold)) void ReportNoMemory(const char* call,
                                                         std::uint64_t bytes) const;
  DirectoryEntry& Touch(Pid pid);
  void AppendPutSlowly(const RemoteRange& to, const std::byte* from, std::uint64_t call_site);
  void AppendGetSlowly(const RemoteRange& from, void* destination, std::uint64_t call_site);
  std::byte* Room(Pid pid, Kind kind, std::size_t bytes) {
    Writer& w = writer(pid, kind);
    std::byte* at = AlignUp(w.tail, kRecordAlign);
    if (__builtin_expect(!EndsBy(w.end, at, bytes), 0)) at = OpenChunk(pid, kind, bytes);
    w.last_record = at;
    w.tail = at + bytes;
    return at;
  }
  std::byte* OpenChunk(Pid pid, Kind kind, std::size_t bytes);
  std::byte* Open(Writer& w, std::uint64_t& first, const ChunkRoom& room);
  void Close(Pid pid, Kind kind);
  ChunkRoom Allocate(const char* call, std::uint64_t bytes);
  ChunkRoom HandOver(Pid pid, Kind kind, std::uint64_t first);
  bool IsHandedOver(Pid pid, Kind kind) const {
    return ring_.attached() && !keeps_chunks_ && kind != kGets && !segment_->IsHere(pid);
  }

  const Segment* segment_ = nullptr;
  Pid self_{};
  std::size_t site_bytes_ = 0;
  MessageSizes sizes_;  ///< Other than as they are only if there are site_bytes_: no put is merged.
  unsigned parity_ = 0;
  DirectoryEntry* entries_ = nullptr;  ///< Of the current parity; the one for pid 0.
  std::size_t nprocs_ = 0;             ///< Entries from one pid's to the next one's.
  std::byte* arena_ = nullptr;
  HeapUse uses_[2];                   ///< Of the heaps, by parity.
  std::uint64_t recycled_bytes_ = 0;  ///< Of chunks that hold their second load or a later one.
  std::size_t tag_bytes_ = 0;         ///< Of this superstep's messages, if there are any.
  bool messages_apart_ = false;
  bool has_gets_ = false;
  GrowArray<Writer> writers_;
  ChunkRoom direct_room_;  ///< For the next unbuffered put to another node.
  HandedRing ring_;
  bool keeps_chunks_ = false;
  LargePuts large_puts_ = LargePuts::kHandedOver;
  std::uint32_t kept_count_ = 0;  ///< In this superstep: to whom.
  std::uint32_t kept_[kBulkLanesMax] = {};
  std::uint64_t kept_ns_ = 0;
  bool kept_in_vain_ = false;
  GrowArray<std::uint32_t> touched_[2];  ///< Destinations, by parity.
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_OUTBOX_H_
