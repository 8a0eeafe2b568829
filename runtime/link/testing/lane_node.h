// For tests: one of two nodes that have lanes, with one process each, and what is done with its
// frames of one barrier.
#ifndef RUNTIME_LINK_TESTING_LANE_NODE_H_
#define RUNTIME_LINK_TESTING_LANE_NODE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/link/lane_completion.h"
#include "runtime/link/lane_frame.h"
#include "runtime/link/lane_pieces.h"
#include "runtime/link/testing/node_memory.h"

namespace bspnow {

inline constexpr std::uint32_t kBarrier = 7;
inline constexpr unsigned kParity = (kBarrier - 1) & 1;  // Of the superstep that it ends.

inline Segment SegmentOfTwoNodes(std::uint32_t self) {
  constexpr std::uint32_t kNodes[] = {0, 1};
  return SegmentOfNode(self, kNodes);
}

/// A chunk of these records in the arena of that process, before chunk `next`; where it is.
inline std::uint64_t MakeChunk(const Segment& segment, Pid pid, HeapUse& use,
                               const std::string& records, std::uint64_t next = 0) {
  const std::uint64_t bytes = kChunkHeaderBytes + records.size();
  const std::uint64_t at = segment.TakeRoom(pid, static_cast<int>(kParity), bytes, use);
  std::byte* const chunk = segment.arena(pid) + at;
  *reinterpret_cast<Chunk*>(chunk) = {.next = next, .used_bytes = bytes};
  std::memcpy(chunk + kChunkHeaderBytes, records.data(), records.size());
  return at;
}

/// What is sent to that host at a barrier, as its frames have been composed.
inline std::vector<std::byte> FrameTo(const Segment& segment, std::uint32_t host,
                                      std::uint32_t barrier) {
  iovec parts[kLanePartsMax];
  const std::uint32_t count = PartsOfLaneFrame(segment, host, barrier & 1, parts);
  std::vector<std::byte> frame;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto* const part = static_cast<const std::byte*>(parts[i].iov_base);
    frame.insert(frame.end(), part, part + parts[i].iov_len);
  }
  return frame;
}

/// One of two nodes, with one process each.
class Node {
 public:
  explicit Node(std::uint32_t self) : self_(self), segment_(SegmentOfTwoNodes(self)) {}

  const Segment& segment() const { return segment_; }
  LaneShape shape() const { return {.segment = &segment_, .self = self_, .hosts = 2, .p = 2}; }

  /// The process here puts so many bytes, in two chunks, and sends a message.
  void Owe(std::uint64_t put_bytes) {
    const Pid to{1 - self_};
    DirectoryEntry& entry = segment_.entry(Pid{self_}, to, kParity);
    entry.puts = Chain({std::string(put_bytes, 'a'), std::string(16, 'b')});
    entry.messages = Chain({std::string(48, 'm')});
    entry.bytes_to = put_bytes + 16;
    entry.message_count = 1;
    segment_.header().barrier.phases[kBarrier & 1].with_data = 1;
  }

  /// Besides, by a way of its own.
  void CountPut(std::uint64_t bytes) {
    segment_.entry(Pid{self_}, Pid{1 - self_}, kParity).bytes_to += bytes;
  }

  void AskFor(std::uint64_t bytes) {
    DirectoryEntry& entry = segment_.entry(Pid{self_}, Pid{1 - self_}, kParity);
    entry.gets = Chain({std::string(24, 'g')});
    entry.bytes_from = bytes;
    segment_.header().barrier.phases[kBarrier & 1].with_data = 1;
    segment_.header().barrier.phases[kBarrier & 1].with_gets = 1;
  }

  /// Registers areas, the first of which is in `slot`, and ends one registration.
  void Register(std::uint64_t slot, const std::vector<RegisteredArea>& areas) {
    const Pid here{self_};
    segment_.cell(here).votes[kParity] = {.superstep = kBarrier - 1,
                                          .digest = 1,
                                          .pushes = areas.size(),
                                          .pops = 1,
                                          .tag_bytes = 4,
                                          .site = 0};
    for (std::uint64_t k = 0; k < areas.size(); ++k) {
      segment_.pushes(here, kParity)[k] = slot + k;
      segment_.slots(here)[slot + k] = areas[k];
    }
    segment_.pops(here, kParity)[0] = 77;
    segment_.header().barrier.phases[kBarrier & 1].with_votes = 1;
  }

  void Answer(const std::string& bytes) {
    HeapUse use;
    const std::uint64_t at = segment_.TakeRoom(Pid{self_}, kAnswerHeap, bytes.size(), use);
    std::memcpy(segment_.arena(Pid{self_}) + at, bytes.data(), bytes.size());
    segment_.entry(Pid{self_}, Pid{1 - self_}, kParity).answers = at;
  }

  std::vector<std::byte> AnswersToOther() const {
    const std::byte* const frame = segment_.lanes().answers_out[1 - self_];
    return {frame, frame + reinterpret_cast<const LaneFrame*>(frame)->bytes};
  }

  void ReceiveAnswers(const Node& other) {
    const std::vector<std::byte> frame = other.AnswersToOther();
    std::byte* const in = segment_.lanes().answers_in[other.self_];
    std::memcpy(in, frame.data(), frame.size());
    PublishLaneAnswers(shape(), other.self_, in);
  }

  /// What the process here is answered.
  std::string Answers(std::size_t bytes) const {
    const std::byte* const at = segment_.arena(Pid{1 - self_}) + Received().answers;
    return {reinterpret_cast<const char*>(at), bytes};
  }

  /// What comes from the other node, of its frame.
  void Receive(const Node& other) {
    const std::vector<std::byte> frame = other.FrameToOther();
    std::memcpy(segment_.lanes().in[other.self_][kBarrier & 1], frame.data(), frame.size());
  }

  std::vector<std::byte> FrameToOther() const { return FrameTo(segment_, 1 - self_, kBarrier); }

  /// Records of the chunk at `offset` of the other process's arena.
  std::string Read(std::uint64_t offset) const {
    const std::byte* const at = segment_.arena(Pid{1 - self_}) + offset;
    const auto& chunk = *reinterpret_cast<const Chunk*>(at);
    EXPECT_EQ(chunk.next, 0u);
    return {reinterpret_cast<const char*>(at) + kChunkHeaderBytes,
            chunk.used_bytes - kChunkHeaderBytes};
  }

  const DirectoryEntry& Received() const {
    return segment_.entry(Pid{1 - self_}, Pid{self_}, kParity);
  }

  void Complete() { CompleteLaneBarrier(shape(), kBarrier, FramesInSegment(shape(), kBarrier)); }

 private:
  std::uint64_t Chain(const std::vector<std::string>& chunks) {
    std::uint64_t next = 0;
    for (auto text = chunks.rbegin(); text != chunks.rend(); ++text)
      next = MakeChunk(segment_, Pid{self_}, use_, *text, next);
    return next;
  }

  std::uint32_t self_;
  Segment segment_;
  HeapUse use_;
};

inline LaneBytes LookAt(const Node& node, const std::vector<std::byte>& bytes,
                        std::uint32_t host = 0) {
  std::uint32_t frame_bytes = 0;
  return LookAtLaneBytes(node.shape(), host, bytes.data(), bytes.size(), frame_bytes);
}

/// Whichever bit of `frame` is flipped.
inline void ExpectNoFlippedBitIsWhole(const Node& node, std::vector<std::byte> frame) {
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    const std::byte mask = std::byte{1} << bit % 8;
    frame[bit / 8] ^= mask;
    EXPECT_NE(LookAt(node, frame), LaneBytes::kWhole) << bit;
    frame[bit / 8] ^= mask;
  }
}

}  // namespace bspnow

#endif  // RUNTIME_LINK_TESTING_LANE_NODE_H_
