// Small pieces for one peer in as few frames as possible: a frame costs both sides microseconds,
// however little is in it. A table (BatchContent::kTable) is whole pieces one after the other, each
// of them a BatchPiece, whose chunk_bytes say how many bytes of data follow, and those bytes.
#ifndef WORKER_EXCHANGE_BATCH_TABLE_H_
#define WORKER_EXCHANGE_BATCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/frame.h"

namespace bspnow::worker {

/// The most data that a piece has in a table: larger ones are sent from where they lie.
inline constexpr std::size_t kTablePieceBytesMax = 8 << 10;
/// Of a table with more than one piece.
inline constexpr std::size_t kTableBytesMax = 64 << 10;

class BatchTable {
 public:
  bool empty() const { return bytes_.empty(); }
  bool HasRoomFor(std::size_t data_bytes) const {
    return empty() || bytes_.size() + sizeof(BatchPiece) + data_bytes <= kTableBytesMax;
  }

  /// A piece with so many bytes of data, at most kTablePieceBytesMax, which Append brings.
  void Begin(BatchPiece piece, std::size_t data_bytes);
  void Append(std::span<const std::byte> data);

  std::vector<std::byte> Take();

 private:
  std::vector<std::byte> bytes_;
};

/// Walks a frame that came, trusting nothing: the pieces of a table, or the one that it is.
class BatchTableReader {
 public:
  BatchTableReader(const BatchPiece& piece, std::span<const std::byte> data);

  /// False: there is no other piece, or it is cut off.
  bool Next();
  /// All of the frame was read.
  bool done() const { return !single_ && left_.empty(); }

  const BatchPiece& piece() const { return piece_; }
  std::span<const std::byte> data() const { return data_; }

 private:
  bool single_;  ///< Is no table, and is still to be given.
  std::span<const std::byte> left_;
  BatchPiece piece_;
  std::span<const std::byte> data_;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_BATCH_TABLE_H_
