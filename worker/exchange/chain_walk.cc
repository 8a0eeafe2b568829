#include "worker/exchange/chain_walk.h"

#include <absl/strings/str_cat.h>

namespace bspnow::worker {
namespace {

const Chunk& ChunkAt(const Segment& segment, Pid owner, std::uint64_t offset) {
  return *reinterpret_cast<const Chunk*>(segment.arena(owner) + offset);
}

absl::Status Damaged(Pid owner, const char* what, std::uint64_t value) {
  return absl::DataLossError(absl::StrCat("pid ", Value(owner),
                                          " has damaged its communication memory: ", what, " ",
                                          value, "; the program writes outside its own data"));
}

absl::Status CheckPlace(const Segment& segment, Pid owner, unsigned parity, std::uint64_t offset) {
  if (segment.InHeap(owner, static_cast<int>(parity), offset, kChunkHeaderBytes) &&
      offset % kMessageAlign == 0)
    return absl::OkStatus();
  return Damaged(owner, "a chunk at", offset);
}

}  // namespace

bool ChainBudget::Take(std::uint64_t used_bytes) {
  if (used_bytes > heap_bytes_ - taken_bytes_) return false;
  taken_bytes_ += used_bytes;
  chunks_ += 1;
  return chunks_ <= chunks_allowed_ + taken_bytes_ / kBytesOfAChunk;
}

absl::Status CheckChunk(const Segment& segment, Pid owner, unsigned parity, std::uint64_t offset,
                        ChunkContent& content) {
  if (absl::Status s = CheckPlace(segment, owner, parity, offset); !s.ok()) return s;
  const std::uint64_t used = ReadOnce(ChunkAt(segment, owner, offset).used_bytes);
  if (used < kChunkHeaderBytes || !segment.InHeap(owner, static_cast<int>(parity), offset, used))
    return Damaged(owner, "a chunk of", used);
  content = ChunkContent{.offset = offset + kChunkHeaderBytes, .bytes = used - kChunkHeaderBytes};
  return absl::OkStatus();
}

ChainWalk::ChainWalk(const Segment& segment, Pid owner, unsigned parity, std::uint64_t first,
                     ChainBudget& budget)
    : segment_(segment), owner_(owner), parity_(parity), next_(first), budget_(budget) {
  if (first != 0) budget_.BeginChain();
}

absl::Status ChainWalk::Next(ChunkContent& content) {
  if (absl::Status s = CheckChunk(segment_, owner_, parity_, next_, content); !s.ok()) return s;
  if (!budget_.Take(content.bytes + kChunkHeaderBytes)) {
    return Damaged(owner_, "its chains have no end; the last chunk at", next_);
  }
  next_ = ReadOnce(ChunkAt(segment_, owner_, next_).next);
  return absl::OkStatus();
}

}  // namespace bspnow::worker
