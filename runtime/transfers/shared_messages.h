// A long message to many (bsp_gsend, bsp_lsend of PUB): its payload is copied once for each node,
// into the chain of the first process there that gets it. See SharedPayload in
// runtime/link/records.h.
#ifndef RUNTIME_TRANSFERS_SHARED_MESSAGES_H_
#define RUNTIME_TRANSFERS_SHARED_MESSAGES_H_

#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "runtime/link/chain.h"
#include "runtime/link/lane.h"
#include "runtime/link/link_segment.h"
#include "runtime/transfers/drma_delivery.h"
#include "runtime/transfers/outbox.h"

namespace bspnow::runtime {

/// A message whose tag has the length of MessageRecord::tag.
struct ShortTagged {
  const void* tag;
  const void* payload;
  std::uint64_t bytes;
};

// Below that copies cost less than to find out who has one. Elsewhere the payload must not come by
// a lane in a superstep that ends by counting: there directories, which name it, are written later
// than messages may be read.
inline constexpr std::uint64_t kSharedBytesMin = std::uint64_t{16} << 10;
inline constexpr std::uint64_t kFarSharedBytesMin = std::uint64_t{64} << 10;
static_assert(kFarSharedBytesMin >= kLaneShortBytesMax);

/// Sends the message to `count` processes of the segment, any of them more than once: the i-th is
/// pids[i].
void SendToAll(const Segment& segment, Pid self, Outbox& outbox, const std::uint32_t* pids,
               std::size_t count, const ShortTagged& message);

/// Finds payloads of the messages that one process was sent in one superstep.
class SharedSearch {
 public:
  SharedSearch() = default;
  SharedSearch(const Segment& segment, unsigned parity) : segment_(&segment), parity_(parity) {}

  /// In a record from `source` that is_shared: from then on SharedPayload::found is valid.
  void LookUp(Pid source, const MessageRecord& shared);

 private:
  SharedPayload& FindInChain(Pid source, const SharedPayload& wanted);

  const Segment* segment_ = nullptr;
  unsigned parity_ = 0;
  // The next message of the chain in which the last one was found: those that follow one another
  // are found in one walk.
  Pid source_{};
  std::uint32_t holder_ = 0;
  std::uint32_t number_ = 0;
  ChainReader chain_;
};

/// The payload of a record that was looked up, for reading.
inline const std::byte* PayloadToRead(const MessageRecord& message) {
  return message.is_shared() ? SharedPayloadOf(message).found->payload() : ContentOf(message, 0);
}

/// The same, and nobody else's from now on: this process may change it until the superstep ends.
std::byte* OwnPayload(const char* call, DrmaDelivery& room, const MessageRecord& shared);

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_SHARED_MESSAGES_H_
