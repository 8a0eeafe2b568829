// For tests: BatchSource on one node, BatchInbox on another, and what processes write in between.
#ifndef WORKER_EXCHANGE_TESTING_BATCH_FIXTURE_H_
#define WORKER_EXCHANGE_TESTING_BATCH_FIXTURE_H_

#include <gtest/gtest.h>
#include <string.h>

#include <string>
#include <vector>

#include "worker/exchange/batch_inbox.h"
#include "worker/exchange/batch_source.h"
#include "worker/exchange/batch_table.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {
inline constexpr std::uint32_t kProcs = 4;  // 0 and 1 on node 0, 2 and 3 on node 1.
inline constexpr std::uint64_t kPartBytes = 256 << 10;
inline constexpr BarrierCounts kData{.data = 1, .gets = 1, .votes = 0, .ending = 0};
inline constexpr BarrierCounts kVotes{.data = 0, .gets = 0, .votes = 1, .ending = 0};

inline JobShape Shape(std::uint32_t self) {
  return JobShape{.job = JobId{1},
                  .epoch = Epoch{1},
                  .self = self,
                  .hosts = {{Pid{0}, Pid{1}}, {Pid{2}, Pid{3}}},
                  .host_of = {0, 0, 1, 1},
                  .participants = kProcs};
}

inline NodeSegment MakeSegment(std::uint32_t node,
                               std::uint64_t address_space_bytes = std::uint64_t{400} << 20) {
  absl::StatusOr<NodeSegment> segment =
      NodeSegment::Create(SegmentPlan{.job = JobId{1},
                                      .epoch = Epoch{1},
                                      .nprocs = kProcs,
                                      .check_full = false,
                                      .memory_bytes = 1 << 20,
                                      .address_space_bytes = address_space_bytes});
  EXPECT_TRUE(segment.ok());
  segment->Place(node, Shape(0).hosts);
  return *std::move(segment);
}

// What a process does when it communicates.
class Outbox {
 public:
  Outbox(const Segment& segment, Pid pid) : segment_(segment), pid_(pid) {}

  // A chunk in the heap of this parity; its offset.
  std::uint64_t Chunk(unsigned parity, const std::string& content, std::uint64_t next) {
    const std::uint64_t offset = segment_.heap_offset(static_cast<int>(parity)) + used_[parity];
    used_[parity] += (kChunkHeaderBytes + content.size() + 63) / 64 * 64;
    auto* chunk = reinterpret_cast<bspnow::Chunk*>(segment_.arena(pid_) + offset);
    chunk->next = next;
    chunk->used_bytes = kChunkHeaderBytes + content.size();
    memcpy(segment_.arena(pid_) + offset + kChunkHeaderBytes, content.data(), content.size());
    return offset;
  }

  DirectoryEntry& entry(Pid to, unsigned parity) { return segment_.entry(pid_, to, parity); }

  void Hand(unsigned parity, std::uint32_t slot, Pid to, std::uint64_t chunk) {
    Hand(parity, slot, to, chunk, BatchContent::kPuts);
  }
  void Hand(unsigned parity, std::uint32_t slot, Pid to, std::uint64_t chunk,
            BatchContent content) {
    HandedChunk& handed = segment_.handed(pid_, parity)[slot];
    handed.kind = static_cast<std::uint32_t>(content);
    handed.pid = Value(to);
    handed.offset = chunk;
    handed.state = HandedChunk::kHanded;
  }

 private:
  const Segment& segment_;
  Pid pid_;
  std::uint64_t used_[2] = {0, 0};
};

class BatchTest : public ::testing::Test {
 protected:
  BatchTest()
      : near_(MakeSegment(0)),
        far_(MakeSegment(1)),
        near_shape_(Shape(0)),
        far_shape_(Shape(1)),
        source_(near_.segment(), near_shape_),
        inbox_(far_.segment(), far_shape_) {}

  // Carries the frames over. Returns the first status that is not OK.
  absl::Status Deliver(BatchSource::Frames& frames) {
    EXPECT_TRUE(frames[0].empty());
    for (OutgoingBatch& frame : frames[1]) {
      std::vector<std::byte> data = frame.owned;
      for (const iovec& piece : frame.pieces) {
        const auto* at = static_cast<const std::byte*>(piece.iov_base);
        data.insert(data.end(), at, at + piece.iov_len);
      }
      BatchTableReader pieces(frame.piece, data);
      while (pieces.Next())
        if (absl::Status s = Deliver(Value(frame.superstep), pieces.piece(), pieces.data());
            !s.ok())
          return s;
      EXPECT_TRUE(pieces.done());
    }
    frames[1].clear();
    return absl::OkStatus();
  }

  absl::Status Deliver(std::uint64_t superstep, const BatchPiece& piece,
                       std::span<const std::byte> data) {
    if (absl::Status s = inbox_.Check(0, piece, data.size()); !s.ok()) return s;
    if (place_) {
      const auto placed = inbox_.Place(superstep, piece, data.size());
      if (!placed.empty()) {
        memcpy(placed.data(), data.data(), data.size());
        data = placed;
      }
    }
    return inbox_.Take(superstep, piece, data);
  }

  absl::Status Superstep(std::uint64_t superstep, const BarrierCounts& counts) {
    BatchSource::Frames frames(2);
    if (absl::Status s = source_.CollectBatch(superstep, counts, frames); !s.ok()) return s;
    EXPECT_EQ(source_.counted()[1], frames[1].size());
    if (absl::Status s = Deliver(frames); !s.ok()) return s;
    source_.OnReleased(superstep);
    inbox_.Publish(superstep);
    return absl::OkStatus();
  }

  const DirectoryEntry& Image(Pid from, Pid to, unsigned parity) {
    return far_.segment().entry(from, to, parity);
  }

  // The contents of the chunks of an image's chain, one after the other.
  std::string Content(Pid from, std::uint64_t first) {
    std::string all;
    const std::byte* arena = far_.segment().arena(from);
    for (std::uint64_t at = first; at != 0;) {
      const auto* chunk = reinterpret_cast<const Chunk*>(arena + at);
      all.append(reinterpret_cast<const char*>(chunk + 1), chunk->used_bytes - sizeof *chunk);
      at = chunk->next;
    }
    return all;
  }

  NodeSegment near_;
  NodeSegment far_;
  JobShape near_shape_;
  JobShape far_shape_;
  BatchSource source_;
  BatchInbox inbox_;
  bool place_ = true;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_TESTING_BATCH_FIXTURE_H_
