#include "worker/exchange/batch_table.h"

#include <string.h>

#include <utility>

namespace bspnow::worker {

void BatchTable::Begin(BatchPiece piece, std::size_t data_bytes) {
  piece.chunk_bytes = data_bytes;
  Append(std::as_bytes(std::span(&piece, 1)));
}

void BatchTable::Append(std::span<const std::byte> data) {
  bytes_.insert(bytes_.end(), data.begin(), data.end());
}

std::vector<std::byte> BatchTable::Take() { return std::exchange(bytes_, {}); }

BatchTableReader::BatchTableReader(const BatchPiece& piece, std::span<const std::byte> data)
    : single_(static_cast<BatchContent>(piece.content) != BatchContent::kTable),
      left_(single_ ? std::span<const std::byte>() : data),
      piece_(piece),
      data_(data) {}

bool BatchTableReader::Next() {
  if (std::exchange(single_, false)) return true;
  if (left_.size() < sizeof piece_) return false;
  memcpy(&piece_, left_.data(), sizeof piece_);
  const std::span<const std::byte> rest = left_.subspan(sizeof piece_);
  if (piece_.chunk_bytes > rest.size()) return false;
  data_ = rest.first(piece_.chunk_bytes);
  left_ = rest.subspan(piece_.chunk_bytes);
  return true;
}

}  // namespace bspnow::worker
