// Reading a chain of chunks in another process's arena, record by record.
#ifndef RUNTIME_LINK_CHAIN_H_
#define RUNTIME_LINK_CHAIN_H_

#include <cstddef>
#include <cstdint>

#include "runtime/link/link.h"

namespace bspnow::runtime {

class ChainReader {
 public:
  ChainReader() = default;

  /// The chain whose first chunk is at `first` in `arena`; 0 is an empty chain.
  ChainReader(const std::byte* arena, std::uint64_t first) : arena_(arena) { Enter(first); }

  bool done() const { return at_ == end_; }

  /// The next record; the caller reads its header there and then calls Skip.
  const std::byte* record() const { return at_; }

  /// Goes on after `bytes` bytes of the record, to the next multiple of `align`.
  void Skip(std::size_t bytes, std::size_t align) {
    at_ += (bytes + align - 1) / align * align;
    if (at_ >= end_) Enter(next_);
  }

 private:
  void Enter(std::uint64_t offset) {
    if (offset == 0) {
      at_ = end_ = nullptr;
      return;
    }
    const std::byte* start = arena_ + offset;
    const auto* chunk = reinterpret_cast<const Chunk*>(start);
    next_ = chunk->next;
    at_ = start + kChunkHeaderBytes;
    end_ = start + chunk->used_bytes;
  }

  const std::byte* arena_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  std::uint64_t next_ = 0;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_CHAIN_H_
