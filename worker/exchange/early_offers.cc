#include "worker/exchange/early_offers.h"

#include <algorithm>

namespace bspnow::worker {

bool EarlyOffers::Offer(EarlyPuts& ring, const ChunkPlace& chunk) {
  Recycle(ring);
  if (waiting_.size() == kEarlyMax) return false;
  ring.places[offered_ % kEarlyMax] = {
      .pid = Value(chunk.source), .reserved = 0, .offset = chunk.offset};
  waiting_.push_back(chunk);
  ring.offered.store(++offered_, std::memory_order_seq_cst);
  return true;
}

std::uint64_t EarlyOffers::TakeRoom(const EarlyPuts& ring, Pid source, std::uint64_t bytes) {
  Recycle(ring);
  const auto found = std::find_if(free_.begin(), free_.end(), [&](const ChunkPlace& room) {
    return room.source == source && room.bytes >= bytes;
  });
  if (found == free_.end()) return 0;
  const std::uint64_t offset = found->offset;
  free_.erase(found);
  return offset;
}

void EarlyOffers::Clear() {
  waiting_.clear();
  free_.clear();
}

// What the process wrote is not trusted: it has not taken more than it was offered.
void EarlyOffers::Recycle(const EarlyPuts& ring) {
  const std::uint32_t left = offered_ - ring.taken.load(std::memory_order_acquire);
  while (waiting_.size() > left) {
    free_.push_back(waiting_.front());
    waiting_.pop_front();
  }
}

}  // namespace bspnow::worker
