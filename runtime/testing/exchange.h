// What a worker does with the data of a superstep, for tests of libbsp: copies what the processes
// of each node owe those of the others from segment to segment, as link.h lays down. It takes
// nothing on trust that libbsp promises: chunks must be chains of whole records, rings in order,
// and so on.
#ifndef RUNTIME_TESTING_EXCHANGE_H_
#define RUNTIME_TESTING_EXCHANGE_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

/// When the worker reports that a handed chunk has been delivered.
enum class Acknowledge { kAtOnce, kWhenTheRingIsFull };

/// A node of the job. All of them are on this machine.
struct NodeForTest {
  UniqueFd memory;
  UniqueFd doorbell;  ///< The worker's end.
  UniqueFd process_doorbell;
  Segment segment;
  std::uint32_t here = 0;      ///< Processes that take part.
  std::uint32_t answered = 0;  ///< s + 1 when the answers to the gets of s have been passed on.
  /// Where the next chunk goes in an image's heap, by owner and heap.
  std::map<std::pair<std::uint32_t, int>, std::uint64_t> used;
  /// The last chunk of an image's chain, by owner, destination and kind, in this superstep.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Chunk*> last;
};
using NodesForTest = std::vector<std::unique_ptr<NodeForTest>>;

struct ExchangeCounts {
  std::uint64_t handed = 0;                                  ///< Chunks that were handed over.
  std::uint64_t direct_puts = 0;                             ///< Parts of unbuffered puts.
  std::uint64_t early_puts = 0;                              ///< Of them, those offered at once.
  std::set<std::pair<std::uint32_t, std::uint64_t>> places;  ///< Of handed chunks: pid, offset.
};

class ExchangeForTest {
 public:
  /// `node_of` by pid. The nodes outlive this.
  ExchangeForTest(NodesForTest& nodes, std::vector<std::uint32_t> node_of, Acknowledge acknowledge)
      : nodes_(nodes), node_of_(std::move(node_of)), acknowledge_(acknowledge) {}

  /// p is known.
  void Start(std::uint32_t p) { p_ = p; }

  /// All processes are in the last barrier of the superstep before: they have done with the one
  /// before that, whose memory will be used anew.
  void BeginSuperstep(std::uint64_t superstep);

  /// Takes what was handed over in this superstep. Whether there was anything.
  bool TakeHanded();

  /// All processes have arrived: gives each node what it must have before it is released.
  void Exchange();

  /// Passes the answers of nodes on where all processes have answered. Whether there were any.
  bool CopyAnswers();

  const ExchangeCounts& counts() const { return counts_; }

 private:
  struct Ring {
    std::uint64_t taken = 0;
    std::set<std::uint64_t> under_way;  ///< Places that are taken and not acknowledged.
  };

  unsigned parity() const { return superstep_ & 1; }
  NodeForTest& NodeOf(std::uint32_t pid) { return *nodes_[node_of_[pid]]; }
  bool SameNode(std::uint32_t a, std::uint32_t b) const { return node_of_[a] == node_of_[b]; }
  std::byte* Place(NodeForTest& node, std::uint32_t owner, int heap, std::uint64_t bytes);
  DirectoryEntry& Image(std::uint32_t from, std::uint32_t to);
  void CopyChunk(std::uint32_t from, std::uint32_t to, std::uint32_t kind, const Chunk& chunk);
  bool TakeHanded(std::uint32_t pid);
  void AcknowledgeAll(std::uint32_t pid, unsigned parity);
  void CopyPair(std::uint32_t from, std::uint32_t to);
  void CopyVote(std::uint32_t from, NodeForTest& to);
  void CopyDirectPut(std::uint32_t from, std::uint32_t to, const Chunk& chunk);
  void CopyAnswersOf(NodeForTest& node, unsigned parity);

  NodesForTest& nodes_;
  std::vector<std::uint32_t> node_of_;
  Acknowledge acknowledge_;
  std::uint32_t p_ = 0;
  std::uint64_t superstep_ = 0;
  std::map<std::pair<std::uint32_t, unsigned>, Ring> rings_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> fresh_;  ///< Images of this superstep.
  ExchangeCounts counts_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TESTING_EXCHANGE_H_
