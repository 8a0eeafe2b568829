// Walks a chain of chunks that a process of this node wrote, trusting nothing: each offset and
// length is read once and checked against the worker's own layout before it is used.
#ifndef WORKER_EXCHANGE_CHAIN_WALK_H_
#define WORKER_EXCHANGE_CHAIN_WALK_H_

#include <absl/status/status.h>

#include <cstdint>

#include "runtime/link/link_segment.h"

namespace bspnow::worker {

/// How much one process may owe in one superstep, all its chains together. No honest process passes
/// it; a chain that runs in a circle does soon.
class ChainBudget {
 public:
  explicit ChainBudget(std::uint64_t heap_bytes) : heap_bytes_(heap_bytes) {}

  /// False: too much.
  [[nodiscard]] bool Take(std::uint64_t used_bytes);

  /// Begins another chain.
  void BeginChain() { chunks_allowed_ += kChunksOfAChain; }

 private:
  // Chunks grow geometrically to 1 MiB, and a chunk is left only for a record that did not fit: so
  // two neighbours are never both less than half full.
  static constexpr std::uint64_t kChunksOfAChain = 64;
  static constexpr std::uint64_t kBytesOfAChunk = 128 << 10;

  std::uint64_t heap_bytes_;
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t chunks_allowed_ = 0;
};

/// What is in one chunk: records from arena(pid) + `offset`. `bytes` may be 0.
struct ChunkContent {
  std::uint64_t offset;
  std::uint64_t bytes;
};

class ChainWalk {
 public:
  /// The chain of `owner` that begins at `first` (0: empty) in the heap of this parity.
  ChainWalk(const Segment& segment, Pid owner, unsigned parity, std::uint64_t first,
            ChainBudget& budget);

  bool done() const { return next_ == 0; }

  /// Checks the next chunk and gives its content. An error ends the walk.
  absl::Status Next(ChunkContent& content);

 private:
  const Segment& segment_;
  Pid owner_;
  unsigned parity_;
  std::uint64_t next_;
  ChainBudget& budget_;
};

/// The content of the single chunk at `offset`, checked in the same way.
absl::Status CheckChunk(const Segment& segment, Pid owner, unsigned parity, std::uint64_t offset,
                        ChunkContent& content);

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_CHAIN_WALK_H_
