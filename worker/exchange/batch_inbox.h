// From frames to the images of other nodes' processes: chunks, sums, votes and answers, laid down
// in this node's segment as if those processes lived here (runtime/link/link.h). What came is kept
// aside until its superstep is released; a frame that makes no sense is refused.
#ifndef WORKER_EXCHANGE_BATCH_INBOX_H_
#define WORKER_EXCHANGE_BATCH_INBOX_H_

#include <absl/status/status.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "net/frame.h"
#include "runtime/link/link_segment.h"
#include "worker/exchange/batch_source.h"
#include "worker/exchange/early_offers.h"
#include "worker/exchange/job_shape.h"

namespace bspnow::worker {

class BatchInbox {
 public:
  /// Both are the caller's and stay.
  BatchInbox(const Segment& segment, const JobShape& shape);

  /// INVALID_ARGUMENT if `host` cannot have sent this piece. To be asked before the calls below.
  absl::Status Check(std::uint32_t host, const BatchPiece& piece, std::size_t data_bytes) const;

  /// Where the data of this piece may be read to at once; nothing if it must be handed to Take
  /// from elsewhere. May be asked again for the same piece.
  std::span<std::byte> Place(std::uint64_t superstep, const BatchPiece& piece,
                             std::size_t data_bytes);

  /// Takes a piece in. INVALID_ARGUMENT: it makes no sense. RESOURCE_EXHAUSTED: there is no room,
  /// the job cannot go on.
  absl::Status Take(std::uint64_t superstep, const BatchPiece& piece,
                    std::span<const std::byte> data);

  /// Lets the processes here see what came in this superstep, which ends. Before the barrier is
  /// released; afterwards superstep + 2 may come in.
  void Publish(std::uint64_t superstep);
  /// Whether entries of it are in the directory.
  bool Published(std::uint64_t superstep) const { return !sides_[superstep & 1].published.empty(); }
  /// Memory is to be given back in the supersteps to come.
  bool much_memory() const { return much_memory_; }

  /// The answers of these processes in this superstep are complete; lets those who wait go on.
  void PublishAnswers(std::uint64_t superstep, std::uint32_t host);

  /// The images are not read any more, and their memory is about to be given back. Returns whether
  /// that was more than heads.
  bool ReturnMemory() {
    bool any = false;
    for (Heap& heap : heaps_) {
      any |= heap.use.peak != 0;
      segment_.Return(heap.use);
    }
    return any;
  }

  /// Who here was asked for what by processes of that host, in a superstep that is published.
  void FindRequests(std::uint64_t superstep, std::uint32_t host,
                    std::vector<AnswerRequest>& requests) const;

 private:
  enum Chain { kPuts, kGets, kMessages, kDirect, kChains };

  /// A chunk that came in part.
  struct Partial {
    std::uint64_t offset = 0;  ///< In the source's arena; 0: none.
    std::uint64_t bytes = 0;   ///< That it will have.
    std::uint64_t done = 0;
  };

  /// What came from one process for another in one superstep.
  struct Pair {
    Pid source{};
    Pid destination{};
    DirectoryEntry entry{};
    std::array<std::uint64_t, kChains> last{};  ///< Chunk of each chain.
    std::array<Partial, kChains> partial{};
  };

  struct Vote {
    Pid source{};
    std::vector<std::byte> bytes;
    std::uint64_t bytes_wanted = 0;
  };

  /// One heap of one image.
  struct Heap {
    HeapUse use{};
    std::uint64_t superstep = 0;  ///< Of the answers in heap 2.
  };

  /// One parity.
  struct Side {
    std::vector<std::uint32_t> index;  ///< By source and place of the destination; 0: no pair.
    std::vector<Pair> pairs;
    std::vector<Pair> published;  ///< Still to be seen in the directories.
    std::vector<Vote> votes;
    std::unordered_map<std::uint64_t, Partial> answers;  ///< By AnswersKey.
    std::vector<EarlyOffers> early;                      ///< By place of the destination.
  };

  static std::uint64_t AnswersKey(const BatchPiece& piece) {
    return std::uint64_t{piece.source_pid} << 32 | piece.destination_pid;
  }
  Heap& heap(Pid source, int number) { return heaps_[kHeaps * Value(source) + number]; }
  Pair& pair(Side& side, Pid source, Pid destination);
  Partial& partial(std::uint64_t superstep, const BatchPiece& piece);
  std::byte* Address(const BatchPiece& piece, const Partial& partial) const;
  absl::Status MakeRoom(std::uint64_t superstep, const BatchPiece& piece, Partial& partial);
  absl::Status Allocate(const BatchPiece& piece, int number, std::uint64_t bytes,
                        std::uint64_t& offset);
  void Link(Pair& pair, Chain chain, std::uint64_t offset, std::uint64_t content_bytes);
  absl::Status TakeChunk(std::uint64_t superstep, const BatchPiece& piece,
                         std::span<const std::byte> data);
  absl::Status TakeEntries(std::uint64_t superstep, const BatchPiece& piece,
                           std::span<const std::byte> data);
  void OfferEarly(Pair& pair, unsigned parity, const Partial& chunk);
  absl::Status TakeVote(std::uint64_t superstep, const BatchPiece& piece,
                        std::span<const std::byte> data);
  absl::Status CheckChunk(const BatchPiece& piece, std::size_t data_bytes) const;
  void PublishVotes(Side& side, unsigned parity);
  void PublishVote(const Vote& vote, unsigned parity);
  void GiveBack(std::uint64_t superstep);

  const Segment& segment_;
  const JobShape& shape_;
  std::vector<std::uint32_t> place_here_;  ///< By pid: its index among the processes here.
  std::vector<Heap> heaps_;
  std::array<Side, 2> sides_;
  bool much_memory_ = false;  ///< Some heap holds more than it should for long.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_BATCH_INBOX_H_
