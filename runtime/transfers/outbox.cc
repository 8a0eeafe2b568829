#include "runtime/transfers/outbox.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/clock.h"
#include "runtime/link/call_site.h"
#include "runtime/link/chain.h"
#include "runtime/link/lane.h"
#include "runtime/link/memory_room.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kChunkBytesMax = 1 << 20;
constexpr std::uint64_t kPopulateBytesMin = 4 << 20;
static_assert(kFirstChunkBytes > kChunkHeaderBytes + sizeof(GetRecord) + 8);
constexpr std::uint32_t kDirectPut = 4;  // HandedChunk::kind.
// With heads of records and chunks a frame of a lane takes these.
constexpr std::uint64_t kFrameDataBytesMax = std::uint64_t{kLaneFrameBytesMax} * 31 / 32;

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; before it the call fails, and nothing is lost.
#endif

const char* CallOf(int kind) {
  constexpr const char* kCalls[] = {"bsp_put", "bsp_get", "bsp_send"};
  return kCalls[kind];
}

}  // namespace

void Outbox::Attach(const Segment& segment, Pid self, std::uint32_t p, std::size_t site_bytes) {
  segment_ = &segment;
  self_ = self;
  site_bytes_ = site_bytes;
  sizes_ = segment.layout().message_sizes;
  entries_ = &segment.entry(self, Pid{0}, parity_);
  nprocs_ = segment.layout().nprocs;
  arena_ = segment.arena(self);
  writers_.Resize(std::size_t{p} * kKinds);
  for (HeapUse& use : uses_) use = HeapUse{};
  // A frame is for all pairs of processes of two nodes.
  const std::uint32_t nodes = std::max(segment.header().nodes, 1u);
  const std::uint64_t on_each = (p + nodes - 1) / nodes;
  frame_data_max_ = kFrameDataBytesMax / (on_each * on_each);
}

DirectoryEntry& Outbox::Touch(Pid pid) {
  bool& touched = writer(pid, kPuts).touched;
  if (!touched) {
    touched = true;
    touched_[parity_].push_back(Value(pid));
  }
  return entry(pid);
}

void Outbox::RequireRoom(const char* call, std::uint64_t bytes) const {
  const std::uint64_t heap_bytes = segment_->layout().heap_bytes;
  const HeapUse& use = uses_[parity_];
  if (bytes > segment_->layout().memory_max - std::min(segment_->layout().memory_max, use.bytes))
    ReportNoMemory(call, bytes);
  if (bytes <= heap_bytes - std::min(heap_bytes, use.bytes + recycled_bytes_)) return;
  ReportFailure(
      "%s: pid %u puts, gets or sends more than %llu bytes in one superstep, the most that the"
      " address space allows; transfer less at a time, or use bsp_hpput and bsp_hpget, which need "
      "no"
      " buffer",
      call, Value(self_), static_cast<unsigned long long>(heap_bytes));
}

void Outbox::ReportNoMemory(const char* call, std::uint64_t bytes) const {
  ReportFailure(
      "%s: pid %u needs %llu bytes more to keep what it transfers until the barrier, has %llu in"
      " this superstep, and all processes here together may take %llu; transfer less at a time, use"
      " bsp_hpput and bsp_hpget, which need no buffer, or allow more memory (--memory, or the limit"
      " of the control group)",
      call, Value(self_), static_cast<unsigned long long>(bytes),
      static_cast<unsigned long long>(uses_[parity_].bytes),
      static_cast<unsigned long long>(segment_->layout().memory_max));
}

std::byte* Outbox::OpenChunk(Pid pid, Kind kind, std::size_t bytes) {
  Writer& w = writer(pid, kind);
  DirectoryEntry& owed = Touch(pid);
  std::uint64_t& first = kind == kPuts ? owed.puts : kind == kGets ? owed.gets : owed.messages;
  const std::uint64_t wanted =
      std::max(w.next_bytes == 0 ? kFirstChunkBytes : w.next_bytes,
               (kChunkHeaderBytes + bytes + kLineBytes - 1) / kLineBytes * kLineBytes);
  const char* const call = CallOf(kind);
  RequireRoom(call, wanted);
  EndRun(pid, kind);
  if (kind == kMessages && owed.message_count > kMessagesMax) {
    ReportFailure(
        "%s: pid %u sends pid %u more than %u messages in one superstep; send fewer, longer ones",
        call, Value(self_), Value(pid), kMessagesMax);
  }
  const bool kept = Keeps(pid, kind, bytes);
  if (kind == kPuts) kept ? NoteKept(pid) : ForgetKept(pid);
  const bool handed_over = IsHandedOver(pid, kind) && !kept;
  ChunkRoom room;
  if (w.chunk != nullptr) {
    Close(pid, kind);
    const auto held = static_cast<std::uint64_t>(w.end - reinterpret_cast<std::byte*>(w.chunk));
    if (handed_over && held >= kHandedChunkBytes && !StaysForAFrame(first, wanted)) {
      room = HandOver(pid, kind, first);
      w.chunk = nullptr;
    }
  }
  if (room.bytes >= wanted) {
    recycled_bytes_ += room.bytes;
  } else {
    room = Allocate(call, wanted);
  }
  if (!kept)
    w.next_bytes = std::min(room.bytes * 2, handed_over ? kHandedChunkBytes : kChunkBytesMax);
  return Open(w, first, room);
}

bool Outbox::StaysForAFrame(std::uint64_t first, std::uint64_t more) const {
  if (large_puts_ == LargePuts::kHandedOver || ring_.HandedAny(parity_)) return false;
  std::uint64_t bytes = more;
  for (std::uint64_t at = first; at != 0;) {
    const auto& chunk = *reinterpret_cast<const Chunk*>(arena_ + at);
    bytes += chunk.used_bytes;
    at = chunk.next;
  }
  return bytes <= frame_data_max_;
}

bool Outbox::FitsAFrame(const RemoteRange& put) {
  return large_puts_ != LargePuts::kHandedOver && !ring_.HandedAny(parity_) &&
         entry(put.pid).bytes_to + put.bytes <= frame_data_max_;
}

// The first of a chain, or one more where all others are.
bool Outbox::Keeps(Pid pid, Kind kind, std::uint64_t bytes) {
  if (large_puts_ != LargePuts::kKept || bytes < kKeptBytesMin) return false;
  return uses_[parity_].bytes + bytes <= kKeptBytesMax && IsHandedOver(pid, kind) &&
         kind == kPuts && (entry(pid).puts == 0 ? kept_count_ != kBulkLanesMax : Kept(pid));
}

void Outbox::NoteKept(Pid pid) {
  if (!Kept(pid)) kept_[kept_count_++] = Value(pid);
}

void Outbox::ForgetKept(Pid pid) {
  std::uint32_t* const found = std::find(kept_, kept_ + kept_count_, Value(pid));
  if (found == kept_ + kept_count_) return;
  *found = kept_[--kept_count_];
  kept_in_vain_ = true;
}

ChunkRoom Outbox::Allocate(const char* call, std::uint64_t bytes) {
  HeapUse& use = uses_[parity_];
  const std::uint64_t peak = use.peak;
  const std::uint64_t offset = segment_->TakeRoom(self_, static_cast<int>(parity_), bytes, use);
  if (offset == 0) ReportNoMemory(call, bytes);  // RequireRoom has looked for addresses.
  if (use.peak > peak) {
    const FillingMemory filling(segment_->root().memory_group, {.call = call, .pid = self_},
                                use.peak - peak);
    // Memory that was never touched comes faster all at once than by faults.
    if (bytes >= kPopulateBytesMin)
      madvise(arena_ + offset / kPageBytes * kPageBytes, bytes, MADV_POPULATE_WRITE);
  }
  return ChunkRoom{.offset = offset, .bytes = bytes};
}

// The chain goes on in a new chunk, its first if it has none.
std::byte* Outbox::Open(Writer& w, std::uint64_t& first, const ChunkRoom& room) {
  auto* chunk = reinterpret_cast<Chunk*>(arena_ + room.offset);
  chunk->next = 0;
  (w.chunk == nullptr ? first : w.chunk->next) = room.offset;
  w.chunk = chunk;
  w.end = reinterpret_cast<std::byte*>(chunk) + room.bytes;
  return reinterpret_cast<std::byte*>(chunk) + kChunkHeaderBytes;
}

// A chunk ends with whole records, so that it can travel alone.
void Outbox::Close(Pid pid, Kind kind) {
  EndRun(pid, kind);
  const Writer& w = writer(pid, kind);
  std::byte* end = AlignUp(w.tail, kRecordAlign);
  if (kind == kMessages && AlignUp(end, kMessageAlign) != end) {
    reinterpret_cast<MessageRecord*>(w.last_record)->payload_and_padding |= MessageRecord::kPadded;
    end = AlignUp(end, kMessageAlign);
  }
  w.chunk->used_bytes = static_cast<std::uint64_t>(end - reinterpret_cast<std::byte*>(w.chunk));
}

// Hands the whole chain to the worker, with the first full chunk the smaller ones before it, too:
// the order of records stays. Returns a chunk that has been delivered, if there is one.
ChunkRoom Outbox::HandOver(Pid pid, Kind kind, std::uint64_t first) {
  const Writer& w = writer(pid, kind);
  ChunkRoom delivered;
  for (std::uint64_t offset = first; offset != 0;) {
    const auto* chunk = reinterpret_cast<const Chunk*>(arena_ + offset);
    const std::uint64_t next = chunk->next;
    const std::uint64_t bytes =
        chunk == w.chunk ? static_cast<std::uint64_t>(w.end - reinterpret_cast<std::byte*>(w.chunk))
                         : chunk->used_bytes;
    const ChunkRoom out = ring_.Exchange(parity_, static_cast<std::uint32_t>(kind), pid,
                                         {.offset = offset, .bytes = bytes});
    if (out.bytes > delivered.bytes) delivered = out;
    offset = next;
  }
  return delivered;
}

// ---- Records of their own

void Outbox::AppendPutSlowly(const RemoteRange& to, const std::byte* from,
                             std::uint64_t call_site) {
  const bool kept = Keeps(to.pid, kPuts, sizeof(PutRecord) + site_bytes_ + to.bytes);
  const std::uint64_t bytes_max =
      IsHandedOver(to.pid, kPuts) && !kept ? kHandedPutBytesMax : kRecordBytesMax;
  if (to.bytes > bytes_max) RequireRoom("bsp_put", to.bytes);  // Before the first part is copied.
  entry(to.pid).bytes_to += Beyond(to.bytes);
  for (std::uint64_t done = 0; done < to.bytes;) {
    const std::uint64_t bytes = std::min(to.bytes - done, bytes_max);
    std::byte* at = Room(to.pid, kPuts, sizeof(PutRecord) + site_bytes_ + bytes);
    *reinterpret_cast<PutRecord*>(at) = PutRecord{.slot = Value(to.slot),
                                                  .bytes = static_cast<std::uint32_t>(bytes),
                                                  .offset = to.offset + done};
    at += sizeof(PutRecord);
    if (site_bytes_ != 0) *reinterpret_cast<std::uint64_t*>(at) = RecordedCallSite(call_site);
    at += site_bytes_;
    kept ? CopyPayload(at, from + done, bytes) : Copy(at, from + done, bytes);
    done += bytes;
  }
  if (kept) kept_ns_ = NowNs();
}

void Outbox::AppendGetSlowly(const RemoteRange& from, void* destination, std::uint64_t call_site) {
  if (from.bytes > kRecordBytesMax) RequireRoom("bsp_get", from.bytes);  // For the answer.
  entry(from.pid).bytes_from += Beyond(from.bytes);
  for (std::uint64_t done = 0; done < from.bytes;) {
    const std::uint64_t bytes = std::min(from.bytes - done, kRecordBytesMax);
    std::byte* at = Room(from.pid, kGets, sizeof(GetRecord) + site_bytes_);
    *reinterpret_cast<GetRecord*>(at) =
        GetRecord{.slot = Value(from.slot),
                  .bytes = static_cast<std::uint32_t>(bytes),
                  .offset = from.offset + done,
                  .destination = reinterpret_cast<std::uintptr_t>(destination) + done};
    if (site_bytes_ != 0) {
      *reinterpret_cast<std::uint64_t*>(at + sizeof(GetRecord)) = RecordedCallSite(call_site);
    }
    done += bytes;
  }
}

std::byte* Outbox::AppendRecord(Pid to, const MessageRecord& record) {
  tag_bytes_ = sizeof record.tag;
  EndRun(to, kMessages);
  Writer& w = writer(to, kMessages);
  std::byte* at = AlignUp(w.tail, kRecordAlign);
  std::size_t head = sizeof record + (reinterpret_cast<std::uintptr_t>(at) & (kMessageAlign - 1));
  if (!EndsBy(w.end, at, head + record.content_bytes())) {
    head = sizeof record;
    at = OpenChunk(to, kMessages, head + record.content_bytes());
  }
  DirectoryEntry& owed = entry(to);
  owed.message_count += 1;
  owed.message_bytes += record.payload_bytes();
  *reinterpret_cast<MessageRecord*>(at) = record;
  w.last_record = at;
  w.tail = at + head + record.content_bytes();
  return at + head;
}

void Outbox::HandDirectPut(const RemoteRange& to, const std::byte* source) {
  if (direct_room_.bytes < kHandedChunkBytes) {
    RequireRoom("bsp_hpput", kHandedChunkBytes);
    direct_room_ = Allocate("bsp_hpput", kHandedChunkBytes);
  }
  std::byte* at = arena_ + direct_room_.offset;
  *reinterpret_cast<Chunk*>(at) =
      Chunk{.next = 0, .used_bytes = kChunkHeaderBytes + sizeof(PutRecord) + to.bytes};
  at += kChunkHeaderBytes;
  *reinterpret_cast<PutRecord*>(at) = PutRecord{
      .slot = Value(to.slot), .bytes = static_cast<std::uint32_t>(to.bytes), .offset = to.offset};
  Copy(at + sizeof(PutRecord), source, to.bytes);
  direct_room_ = ring_.Exchange(parity_, kDirectPut, to.pid, direct_room_);
}

void Outbox::Seal() {
  for (const std::uint32_t pid : touched_[parity_]) {
    DirectoryEntry& owed = entry(Pid{pid});
    for (int kind = 0; kind < kKinds; ++kind) {
      Writer& w = writer(Pid{pid}, static_cast<Kind>(kind));
      if (w.chunk == nullptr) continue;
      Close(Pid{pid}, static_cast<Kind>(kind));
      w = Writer{};
    }
    owed.bytes_to += owed.message_count * tag_bytes_ + owed.message_bytes;
    if (__builtin_expect(!sizes_.as_they_are(), 0)) owed.bytes_to += BeyondMessages(owed);
    writer(Pid{pid}, kPuts).touched = false;
  }
  direct_room_ = ChunkRoom{};
}

// Puts and gets were counted when they were issued.
std::uint64_t Outbox::BeyondMessages(const DirectoryEntry& owed) const {
  const std::size_t long_tag = LongTagBytes(tag_bytes_);
  std::uint64_t beyond = 0;
  for (ChainReader chain(arena_, owed.messages); !chain.done();) {
    const auto& record = *reinterpret_cast<const MessageRecord*>(chain.record());
    beyond += Beyond(tag_bytes_ + record.payload_bytes());
    chain.Skip(BytesOfMessage(record, long_tag), kRecordAlign);
  }
  return beyond;
}

void Outbox::Announce(std::uint64_t superstep) {
  for (const std::uint32_t pid : touched_[parity_]) {
    segment_->stamp(self_, Pid{pid}, parity_).store(superstep + 1, std::memory_order_release);
    segment_->cell(Pid{pid}).announced.Advance();
  }
}

bool Outbox::HasTransfers() const {
  for (const std::uint32_t pid : touched_[parity_]) {
    const DirectoryEntry& owed = segment_->entry(self_, Pid{pid}, parity_);
    if ((owed.puts | owed.gets) != 0) return true;
  }
  return false;
}

void Outbox::NextSuperstep() {
  parity_ ^= 1;
  entries_ = &segment_->entry(self_, Pid{0}, parity_);
  for (const std::uint32_t pid : touched_[parity_]) entry(Pid{pid}) = DirectoryEntry{};
  touched_[parity_].clear();
  if (ring_.attached()) {
    ring_.Clear(parity_);
  }
  uses_[parity_].Restart();
  segment_->GiveBack(self_, static_cast<int>(parity_), uses_[parity_ ^ 1].bytes, uses_[parity_]);
  recycled_bytes_ = 0;
  kept_count_ = 0;
  kept_in_vain_ = false;
  has_gets_ = false;
}

std::uint64_t Outbox::GiveBackAll() {
  std::uint64_t bytes = 0;
  for (HeapUse& use : uses_) bytes += use.TakeAll();
  return bytes;
}

}  // namespace bspnow::runtime
