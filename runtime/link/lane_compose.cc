// What this node's processes owe those of others, made into frames: ComposeLaneFrames and
// ComposeLaneAnswers of lane_frame.h.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "runtime/link/lane_barrier.h"
#include "runtime/link/lane_entries.h"
#include "runtime/link/lane_frame.h"
#include "runtime/link/lane_pieces.h"
#include "runtime/link/lane_same.h"

namespace bspnow {
namespace {

/// A frame that is being filled.
struct Writing {
  LaneFrame* frame = nullptr;
  std::byte* at = nullptr;
  std::byte* end = nullptr;
  LanePieces* pieces = nullptr;                   ///< Or all of it is copied.
  std::size_t answers_bytes = sizeof(LaneFrame);  ///< Of the frame that answers its gets.
  LaneEntry* last = nullptr;
  std::uint64_t last_puts = 0;  ///< Where the chain of its puts begins, in the arena of its source.
  std::uint32_t pairs = 0;      ///< For which its entries stand.
};

Writing Begin(std::byte* to, const LaneFrame& head, std::uint32_t bytes_max) {
  *reinterpret_cast<LaneFrame*>(to) = head;
  return {.frame = reinterpret_cast<LaneFrame*>(to), .at = to + sizeof head, .end = to + bytes_max};
}

void NoteLength(const Writing& out) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(out.frame);
  out.frame->bytes = static_cast<std::uint32_t>(out.at - bytes);
}

void Close(LaneFrame& frame, const iovec* parts, std::uint32_t count) {
  frame.head_crc32c = frame.bytes > kLaneShortBytesMax ? CrcOfLongHead(frame) : 0;
  frame.crc32c = CrcOfLaneFrame(parts, count);
}

void Close(const Writing& out) {
  NoteLength(out);
  const iovec whole{.iov_base = out.frame, .iov_len = out.frame->bytes};
  Close(*out.frame, &whole, 1);
}

std::size_t ChainBytes(const std::byte* arena, std::uint64_t first) {
  std::size_t bytes = 0;
  for (std::uint64_t at = first; at != 0;) {
    const auto& chunk = *reinterpret_cast<const Chunk*>(arena + at);
    bytes += chunk.used_bytes - kChunkHeaderBytes;
    if (bytes > kLaneFrameBytesMax) return bytes;
    at = chunk.next;
  }
  return first == 0 ? 0 : kChunkHeaderBytes + bytes;
}

// Records do not care in which chunk they lie: a chain is one chunk.
void AppendChain(Writing& out, const Segment& segment, const std::byte* arena, std::uint64_t first,
                 std::size_t bytes) {
  if (bytes == 0) return;
  *reinterpret_cast<Chunk*>(out.at) = Chunk{.next = 0, .used_bytes = bytes};
  std::byte* to = out.at + kChunkHeaderBytes;
  for (std::uint64_t at = first; at != 0;) {
    const auto& chunk = *reinterpret_cast<const Chunk*>(arena + at);
    const std::size_t records = chunk.used_bytes - kChunkHeaderBytes;
    const std::byte* const from = arena + at + kChunkHeaderBytes;
    if (out.pieces != nullptr && records >= kLanePieceBytesMin) {
      const auto* const frame = reinterpret_cast<const std::byte*>(out.frame);
      out.pieces->of[out.pieces->count++] = {.at = static_cast<std::uint32_t>(to - frame),
                                             .bytes = static_cast<std::uint32_t>(records),
                                             .offset = segment.OffsetOf(from)};
    } else {
      memcpy(to, from, records);
    }
    to += records;
    at = chunk.next;
  }
  out.at += AlignedInLane(bytes);
}

// The answers of a host come in one frame.
bool AddAnswers(Writing& out, std::uint64_t bytes) {
  if (bytes > kLaneShortBytesMax) return false;
  out.answers_bytes += sizeof(LaneAnswers) + AlignedInLane(bytes);
  return out.answers_bytes <= kLaneShortBytesMax;
}

/// Goes through the records of a chain.
struct ChainReader {
  const std::byte* arena;
  std::uint64_t at;
  std::size_t done = kChunkHeaderBytes;  ///< Of the chunk at `at`.

  std::size_t left() const { return chunk().used_bytes - done; }
  const std::byte* records() const { return arena + at + done; }
  void Skip(std::size_t bytes) {
    done += bytes;
    if (done != chunk().used_bytes) return;
    at = chunk().next;
    done = kChunkHeaderBytes;
  }

 private:
  const Chunk& chunk() const { return *reinterpret_cast<const Chunk*>(arena + at); }
};

// Of two chains of as many bytes.
bool HaveSameRecords(ChainReader one, ChainReader other) {
  while (one.at != 0 && other.at != 0) {
    const std::size_t bytes = std::min(one.left(), other.left());
    if (memcmp(one.records(), other.records(), bytes) != 0) return false;
    one.Skip(bytes);
    other.Skip(bytes);
  }
  return true;
}

// As where a process puts the same to all: what goes to a node's processes goes there once.
bool IsOwedAsTheLast(const Writing& out, const DirectoryEntry& owed, const std::byte* arena,
                     Pid from, Pid to) {
  if (out.last == nullptr || out.pairs == kLanePairsMax) return false;
  const LaneEntry& last = *out.last;
  if (last.source_pid != Value(from) || last.destination_pid + last.more + 1 != Value(to) ||
      (owed.gets | owed.messages) != 0 || (last.gets_bytes | last.messages_bytes) != 0 ||
      owed.puts == 0 || last.puts_bytes == 0 || last.bytes_to != owed.bytes_to ||
      last.bytes_from != owed.bytes_from || last.message_bytes != owed.message_bytes ||
      last.message_count != owed.message_count || last.transfers != owed.transfers)
    return false;
  return last.puts_bytes == ChainBytes(arena, owed.puts) &&
         HaveSameRecords({.arena = arena, .at = out.last_puts}, {.arena = arena, .at = owed.puts});
}

bool AppendEntry(Writing& out, const Segment& segment, Pid from, Pid to, unsigned parity) {
  const DirectoryEntry& owed = segment.entry(from, to, parity);
  if ((owed.puts | owed.messages | owed.bytes_to | owed.bytes_from | owed.message_count |
       owed.transfers) == 0)
    return true;
  const std::byte* const arena = segment.arena(from);
  if (IsOwedAsTheLast(out, owed, arena, from, to)) {
    out.last->more += 1;
    out.pairs += 1;
    return true;
  }
  const std::size_t puts = ChainBytes(arena, owed.puts);
  const std::size_t gets = ChainBytes(arena, owed.gets);
  const std::size_t messages = ChainBytes(arena, owed.messages);
  // What went by bulk lanes counts, too.
  if (owed.bytes_to > std::numeric_limits<std::uint32_t>::max()) return false;
  if (gets != 0 && !AddAnswers(out, owed.bytes_from)) return false;
  const std::size_t bytes =
      sizeof(LaneEntry) + AlignedInLane(puts) + AlignedInLane(gets) + AlignedInLane(messages);
  if (out.pairs == kLanePairsMax || bytes > static_cast<std::size_t>(out.end - out.at))
    return false;
  out.last = reinterpret_cast<LaneEntry*>(out.at);
  *out.last = LaneEntry{.source_pid = Value(from),
                        .destination_pid = Value(to),
                        .bytes_to = static_cast<std::uint32_t>(owed.bytes_to),
                        .bytes_from = static_cast<std::uint32_t>(owed.bytes_from),
                        .message_bytes = owed.message_bytes,
                        .message_count = owed.message_count,
                        .transfers = owed.transfers,
                        .puts_bytes = static_cast<std::uint32_t>(puts),
                        .gets_bytes = static_cast<std::uint32_t>(gets),
                        .messages_bytes = static_cast<std::uint32_t>(messages),
                        .more = 0};
  out.frame->entries += 1;
  out.pairs += 1;
  out.at += sizeof(LaneEntry);
  out.last_puts = owed.puts;
  AppendChain(out, segment, arena, owed.puts, puts);
  AppendChain(out, segment, arena, owed.gets, gets);
  AppendChain(out, segment, arena, owed.messages, messages);
  return true;
}

void AppendAnswers(Writing& out, const Segment& segment, Pid from, Pid to, unsigned parity) {
  const std::uint64_t bytes = segment.entry(to, from, parity).bytes_from;
  BSP_CHECK(bytes <= kLaneShortBytesMax);
  BSP_CHECK(sizeof(LaneAnswers) + AlignedInLane(bytes) <=
            static_cast<std::size_t>(out.end - out.at));
  *reinterpret_cast<LaneAnswers*>(out.at) = {.source_pid = Value(from),
                                             .destination_pid = Value(to),
                                             .bytes = static_cast<std::uint32_t>(bytes),
                                             .reserved = 0};
  out.frame->entries += 1;
  out.at += sizeof(LaneAnswers);
  memcpy(out.at, segment.arena(from) + segment.entry(from, to, parity).answers, bytes);
  out.at += AlignedInLane(bytes);
}

bool AppendOwed(const LaneShape& shape, unsigned parity, Writing* out) {
  const Segment& segment = *shape.segment;
  for (std::uint32_t pid = 0; pid < shape.p; ++pid) {
    if (!segment.IsHere(Pid{pid})) continue;
    for (std::uint32_t q = 0; q < shape.p; ++q) {
      const std::uint32_t host = segment.cell(Pid{q}).node;
      if (host != shape.self && !AppendEntry(out[host], segment, Pid{pid}, Pid{q}, parity))
        return false;
    }
  }
  return true;
}

// A process that did nothing to its registrations has a vote of another superstep, or none.
bool VotedIn(const RegistrationVote& vote, std::uint32_t superstep) {
  return static_cast<std::uint32_t>(vote.superstep) == superstep;
}

bool AppendVote(Writing& out, const Segment& segment, Pid from, unsigned parity) {
  const RegistrationVote& vote = segment.cell(from).votes[parity];
  const std::size_t bytes = LaneVoteBytes(vote);
  if (bytes > static_cast<std::size_t>(out.end - out.at)) return false;
  *reinterpret_cast<LaneVote*>(out.at) = {.source_pid = Value(from), .reserved = {}, .vote = vote};
  auto* const pushes = reinterpret_cast<LanePush*>(out.at + sizeof(LaneVote));
  for (std::uint64_t k = 0; k < vote.pushes; ++k) {
    const std::uint64_t slot = segment.pushes(from, parity)[k];
    pushes[k] = {.slot = slot, .area = segment.slots(from)[slot]};
  }
  memcpy(pushes + vote.pushes, segment.pops(from, parity), vote.pops * sizeof(std::uint64_t));
  out.frame->votes += 1;
  out.at += bytes;
  return true;
}

// To all nodes: each compares the votes of all processes.
bool AppendVotes(const LaneShape& shape, std::uint32_t superstep, Writing* out) {
  const Segment& segment = *shape.segment;
  const unsigned parity = superstep & 1;
  for (std::uint32_t pid = 0; pid < shape.p; ++pid) {
    if (!segment.IsHere(Pid{pid}) || !VotedIn(segment.cell(Pid{pid}).votes[parity], superstep))
      continue;
    for (std::uint32_t host = 0; host < shape.hosts; ++host)
      if (host != shape.self && !AppendVote(out[host], segment, Pid{pid}, parity)) return false;
  }
  return true;
}

// LaneFrame::direct
std::uint32_t HostsOfOwn(const LaneShape& shape, unsigned parity, LaneRoute route,
                         const Writing* out) {
  if (route == LaneRoute::kDirect) return (1u << shape.hosts) - 1;
  if (OwesAllTheSame(shape, parity)) return kSameToAll;
  std::uint32_t hosts = 0;
  for (std::uint32_t host = 0; host < shape.hosts; ++host)
    if ((out[host].frame->entries | out[host].frame->votes) != 0) hosts |= 1u << host;
  return hosts;
}

}  // namespace

bool ComposeLaneFrames(const LaneShape& shape, std::uint32_t barrier, LaneRoute route,
                       std::uint32_t bytes_max) {
  const Segment& segment = *shape.segment;
  LaneArea& area = segment.lanes();
  const std::uint64_t superstep = barrier - 1;
  const BarrierPhase& phase = segment.header().barrier.phases[barrier & 1];
  LaneFrame head{.magic = kLaneMagic,
                 .crc32c = 0,
                 .bytes = 0,
                 .host = shape.self,
                 .barrier = barrier,
                 .processes = 0,
                 .with_data = phase.with_data.load(std::memory_order_relaxed),
                 .with_groups = phase.with_groups.load(std::memory_order_relaxed),
                 .with_gets = phase.with_gets.load(std::memory_order_relaxed),
                 .entries = 0,
                 .direct = 0,
                 .sums = {},
                 .with_votes = phase.with_votes.load(std::memory_order_relaxed),
                 .votes = 0,
                 .by_count = phase.by_count.load(std::memory_order_relaxed),
                 .head_crc32c = 0};
  head.sums = SumsHere(segment, shape.p, superstep - 1);
  head.processes = head.sums.processes;
  Writing out[kLaneHostsMax];
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    out[host] = Begin(area.out[host][barrier & 1], head, bytes_max);
    LanePieces& pieces = area.pieces[host][barrier & 1];
    pieces.count = 0;
    // Who goes ahead of a barrier uses its heaps again before that is over.
    if (bytes_max > kLaneShortBytesMax) out[host].pieces = &pieces;
  }
  if (head.with_data != 0 && !AppendOwed(shape, superstep & 1, out)) return false;
  if (head.with_votes != 0 && !AppendVotes(shape, barrier - 1, out)) return false;
  for (std::uint32_t host = 0; host < shape.hosts; ++host) NoteLength(out[host]);
  const std::uint32_t direct = HostsOfOwn(shape, barrier & 1, route, out);
  LaneBarrier lanes(area.state, shape.self, shape.hosts);
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    if (out[host].answers_bytes != sizeof(LaneFrame)) lanes.NoteAsked(host, barrier);
    if (area.pieces[host][barrier & 1].count != 0) lanes.NotePieces(barrier);
    out[host].frame->direct = direct;
    iovec parts[kLanePartsMax];
    Close(*out[host].frame, parts, PartsOfLaneFrame(segment, host, barrier & 1, parts));
  }
  return true;
}

void ComposeLaneAnswers(const LaneShape& shape, std::uint32_t barrier) {
  const Segment& segment = *shape.segment;
  LaneFrame head{};
  head.magic = kLaneAnswersMagic;
  head.host = shape.self;
  head.barrier = barrier;
  Writing out[kLaneHostsMax];
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    out[host] = Begin(segment.lanes().answers_out[host], head, kLaneShortBytesMax);
  }
  const unsigned parity = (barrier - 1) & 1;
  for (std::uint32_t asker = 0; asker < shape.p; ++asker) {
    const std::uint32_t host = segment.cell(Pid{asker}).node;
    for (std::uint32_t pid = 0; host != shape.self && pid < shape.p; ++pid) {
      if (segment.IsHere(Pid{pid}) && segment.entry(Pid{asker}, Pid{pid}, parity).gets != 0)
        AppendAnswers(out[host], segment, Pid{pid}, Pid{asker}, parity);
    }
  }
  for (std::uint32_t host = 0; host < shape.hosts; ++host) Close(out[host]);
}

}  // namespace bspnow
