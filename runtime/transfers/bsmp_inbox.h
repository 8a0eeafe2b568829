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
#include "runtime/transfers/shared_messages.h"

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
  void Begin(const Segment& segment, unsigned parity, std::size_t tag_bytes);
  void Add(Pid source, std::uint64_t first_chunk, std::uint64_t count, std::uint64_t payload_bytes);
  void Ready() {
    if (count_ != 0) ReadNext();
  }

  void Clear();

  /// As Outbox.
  template <typename Use>
  void ForEachArray(const Use& use) {
    use(sources_);
  }

  /// For an image, before any message is moved: copies all of them to memory of this process's own.
  /// False: there is none.
  [[nodiscard]] bool KeepCopy();

  void DropCopy() { copy_.Reset(); }

  /// Where the image has come back: the copy takes the place of the senders' memory.
  void UseCopy();

  bool empty() const { return at_ == run_end_; }
  /// Messages not moved yet.
  std::uint64_t count() const { return count_ + LeftInRun(); }
  /// Theirs in all.
  std::uint64_t payload_bytes() const { return bytes_ + LeftInRun() * payload_bytes_; }
  std::size_t tag_bytes() const { return tag_bytes_; }
  /// Changes with each superstep: who has listed messages knows by it that they are gone.
  std::uint64_t superstep_mark() const { return superstep_mark_; }

  /// The first message; the queue must not be empty.
  Message Front() const {
    return {.tag = at_, .payload = at_ + payload_at_, .payload_bytes = payload_bytes_};
  }

  /// The record of the first message, where each has one of its own and a short tag.
  const MessageRecord& FrontRecord() const { return *reinterpret_cast<const MessageRecord*>(at_); }
  /// Whether it is one of which others here have the payload, too: that may only be read.
  bool front_is_shared() const { return front_is_shared_; }

  // A program that stores what it gets in random places waits for its stores, of which a processor
  // keeps some dozens in order: so here is one alone for each message.
  void Pop() {
    at_ += stride_;
    if (at_ == run_end_ && count_ != 0) ReadNext();
  }

 private:
  std::uint64_t LeftInRun() const { return static_cast<std::uint64_t>(run_end_ - at_) / stride_; }

  struct Source {
    Pid pid;
    const std::byte* arena;
    std::uint64_t first_chunk;
  };

  static constexpr std::uint64_t kCopyOffset = kLineBytes;  // 0 would be no chunk.

  void ReadNext();
  void EnterNextSource();
  std::uint64_t WriteCopy(std::byte* to);

  const std::byte* at_ = nullptr;       ///< The tag of the first message, in its run, or in
  const std::byte* run_end_ = nullptr;  ///< a record, which is a run of one.
  std::size_t stride_ = 1;              ///< From each message of the run to the next.
  std::ptrdiff_t payload_at_ = 0;       ///< From a tag on.
  std::size_t payload_bytes_ = 0;
  std::uint64_t count_ = 0;  ///< Messages after this run,
  std::uint64_t bytes_ = 0;  ///< and their payloads.
  std::size_t tag_bytes_ = 0;
  std::size_t long_tag_bytes_ = 0;  ///< The bytes of a tag after the record; see MessageRecord.
  ChainReader chain_;               ///< After the run.
  GrowArray<Source> sources_;
  std::size_t next_source_ = 0;
  std::uint64_t superstep_mark_ = 0;
  bool front_is_shared_ = false;
  const Segment* segment_ = nullptr;
  SharedSearch shared_;
  MappedRegion copy_;  ///< One chunk, at kCopyOffset.
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_BSMP_INBOX_H_
