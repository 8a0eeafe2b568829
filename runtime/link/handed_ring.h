// Full chunks of the outbox that the worker may send to another node while the process computes
// (HandedChunk in link.h). The ring bounds what is under way, and with it the memory of a large
// put: who puts a full chunk in takes out one that has been delivered.
#ifndef RUNTIME_LINK_HANDED_RING_H_
#define RUNTIME_LINK_HANDED_RING_H_

#include <cstdint>

#include "base/ids.h"
#include "base/poll_wait.h"
#include "runtime/link/doorbell.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

/// Room for a chunk in one's own arena; bytes 0 if there is none.
struct ChunkRoom {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class HandedRing {
 public:
  void Attach(const Segment& segment, Pid self, Doorbell& doorbell);

  bool attached() const { return doorbell_ != nullptr; }

  /// Hands `full`, whose used_bytes is final, to the worker. Returns the chunk whose place it
  /// takes; waits if that has not been delivered yet.
  ChunkRoom Exchange(unsigned parity, std::uint32_t kind, Pid to, const ChunkRoom& full);

  /// Exchange does not wait once this has changed.
  Watched AwaitsPlace(unsigned parity) const {
    return {rings_[parity][handed_[parity] % kHandedMax].state, HandedChunk::kHanded};
  }

  bool HandedAny(unsigned parity) const { return handed_[parity] != 0; }

  /// A superstep of this parity begins, and the one before it is over everywhere.
  void Clear(unsigned parity);

 private:
  Doorbell* doorbell_ = nullptr;
  HandedChunk* rings_[2] = {nullptr, nullptr};
  std::uint64_t handed_[2] = {0, 0};  ///< In the superstep of this parity.
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_HANDED_RING_H_
