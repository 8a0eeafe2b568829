#include "runtime/link/handed_ring.h"

#include <algorithm>

#include "base/check.h"
#include "base/poll_wait.h"

namespace bspnow::runtime {

void HandedRing::Attach(const Segment& segment, Pid self, Doorbell& doorbell) {
  doorbell_ = &doorbell;
  rings_[0] = segment.handed(self, 0);
  rings_[1] = segment.handed(self, 1);
}

ChunkRoom HandedRing::Exchange(unsigned parity, std::uint32_t kind, Pid to, const ChunkRoom& full) {
  HandedChunk& place = rings_[parity][handed_[parity]++ % kHandedMax];
  WaitWhile(place.state, HandedChunk::kHanded);
  ChunkRoom free;
  if (place.state.load(std::memory_order_acquire) == HandedChunk::kDelivered) {
    free = ChunkRoom{.offset = place.offset, .bytes = place.chunk_bytes};
  }
  place.kind = kind;
  place.pid = Value(to);
  place.offset = full.offset;
  place.chunk_bytes = full.bytes;
  place.state.store(HandedChunk::kHanded, std::memory_order_release);
  doorbell_->Handed();
  return free;
}

void HandedRing::Clear(unsigned parity) {
  const std::uint64_t used = std::min<std::uint64_t>(handed_[parity], kHandedMax);
  for (std::uint64_t i = 0; i < used; ++i) {
    std::atomic<std::uint32_t>& state = rings_[parity][i].state;
    BSP_CHECK_OP(state.load(std::memory_order_acquire), ==, HandedChunk::kDelivered);
    state.store(HandedChunk::kEmpty, std::memory_order_relaxed);
  }
  handed_[parity] = 0;
}

}  // namespace bspnow::runtime
