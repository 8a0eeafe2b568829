#include "runtime/bsmp_inbox.h"

namespace bspnow {

void BsmpInbox::Clear() {
  sources_.clear();
  next_source_ = 0;
  chain_ = ChainReader();
  count_ = 0;
  bytes_ = 0;
}

void BsmpInbox::Fill(const Segment& segment, Pid self, std::uint32_t p, unsigned parity,
                     std::size_t tag_bytes) {
  Clear();
  tag_bytes_ = tag_bytes;
  for (std::uint32_t q = 0; q < p; ++q) {
    const DirectoryEntry& entry = segment.directory(Pid{q}, parity)[Value(self)];
    if (entry.messages == 0) continue;
    sources_.push_back(Source{segment.arena(Pid{q}), entry.messages});
    count_ += entry.message_count;
    bytes_ += entry.message_bytes;
  }
  if (count_ != 0) chain_ = ChainReader(sources_[0].arena, sources_[0].first_chunk);
  next_source_ = 1;
}

std::size_t BsmpInbox::LongTagBytes() const {
  if (tag_bytes_ <= sizeof(MessageRecord::tag)) return 0;
  return (tag_bytes_ + kMessageAlign - 1) / kMessageAlign * kMessageAlign;
}

BsmpInbox::Message BsmpInbox::Front() const {
  const std::byte* at = chain_.record();
  const auto& record = *reinterpret_cast<const MessageRecord*>(at);
  const std::byte* behind = at + sizeof(MessageRecord);
  const std::size_t long_tag = LongTagBytes();
  return Message{.tag = long_tag == 0 ? record.tag : behind,
                 .payload = behind + long_tag,
                 .payload_bytes = record.payload_bytes};
}

void BsmpInbox::Pop() {
  const auto& record = *reinterpret_cast<const MessageRecord*>(chain_.record());
  const std::size_t payload_bytes = record.payload_bytes;
  count_ -= 1;
  bytes_ -= payload_bytes;
  chain_.Skip(sizeof(MessageRecord) + LongTagBytes() + payload_bytes, kMessageAlign);
  if (chain_.done() && count_ != 0) {
    const Source& source = sources_[next_source_++];
    chain_ = ChainReader(source.arena, source.first_chunk);
  }
}

}  // namespace bspnow
