// Chunks of unbuffered puts that are offered to one process here, which writes them itself while it
// waits in bsp_sync (EarlyPuts in runtime/link/link.h); and the rooms of those that it has taken,
// to be filled again: so a large put passes through little memory. For supersteps of one parity.
#ifndef WORKER_EXCHANGE_EARLY_OFFERS_H_
#define WORKER_EXCHANGE_EARLY_OFFERS_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "base/ids.h"
#include "runtime/link/link.h"

namespace bspnow::worker {

/// Of a chunk in the image of its source.
struct ChunkPlace {
  Pid source{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class EarlyOffers {
 public:
  /// False: the ring is full.
  bool Offer(EarlyPuts& ring, const ChunkPlace& chunk);

  /// Offset of a room for this many bytes from `source`; 0: there is none.
  std::uint64_t TakeRoom(const EarlyPuts& ring, Pid source, std::uint64_t bytes);

  /// The superstep is released: the process takes the rest before it goes on.
  void Clear();

 private:
  void Recycle(const EarlyPuts& ring);

  std::uint32_t offered_ = 0;       ///< Ever.
  std::deque<ChunkPlace> waiting_;  ///< The newest of them, not known to be taken.
  std::vector<ChunkPlace> free_;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_EARLY_OFFERS_H_
