// The queue of BSMP messages (BSPlib 1997, "Bulk Synchronous Message Passing"). The messages stay
// where their senders wrote them, in the senders' outboxes, until the next barrier; the queue only
// walks over them, in the order of the source pid and of issue. Nothing is copied before bsp_move.
#ifndef RUNTIME_TRANSFERS_BSMP_INBOX_H_
#define RUNTIME_TRANSFERS_BSMP_INBOX_H_

#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "base/ids.h"
#include "base/mapped_region.h"
#include "runtime/link/chain.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

class BsmpInbox {
 public:
  struct Message {
    const std::byte* tag;
    const std::byte* payload;
    std::size_t payload_bytes;
  };

  /// Takes over the messages that p processes sent to `self` in the superstep that ended, with the
  /// tag size that was valid then. `stamp` not 0: of those whose stamp it is (Segment::stamp).
  void Fill(const Segment& segment, Pid self, std::uint32_t p, unsigned parity,
            std::size_t tag_bytes, std::uint64_t stamp = 0);

  /// The same in parts: those of each source, by ascending pid, between Begin and Ready.
  void Begin(std::size_t tag_bytes);
  void Add(const std::byte* arena, std::uint64_t first_chunk, std::uint64_t count,
           std::uint64_t payload_bytes);
  void Ready() {
    if (count_ != 0) EnterNextSource();
  }

  void Clear();

  /// For an image, before any message is moved: copies all of them to memory of this process's own.
  /// False: there is none.
  [[nodiscard]] bool KeepCopy();

  void DropCopy() { copy_.Reset(); }

  /// Where the image has come back: the copy takes the place of the senders' memory.
  void UseCopy();

  bool empty() const { return count_ == 0; }
  std::uint64_t count() const { return count_; }          ///< Messages not moved yet.
  std::uint64_t payload_bytes() const { return bytes_; }  ///< Theirs in all.
  std::size_t tag_bytes() const { return tag_bytes_; }

  /// The first message; the queue must not be empty.
  Message Front() const {
    const MessageRecord& record = FrontRecord();
    const std::byte* content = ContentOf(record, long_tag_bytes_);
    return Message{.tag = long_tag_bytes_ == 0 ? record.tag : content,
                   .payload = content + long_tag_bytes_,
                   .payload_bytes = record.payload_bytes()};
  }

  /// The record of the first message, which tells all of it if its tag is short.
  const MessageRecord& FrontRecord() const {
    return *reinterpret_cast<const MessageRecord*>(chain_.record());
  }
  static const std::byte* PayloadOf(const MessageRecord& with_short_tag) {
    return ContentOf(with_short_tag, 0);
  }

  void Pop() {
    const MessageRecord& record = FrontRecord();
    const std::uint64_t payload = record.payload_bytes();
    count_ -= 1;
    bytes_ -= payload;
    if (IsPlain(record)) {
      chain_.Skip(sizeof record + payload, kRecordAlign);
    } else {
      chain_.Skip(BytesOfMessage(record, long_tag_bytes_), kRecordAlign);
    }
    if (chain_.done() && count_ != 0) EnterNextSource();
  }

 private:
  // Short, with nothing but padding to 8. A branch that is foreseen, so that the place of the next
  // record hangs on the length alone.
  bool IsPlain(const MessageRecord& record) const {
    return record.payload_and_padding < kMessageAlign && long_tag_bytes_ == 0;
  }

  struct Source {
    const std::byte* arena;
    std::uint64_t first_chunk;
  };

  static constexpr std::uint64_t kCopyOffset = kLineBytes;  // 0 would be no chunk.

  void EnterNextSource();

  GrowArray<Source> sources_;
  std::size_t next_source_ = 0;
  ChainReader chain_;
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t tag_bytes_ = 0;
  MappedRegion copy_;               ///< One chunk, at kCopyOffset.
  std::size_t long_tag_bytes_ = 0;  ///< The bytes of a tag after the record; see MessageRecord.
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_BSMP_INBOX_H_
