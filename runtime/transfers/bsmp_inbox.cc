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

// Records keep their alignment: those of a chunk are a multiple of kMessageAlign long.
bool BsmpInbox::KeepCopy() {
  if (empty()) return true;
  std::uint64_t bytes = kChunkHeaderBytes;
  for (const Source& source : sources_) {
    ForEachChunk(source.arena, source.first_chunk,
                 [&bytes](const Chunk& chunk) { bytes += chunk.used_bytes - kChunkHeaderBytes; });
  }
  copy_ = MappedRegion::Private(kCopyOffset + bytes);
  if (!copy_.valid()) return false;
  auto* whole = reinterpret_cast<Chunk*>(copy_.data() + kCopyOffset);
  *whole = Chunk{.next = 0, .used_bytes = bytes};
  std::byte* at = copy_.data() + kCopyOffset + kChunkHeaderBytes;
  for (const Source& source : sources_) {
    ForEachChunk(source.arena, source.first_chunk, [&at](const Chunk& chunk) {
      const std::uint64_t records = chunk.used_bytes - kChunkHeaderBytes;
      Copy(at, reinterpret_cast<const std::byte*>(&chunk) + kChunkHeaderBytes, records);
      at += records;
    });
  }
  return true;
}

void BsmpInbox::UseCopy() {
  if (empty()) return;
  count_ = count();
  bytes_ = payload_bytes();
  sources_.clear();
  sources_.push_back(Source{copy_.data(), kCopyOffset});
  next_source_ = 0;
  chain_ = ChainReader();
  ReadNext();
}

void BsmpInbox::Fill(const Segment& segment, Pid self, std::uint32_t p, unsigned parity,
                     std::size_t tag_bytes, std::uint64_t stamp) {
  Begin(tag_bytes);
  for (std::uint32_t q = 0; q < p; ++q) {
    if (stamp != 0 && segment.stamp(Pid{q}, self, parity).load(std::memory_order_acquire) != stamp)
      continue;
    const DirectoryEntry& entry = segment.entry(Pid{q}, self, parity);
    if (entry.messages != 0)
      Add(segment.arena(Pid{q}), entry.messages, entry.message_count, entry.message_bytes);
  }
  Ready();
}

void BsmpInbox::Begin(std::size_t tag_bytes) {
  Clear();
  tag_bytes_ = tag_bytes;
  long_tag_bytes_ = LongTagBytes(tag_bytes);
}

void BsmpInbox::Add(const std::byte* arena, std::uint64_t first_chunk, std::uint64_t count,
                    std::uint64_t payload_bytes) {
  sources_.push_back(Source{arena, first_chunk});
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
    chain_.Skip(BytesOfRun(run), kRecordAlign);
  } else {
    const std::byte* const content = ContentOf(record, long_tag_bytes_);
    at_ = long_tag_bytes_ == 0 ? record.tag : content;
    payload_at_ = static_cast<std::size_t>(content + long_tag_bytes_ - at_);
    stride_ = 1;
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
