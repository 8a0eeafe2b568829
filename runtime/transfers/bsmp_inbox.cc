#include "runtime/transfers/bsmp_inbox.h"

#include "base/copy.h"

namespace bspnow::runtime {
namespace {

template <typename Use>
void ForEachChunk(const std::byte* arena, std::uint64_t first, const Use& use) {
  for (std::uint64_t at = first; at != 0;) {
    const auto& chunk = *reinterpret_cast<const Chunk*>(arena + at);
    use(chunk);
    at = chunk.next;
  }
}

const std::byte* NextRecord(const MessageRecord& record, std::size_t long_tag_bytes) {
  const std::uint64_t bytes = record.is_run()
                                  ? BytesOfRun(reinterpret_cast<const MessageRun&>(record))
                                  : BytesOfMessage(record, long_tag_bytes);
  return reinterpret_cast<const std::byte*>(&record) +
         (bytes + kRecordAlign - 1) / kRecordAlign * kRecordAlign;
}

/// Records, one after another in memory that begins at a multiple of kMessageAlign; without memory
/// it only counts.
class RecordsCopy {
 public:
  explicit RecordsCopy(std::byte* to) : to_(to) {}

  std::uint64_t bytes() const { return bytes_; }

  void AddRecords(const std::byte* from, const std::byte* end) {
    Add(from, static_cast<std::uint64_t>(end - from));
  }

  /// One that was looked up, with its payload. What follows `next` must be aligned as there.
  void AddOwn(const MessageRecord& shared, const std::byte* next) {
    const std::uint64_t begin = bytes_;
    const std::uint64_t payload_bytes = shared.payload_bytes();
    MessageRecord own = shared;
    own.payload_and_padding = payload_bytes;
    const std::uint64_t content = RoundUp(begin + sizeof own, kMessageAlign);
    const std::uint64_t end = RoundUp(content + payload_bytes, kRecordAlign);
    const bool pads = (end - reinterpret_cast<std::uintptr_t>(next)) % kMessageAlign != 0;
    if (pads) own.payload_and_padding |= MessageRecord::kPadded;
    Add(reinterpret_cast<const std::byte*>(&own), sizeof own);
    bytes_ = content;
    Add(PayloadToRead(shared), payload_bytes);
    bytes_ = pads ? end + kRecordAlign : end;
  }

 private:
  static constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
  }

  void Add(const std::byte* from, std::uint64_t bytes) {
    if (to_ != nullptr) Copy(to_ + bytes_, from, bytes);
    bytes_ += bytes;
  }

  std::byte* to_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

void BsmpInbox::Clear() {
  superstep_mark_ += 1;
  sources_.clear();
  next_source_ = 0;
  chain_ = ChainReader();
  at_ = run_end_ = nullptr;
  count_ = 0;
  bytes_ = 0;
  if (copy_.valid()) copy_.Reset();
}

bool BsmpInbox::KeepCopy() {
  if (empty()) return true;
  const std::uint64_t bytes = kChunkHeaderBytes + WriteCopy(nullptr);
  copy_ = MappedRegion::Private(kCopyOffset + bytes);
  if (!copy_.valid()) return false;
  auto* whole = reinterpret_cast<Chunk*>(copy_.data() + kCopyOffset);
  *whole = Chunk{.next = 0, .used_bytes = bytes};
  WriteCopy(copy_.data() + kCopyOffset + kChunkHeaderBytes);
  return true;
}

// Records keep their alignment: those of a chunk are a multiple of kMessageAlign long. A payload
// that others have, too, becomes one of this process's own.
std::uint64_t BsmpInbox::WriteCopy(std::byte* to) {
  RecordsCopy out(to);
  for (const Source& source : sources_) {
    ForEachChunk(source.arena, source.first_chunk, [&](const Chunk& chunk) {
      const auto* at = reinterpret_cast<const std::byte*>(&chunk) + kChunkHeaderBytes;
      const auto* const end = reinterpret_cast<const std::byte*>(&chunk) + chunk.used_bytes;
      const std::byte* copied = at;
      while (at < end) {
        const auto& record = *reinterpret_cast<const MessageRecord*>(at);
        const std::byte* const next = NextRecord(record, long_tag_bytes_);
        if (record.is_shared()) {
          out.AddRecords(copied, at);
          shared_.LookUp(source.pid, record);
          out.AddOwn(record, next);
          copied = next;
        }
        at = next;
      }
      out.AddRecords(copied, end);
    });
  }
  return out.bytes();
}

void BsmpInbox::UseCopy() {
  if (empty()) return;
  count_ = count();
  bytes_ = payload_bytes();
  sources_.clear();
  sources_.push_back(Source{Pid{0}, copy_.data(), kCopyOffset});
  next_source_ = 0;
  chain_ = ChainReader();
  ReadNext();
}

void BsmpInbox::Fill(const Segment& segment, Pid self, std::uint32_t p, unsigned parity,
                     std::size_t tag_bytes, std::uint64_t stamp) {
  Begin(segment, parity, tag_bytes);
  for (std::uint32_t q = 0; q < p; ++q) {
    if (stamp != 0 && segment.stamp(Pid{q}, self, parity).load(std::memory_order_acquire) != stamp)
      continue;
    const DirectoryEntry& entry = segment.entry(Pid{q}, self, parity);
    if (entry.messages != 0) Add(Pid{q}, entry.messages, entry.message_count, entry.message_bytes);
  }
  Ready();
}

void BsmpInbox::Begin(const Segment& segment, unsigned parity, std::size_t tag_bytes) {
  Clear();
  segment_ = &segment;
  shared_ = SharedSearch(segment, parity);
  tag_bytes_ = tag_bytes;
  long_tag_bytes_ = LongTagBytes(tag_bytes);
}

void BsmpInbox::Add(Pid source, std::uint64_t first_chunk, std::uint64_t count,
                    std::uint64_t payload_bytes) {
  sources_.push_back(Source{source, segment_->arena(source), first_chunk});
  count_ += count;
  bytes_ += payload_bytes;
}

// Of messages there is at least one.
void BsmpInbox::ReadNext() {
  if (chain_.done()) EnterNextSource();
  const auto& record = *reinterpret_cast<const MessageRecord*>(chain_.record());
  payload_bytes_ = record.payload_bytes();
  std::uint64_t run_count = 1;
  if (record.is_run()) {
    const auto& run = *reinterpret_cast<const MessageRun*>(&record);
    run_count = run.count;
    at_ = reinterpret_cast<const std::byte*>(&run + 1);
    payload_at_ = sizeof record.tag;
    stride_ = StrideInRun(payload_bytes_);
    front_is_shared_ = false;
    chain_.Skip(BytesOfRun(run), kRecordAlign);
  } else {
    const std::byte* const content = ContentOf(record, long_tag_bytes_);
    at_ = long_tag_bytes_ == 0 ? record.tag : content;
    payload_at_ = content + static_cast<std::ptrdiff_t>(long_tag_bytes_) - at_;
    stride_ = 1;
    front_is_shared_ = record.is_shared();
    if (__builtin_expect(front_is_shared_, 0)) {
      shared_.LookUp(sources_[next_source_ - 1].pid, record);
      payload_at_ = PayloadToRead(record) - at_;
    }
    chain_.Skip(BytesOfMessage(record, long_tag_bytes_), kRecordAlign);
  }
  run_end_ = at_ + run_count * stride_;
  count_ -= run_count;
  bytes_ -= run_count * payload_bytes_;
}

void BsmpInbox::EnterNextSource() {
  const Source& source = sources_[next_source_++];
  chain_ = ChainReader(source.arena, source.first_chunk);
}

}  // namespace bspnow::runtime
