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
  long_tag_bytes_ = LongTagBytes(tag_bytes);
  for (std::uint32_t q = 0; q < p; ++q) {
    const DirectoryEntry& entry = segment.directory(Pid{q}, parity)[Value(self)];
    if (entry.messages == 0) continue;
    sources_.push_back(Source{segment.arena(Pid{q}), entry.messages});
    count_ += entry.message_count;
    bytes_ += entry.message_bytes;
  }
  if (count_ != 0) EnterNextSource();
}

void BsmpInbox::EnterNextSource() {
  const Source& source = sources_[next_source_++];
  chain_ = ChainReader(source.arena, source.first_chunk);
}

}  // namespace bspnow
