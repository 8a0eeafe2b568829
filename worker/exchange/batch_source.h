// From the arenas of this node's processes to frames for the other nodes: what they handed over
// while they computed, and at the barrier their chains, unbuffered puts, votes and sums; later the
// answers to gets. Payloads go by reference; nothing that a process wrote is trusted.
#ifndef WORKER_EXCHANGE_BATCH_SOURCE_H_
#define WORKER_EXCHANGE_BATCH_SOURCE_H_

#include <absl/status/status.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "net/sending_stream.h"
#include "runtime/link/link_segment.h"
#include "worker/exchange/batch_table.h"
#include "worker/exchange/chain_walk.h"
#include "worker/exchange/job_shape.h"
#include "worker/exchange/node_exchange.h"

namespace bspnow::worker {

/// What remote `asker` is owed by a process here: `bytes` of answers, as its sums say.
struct AnswerRequest {
  Pid asker;
  Pid answerer;
  std::uint64_t bytes;
};

class BatchSource {
 public:
  /// Frames by host, in the order in which they must be sent. Empty when they are handed in.
  using Frames = std::vector<std::vector<OutgoingBatch>>;

  /// Both are the caller's and stay.
  BatchSource(const Segment& segment, const JobShape& shape);

  /// What was handed over in this superstep since the last call.
  absl::Status CollectHanded(std::uint64_t superstep, Frames& frames);

  /// The rest of the superstep; all processes here are at its barrier.
  absl::Status CollectBatch(std::uint64_t superstep, const BarrierCounts& counts, Frames& frames);

  /// A PeerArrival and what follows it, after all that CollectBatch gave for this host: in the same
  /// frame, if there is room.
  void AddArrival(std::uint64_t superstep, std::uint32_t host, std::span<const std::byte> arrival,
                  Frames& frames) const;

  /// A piece without data for this host, in a frame of its own.
  OutgoingBatch Word(BatchContent content, std::uint32_t host) const;

  /// The answers to these requests of a host, which are all of its.
  absl::Status CollectAnswers(std::uint64_t superstep, std::uint32_t host,
                              std::span<const AnswerRequest> requests, Frames& frames);

  /// Frames collected in this superstep, by host; answers are not counted.
  std::span<const std::uint64_t> counted() const { return counted_; }

  /// A frame with a token was acknowledged, in this superstep. One of an earlier superstep changes
  /// nothing: its ring is returned at a barrier, which processes may be past already.
  void OnDelivered(std::uint64_t token, std::uint64_t superstep);

  /// This superstep is over; the rings of the one before will be used again.
  void OnReleased(std::uint64_t superstep);

  /// Supersteps from `first` to `last` were over without this, and nothing of them is here: rings
  /// have been returned to the processes already.
  void OnPassed(std::uint64_t first, std::uint64_t last);

 private:
  struct Ring {
    std::uint32_t next = 0;       ///< Chunks taken in this superstep.
    std::uint32_t taken = 0;      ///< Slots not acknowledged yet, a bit each.
    std::uint16_t superstep = 0;  ///< Its lower bits.
  };

  Ring& ring(Pid pid, unsigned parity) { return rings_[2 * Value(pid) + parity]; }
  OutgoingBatch Begin(std::uint64_t superstep, BatchContent content, Pid source,
                      Pid destination) const;
  void Count(const Frames& frames);
  absl::Status TakeHanded(std::uint64_t superstep, Frames& frames);
  void AddChunk(Frames& frames, const OutgoingBatch& head, const ChunkContent& content);
  absl::Status AddChain(Frames& frames, const OutgoingBatch& head, std::uint64_t first,
                        ChainBudget& budget);
  absl::Status AddHanded(std::uint64_t superstep, Pid pid, std::uint32_t slot, Frames& frames);
  absl::Status AddOwed(std::uint64_t superstep, Pid pid, Frames& frames);
  void AddEntries(std::uint64_t superstep, Frames& frames);
  void AddSmall(Frames& frames, const OutgoingBatch& head, std::span<const ChunkContent> contents);
  BatchTable& TableWithRoom(std::uint64_t superstep, std::uint32_t host, std::size_t bytes,
                            Frames& frames);
  void CloseTable(std::uint64_t superstep, std::uint32_t host, Frames& frames);
  absl::Status AddVote(std::uint64_t superstep, Pid pid, Frames& frames);

  const Segment& segment_;
  const JobShape& shape_;
  std::vector<Ring> rings_;
  std::vector<std::uint64_t> counted_;
  std::vector<std::vector<BatchEntry>> entries_;  ///< By host, while they are collected.
  std::vector<BatchTable> tables_;                ///< The same.
  std::vector<ChunkContent> chain_;               ///< While it is walked.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_BATCH_SOURCE_H_
