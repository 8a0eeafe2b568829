#include "runtime/transfers/shared_messages.h"

#include <cstring>

#include "base/check.h"
#include "base/copy.h"

namespace bspnow::runtime {
namespace {

// Of a copy that its reader looks at soon: beyond that it passes by the caches.
constexpr std::uint64_t kCachedBytesMax = 4 << 20;

class Sending {
 public:
  Sending(const Segment& segment, Pid self, Outbox& outbox, const ShortTagged& message)
      : segment_(segment), self_(self), outbox_(outbox), message_(message) {}

  std::uint32_t NodeOf(std::uint32_t pid) const { return segment_.cell(Pid{pid}).node; }

  void Alone(std::uint32_t pid) {
    outbox_.AppendMessage(Pid{pid}, message_.tag, sizeof(MessageRecord::tag), message_.payload,
                          message_.bytes);
  }

  void First(std::uint32_t pid, std::uint32_t readers) {
    SharedPayload& to = Append(pid, MessageRecord::kShared);
    const std::byte* const arena = segment_.arena(self_);
    where_.holder = pid;
    where_.number = segment_.entry(self_, Pid{pid}, outbox_.parity()).message_count - 1;
    where_.offset = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(&to) - arena);
    Name(to);
    to.takers.store(readers, std::memory_order_relaxed);
    outbox_.CopyPayload(to.payload(), message_.payload, message_.bytes);
  }

  void Other(std::uint32_t pid) {
    Name(Append(pid, MessageRecord::kShared | MessageRecord::kElsewhere));
  }

 private:
  struct Where {
    std::uint32_t holder;
    std::uint32_t number;
    std::uint64_t offset;
  };

  SharedPayload& Append(std::uint32_t pid, std::uint64_t flags) {
    MessageRecord record{.tag = {}, .payload_and_padding = message_.bytes | flags};
    std::memcpy(record.tag, message_.tag, sizeof record.tag);
    return *reinterpret_cast<SharedPayload*>(outbox_.AppendRecord(Pid{pid}, record));
  }

  void Name(SharedPayload& to) const {
    to.holder = where_.holder;
    to.number = where_.number;
    to.offset = where_.offset;
  }

  const Segment& segment_;
  Pid self_;
  Outbox& outbox_;
  const ShortTagged& message_;
  Where where_{};
};

}  // namespace

// Processes of a node are mostly neighbours in the list, or as many places apart as there are
// nodes: so an earlier one of the same node is soon found.
void SendToAll(const Segment& segment, Pid self, Outbox& outbox, const std::uint32_t* pids,
               std::size_t count, const ShortTagged& message) {
  Sending sending(segment, self, outbox, message);
  for (std::size_t first = 0; first < count; ++first) {
    const std::uint32_t node = sending.NodeOf(pids[first]);
    std::size_t before = first;
    while (before != 0 && sending.NodeOf(pids[before - 1]) != node) --before;
    if (before != 0) continue;  // With an earlier one.
    std::uint32_t readers = 1;
    for (std::size_t i = first + 1; i < count; ++i) readers += sending.NodeOf(pids[i]) == node;
    const std::uint64_t least =
        segment.IsHere(Pid{pids[first]}) ? kSharedBytesMin : kFarSharedBytesMin;
    const bool shared = readers > 1 && message.bytes >= least;
    shared ? sending.First(pids[first], readers) : sending.Alone(pids[first]);
    for (std::size_t i = first + 1; i < count; ++i) {
      if (sending.NodeOf(pids[i]) != node) continue;
      shared ? sending.Other(pids[i]) : sending.Alone(pids[i]);
    }
  }
}

// ---- Received -----------------------------------------------------------------------------------

void SharedSearch::LookUp(Pid source, const MessageRecord& shared) {
  SharedPayload& here = SharedPayloadOf(shared);
  here.taken = nullptr;
  if (!shared.is_elsewhere()) {
    here.found = &here;
  } else if (segment_->IsHere(source)) {
    here.found = reinterpret_cast<SharedPayload*>(segment_->arena(source) + here.offset);
  } else {
    here.found = &FindInChain(source, here);
  }
}

// The worker may have put the records into other chunks, in the same order.
SharedPayload& SharedSearch::FindInChain(Pid source, const SharedPayload& wanted) {
  if (source != source_ || wanted.holder != holder_ || wanted.number < number_ || chain_.done()) {
    source_ = source;
    holder_ = wanted.holder;
    number_ = 0;
    chain_ = ChainReader(segment_->arena(source),
                         segment_->entry(source, Pid{holder_}, parity_).messages);
  }
  for (; number_ < wanted.number && !chain_.done(); ++number_) {
    chain_.Skip(BytesOfMessage(*reinterpret_cast<const MessageRecord*>(chain_.record()), 0),
                kRecordAlign);
  }
  BSP_CHECK(!chain_.done());
  const auto& found = *reinterpret_cast<const MessageRecord*>(chain_.record());
  BSP_CHECK(found.is_shared() && !found.is_elsewhere());
  return SharedPayloadOf(found);
}

// Who only reads stays among the takers, so that nobody changes the payload meanwhile.
std::byte* OwnPayload(const char* call, DrmaDelivery& room, const MessageRecord& shared) {
  SharedPayload& here = SharedPayloadOf(shared);
  if (here.taken != nullptr) return here.taken;
  SharedPayload& found = *here.found;
  if (found.takers.load(std::memory_order_acquire) == 1) {
    here.taken = found.payload();
  } else {
    const std::uint64_t bytes = shared.payload_bytes();
    here.taken = room.TakeOwn(call, bytes);
    bytes > kCachedBytesMax ? Copy(here.taken, found.payload(), bytes)
                            : static_cast<void>(std::memcpy(here.taken, found.payload(), bytes));
    found.takers.fetch_sub(1, std::memory_order_release);
  }
  return here.taken;
}

}  // namespace bspnow::runtime
