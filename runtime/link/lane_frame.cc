#include "runtime/link/lane_frame.h"

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include "base/copy.h"

namespace bspnow {
namespace {

constexpr std::size_t kAlign = kMessageAlign;
constexpr std::size_t kCrcFrom = offsetof(LaneFrame, bytes);

constexpr std::size_t Aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

std::uint32_t ReadOnce(const std::uint32_t& word) {
  return *static_cast<const volatile std::uint32_t*>(&word);
}

// ---- Checksums ----------------------------------------------------------------------------------

constexpr std::array<std::uint32_t, 256> MakeCrcTable() {
  constexpr std::uint32_t kCastagnoli = 0x82f63b78;  // Its bits in reverse.
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kCastagnoli : 0);
    table[i] = crc;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = MakeCrcTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t CrcByInstruction(std::uint32_t crc,
                                                                 const std::byte* bytes,
                                                                 std::size_t count) {
  std::uint64_t wide = crc;
  for (; count >= sizeof wide; bytes += sizeof wide, count -= sizeof wide) {
    std::uint64_t word;
    memcpy(&word, bytes, sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (; count != 0; ++bytes, --count) crc = _mm_crc32_u8(crc, static_cast<unsigned char>(*bytes));
  return crc;
}
#endif

// ---- Out ----------------------------------------------------------------------------------------

/// A frame that is being filled.
struct Writing {
  LaneFrame* frame = nullptr;
  std::byte* at = nullptr;
  std::byte* end = nullptr;
};

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
void AppendChain(Writing& out, const std::byte* arena, std::uint64_t first, std::size_t bytes) {
  if (bytes == 0) return;
  *reinterpret_cast<Chunk*>(out.at) = Chunk{.next = 0, .used_bytes = bytes};
  std::byte* to = out.at + kChunkHeaderBytes;
  for (std::uint64_t at = first; at != 0;) {
    const auto& chunk = *reinterpret_cast<const Chunk*>(arena + at);
    const std::size_t records = chunk.used_bytes - kChunkHeaderBytes;
    memcpy(to, arena + at + kChunkHeaderBytes, records);
    to += records;
    at = chunk.next;
  }
  out.at += Aligned(bytes);
}

bool AppendEntry(Writing& out, const Segment& segment, Pid from, Pid to, unsigned parity) {
  const DirectoryEntry& owed = segment.entry(from, to, parity);
  if ((owed.puts | owed.messages | owed.bytes_to | owed.bytes_from | owed.message_count |
       owed.transfers) == 0)
    return true;
  const std::byte* const arena = segment.arena(from);
  const std::size_t puts = ChainBytes(arena, owed.puts);
  const std::size_t messages = ChainBytes(arena, owed.messages);
  if (out.frame->entries == kLanePairsMax || sizeof(LaneEntry) + Aligned(puts) + Aligned(messages) >
                                                 static_cast<std::size_t>(out.end - out.at))
    return false;
  *reinterpret_cast<LaneEntry*>(out.at) =
      LaneEntry{.source_pid = Value(from),
                .destination_pid = Value(to),
                .bytes_to = owed.bytes_to,
                .bytes_from = owed.bytes_from,
                .message_count = owed.message_count,
                .transfers = owed.transfers,
                .message_bytes = owed.message_bytes,
                .puts_bytes = static_cast<std::uint32_t>(puts),
                .messages_bytes = static_cast<std::uint32_t>(messages)};
  out.frame->entries += 1;
  out.at += sizeof(LaneEntry);
  AppendChain(out, arena, owed.puts, puts);
  AppendChain(out, arena, owed.messages, messages);
  return true;
}

bool AppendOwed(const LaneShape& shape, unsigned parity, Writing* out) {
  const Segment& segment = *shape.segment;
  for (std::uint32_t q = 0; q < shape.p; ++q) {
    const std::uint32_t host = segment.cell(Pid{q}).node;
    if (host == shape.self) continue;
    for (std::uint32_t pid = 0; pid < shape.p; ++pid) {
      if (segment.IsHere(Pid{pid}) && !AppendEntry(out[host], segment, Pid{pid}, Pid{q}, parity))
        return false;
    }
  }
  return true;
}

// ---- In -----------------------------------------------------------------------------------------

/// Calls use(entry, its chunks) for each entry; false as soon as it does, or if they do not lie in
/// the frame.
template <typename Use>
bool ForEachEntry(const std::byte* bytes, const Use& use) {
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  std::size_t at = sizeof(LaneFrame);
  for (std::uint32_t i = 0; i < frame.entries; ++i) {
    if (frame.bytes - at < sizeof(LaneEntry)) return false;
    const auto& entry = *reinterpret_cast<const LaneEntry*>(bytes + at);
    at += sizeof(LaneEntry);
    const std::size_t chunks = Aligned(entry.puts_bytes) + Aligned(entry.messages_bytes);
    if (chunks > frame.bytes - at || !use(entry, bytes + at)) return false;
    at += chunks;
  }
  return true;
}

bool IsChunk(const std::byte* at, std::uint32_t bytes) {
  if (bytes == 0) return true;
  const auto& chunk = *reinterpret_cast<const Chunk*>(at);
  return bytes > kChunkHeaderBytes && chunk.next == 0 && chunk.used_bytes == bytes;
}

// `frame` is, or is a copy of, the one of its host in `in`.
void Install(const Segment& segment, std::uint32_t host, unsigned barrier_parity,
             const std::byte* frame, std::uint32_t& installed) {
  LaneArea& area = segment.lanes();
  const unsigned parity = barrier_parity ^ 1;  // Of the superstep that the barrier ends.
  const std::byte* const in = area.in[host][barrier_parity];
  ForEachEntry(frame, [&](const LaneEntry& entry, const std::byte* chunks) {
    const Pid from{entry.source_pid};
    const auto puts = static_cast<std::uint64_t>(in - segment.arena(from)) +
                      static_cast<std::uint64_t>(chunks - frame);
    segment.entry(from, Pid{entry.destination_pid}, parity) =
        DirectoryEntry{.puts = entry.puts_bytes == 0 ? 0 : puts,
                       .gets = 0,
                       .messages = entry.messages_bytes == 0 ? 0 : puts + Aligned(entry.puts_bytes),
                       .answers = 0,
                       .bytes_to = entry.bytes_to,
                       .bytes_from = entry.bytes_from,
                       .message_count = entry.message_count,
                       .transfers = entry.transfers,
                       .message_bytes = entry.message_bytes};
    area.pairs[parity][installed++] = {entry.source_pid, entry.destination_pid};
    return true;
  });
}

// The worker does not say which.
void RemoveWorkersEntries(const LaneShape& shape, unsigned parity) {
  for (std::uint32_t to = 0; to < shape.p; ++to) {
    if (!shape.segment->IsHere(Pid{to})) continue;
    for (std::uint32_t from = 0; from < shape.p; ++from) {
      if (!shape.segment->IsHere(Pid{from}))
        shape.segment->entry(Pid{from}, Pid{to}, parity) = DirectoryEntry{};
    }
  }
}

// What the processes handed over in the superstep before has been received: all are at this
// barrier.
void ReturnHanded(const LaneShape& shape, unsigned parity) {
  LaneState& state = shape.segment->lanes().state;
  if (state.handed[parity] == 0) return;
  state.handed[parity] = 0;
  for (std::uint32_t pid = 0; pid < shape.p; ++pid) {
    if (!shape.segment->IsHere(Pid{pid})) continue;
    HandedChunk* const ring = shape.segment->handed(Pid{pid}, parity);
    for (std::uint32_t i = 0; i < kHandedMax; ++i) {
      if (ring[i].state.load(std::memory_order_relaxed) == HandedChunk::kHanded)
        ring[i].state.store(HandedChunk::kDelivered, std::memory_order_release);
    }
  }
}

void AddToTotals(LaneState& state, const SuperstepSums& sums) {
  state.totals_version.fetch_add(1, std::memory_order_acq_rel);
  std::atomic_thread_fence(std::memory_order_release);  // No total is seen before that.
  AddSuperstep(sums, state.totals);
  state.totals_version.fetch_add(1, std::memory_order_release);
}

}  // namespace

std::uint32_t LaneCrc(const std::byte* bytes, std::size_t count) {
  std::uint32_t crc = ~0u;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~CrcByInstruction(crc, bytes, count);
#endif
  for (; count != 0; ++bytes, --count)
    crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<unsigned char>(*bytes)) & 0xff];
  return ~crc;
}

bool ComposeLaneFrames(const LaneShape& shape, std::uint32_t barrier) {
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
                 .entries = 0,
                 .reserved = 0,
                 .sums = {}};
  head.sums = SumsHere(segment, shape.p, superstep - 1);
  head.processes = head.sums.processes;
  Writing out[kLaneHostsMax];
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    std::byte* const to = area.out[host][barrier & 1];
    out[host] = {.frame = reinterpret_cast<LaneFrame*>(to),
                 .at = to + sizeof head,
                 .end = to + kLaneFrameBytesMax};
    *out[host].frame = head;
  }
  if (head.with_data != 0 && !AppendOwed(shape, superstep & 1, out)) return false;
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    LaneFrame& frame = *out[host].frame;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&frame);
    frame.bytes = static_cast<std::uint32_t>(out[host].at - bytes);
    frame.crc32c = LaneCrc(bytes + kCrcFrom, frame.bytes - kCrcFrom);
  }
  return true;
}

LaneBytes LookAtLaneBytes(const LaneShape& shape, std::uint32_t host, const std::byte* bytes,
                          std::size_t count, std::uint32_t& frame_bytes) {
  if (count < sizeof(LaneFrame)) return LaneBytes::kMore;
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  if (frame.magic != kLaneMagic || frame.host != host || frame.bytes < sizeof frame ||
      frame.bytes > kLaneFrameBytesMax || frame.bytes % kAlign != 0)
    return LaneBytes::kDamaged;
  if (count < frame.bytes) return LaneBytes::kMore;
  frame_bytes = frame.bytes;
  return CheckLaneFrame(shape, bytes) ? LaneBytes::kWhole : LaneBytes::kDamaged;
}

bool CheckLaneFrame(const LaneShape& shape, const std::byte* bytes) {
  const auto& frame = *reinterpret_cast<const LaneFrame*>(bytes);
  if (LaneCrc(bytes + kCrcFrom, frame.bytes - kCrcFrom) != frame.crc32c) return false;
  if (frame.entries > kLanePairsMax) return false;
  const auto lives = [&shape](std::uint32_t pid, std::uint32_t host) {
    if (pid >= shape.p) return false;
    return (shape.host_of != nullptr ? shape.host_of[pid] : shape.segment->cell(Pid{pid}).node) ==
           host;
  };
  return ForEachEntry(bytes, [&](const LaneEntry& entry, const std::byte* chunks) {
    return lives(entry.source_pid, frame.host) && lives(entry.destination_pid, shape.self) &&
           IsChunk(chunks, entry.puts_bytes) &&
           IsChunk(chunks + Aligned(entry.puts_bytes), entry.messages_bytes);
  });
}

LaneFrames FramesInSegment(const LaneShape& shape, std::uint32_t barrier) {
  LaneArea& area = shape.segment->lanes();
  LaneFrames frames;
  for (std::uint32_t host = 0; host < shape.hosts; ++host)
    frames.of[host] = (host == shape.self ? area.out : area.in)[host][barrier & 1];
  return frames;
}

void CompleteLaneBarrier(const LaneShape& shape, std::uint32_t barrier, const LaneFrames& frames) {
  const Segment& segment = *shape.segment;
  LaneState& state = segment.lanes().state;
  const unsigned parity = (barrier - 1) & 1;
  const auto frame_of = [&frames](std::uint32_t host) -> const LaneFrame& {
    return *reinterpret_cast<const LaneFrame*>(frames.of[host]);
  };
  SuperstepSums sums = frame_of(shape.self).sums;
  std::uint32_t with_data = 0;
  std::uint32_t with_groups = 0;
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    with_data += frame_of(host).with_data;
    with_groups += frame_of(host).with_groups;
    if (host != shape.self) AddNode(frame_of(host).sums, sums);
  }
  ReturnHanded(shape, parity ^ 1);
  if (with_data != 0) {
    RemoveLaneEntries(segment, parity);
    if (state.published[parity].exchange(0) != 0) RemoveWorkersEntries(shape, parity);
    std::uint32_t installed = 0;
    for (std::uint32_t host = 0; host < shape.hosts; ++host)
      if (host != shape.self) Install(segment, host, barrier & 1, frames.of[host], installed);
    state.installed[parity] = installed;
  }
  AddToTotals(state, sums);
  NodeBarrier& node = segment.header().barrier;
  BarrierPhase& phase = node.phases[barrier & 1];
  phase.with_data.store(with_data, std::memory_order_relaxed);
  phase.with_groups.store(with_groups, std::memory_order_relaxed);
  phase.save.store(0, std::memory_order_relaxed);
  ReleaseBarrier(node, barrier);
}

void RemoveLaneEntries(const Segment& segment, unsigned parity) {
  LaneArea& area = segment.lanes();
  const std::uint32_t p = segment.layout().nprocs;
  // The worker calls this, too: what is checked is what is used.
  const std::uint32_t noted = ReadOnce(area.state.installed[parity]);
  const std::uint32_t installed = std::min(noted, kLaneHostsMax * kLanePairsMax);
  for (std::uint32_t i = 0; i < installed; ++i) {
    const LanePair pair{.source_pid = ReadOnce(area.pairs[parity][i].source_pid),
                        .destination_pid = ReadOnce(area.pairs[parity][i].destination_pid)};
    if (pair.source_pid < p && pair.destination_pid < p)
      segment.entry(Pid{pair.source_pid}, Pid{pair.destination_pid}, parity) = DirectoryEntry{};
  }
  area.state.installed[parity] = 0;
}

SuperstepTotals ReadLaneTotals(const LaneState& state) {
  constexpr int kTries = 1000;  // Who changes them may have been stopped, or be wrong.
  for (int i = 0;; ++i) {
    const std::uint32_t before = state.totals_version.load(std::memory_order_acquire);
    SuperstepTotals totals;
    memcpy(&totals, &state.totals, sizeof totals);
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool whole =
        (before & 1) == 0 && state.totals_version.load(std::memory_order_relaxed) == before;
    if (whole || i == kTries) return totals;
  }
}

}  // namespace bspnow
