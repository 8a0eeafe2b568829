#include "runtime/link/lane_completion.h"

#include <algorithm>

#include "base/copy.h"
#include "runtime/link/lane_barrier.h"
#include "runtime/link/lane_entries.h"

namespace bspnow {
namespace {

// `frame` is, or is a copy of, the one of its host in `in`.
void Install(const Segment& segment, std::uint32_t host, unsigned barrier_parity,
             const std::byte* frame, std::uint32_t& installed) {
  LaneArea& area = segment.lanes();
  const unsigned parity = barrier_parity ^ 1;  // Of the superstep that the barrier ends.
  const std::byte* const in = area.in[host][barrier_parity];
  ForEachLaneEntry(frame, [&](const LaneEntry& entry, const std::byte* chunks) {
    const Pid from{entry.source_pid};
    const auto puts = static_cast<std::uint64_t>(in - segment.arena(from)) +
                      static_cast<std::uint64_t>(chunks - frame);
    const std::uint64_t gets = puts + AlignedInLane(entry.puts_bytes);
    const std::uint64_t messages = gets + AlignedInLane(entry.gets_bytes);
    segment.entry(from, Pid{entry.destination_pid}, parity) =
        DirectoryEntry{.puts = entry.puts_bytes == 0 ? 0 : puts,
                       .gets = entry.gets_bytes == 0 ? 0 : gets,
                       .messages = entry.messages_bytes == 0 ? 0 : messages,
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

// What other nodes' processes registered. Who puts or gets there waits for this barrier.
void InstallVotes(const Segment& segment, unsigned parity, const std::byte* frame) {
  ForEachLaneVote(frame,
                  [&](const LaneVote& vote, const LanePush* pushes, const std::uint64_t* pops) {
                    const Pid from{vote.source_pid};
                    segment.cell(from).votes[parity] = vote.vote;
                    for (std::uint64_t k = 0; k < vote.vote.pushes; ++k)
                      segment.slots(from)[pushes[k].slot] = pushes[k].area;
                    std::copy(pops, pops + vote.vote.pops, segment.pops(from, parity));
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
  std::uint32_t with_gets = 0;
  std::uint32_t with_votes = 0;
  std::uint32_t by_count = 0;
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    with_votes += frame_of(host).with_votes;
    if (host != shape.self) InstallVotes(segment, parity, frames.of[host]);
    with_gets += frame_of(host).with_gets;
    by_count += frame_of(host).by_count;
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
  phase.with_gets.store(with_gets, std::memory_order_relaxed);
  phase.with_votes.store(with_votes, std::memory_order_relaxed);
  phase.by_count.store(by_count, std::memory_order_relaxed);
  phase.save.store(0, std::memory_order_relaxed);
  if (with_gets != 0) LaneBarrier(state, shape.self, shape.hosts).NoteGets(barrier);
  ReleaseBarrier(node, barrier);
}

void PublishLaneAnswers(const LaneShape& shape, std::uint32_t host, const std::byte* frame) {
  const Segment& segment = *shape.segment;
  const std::byte* const in = segment.lanes().answers_in[host];
  const std::uint64_t superstep = reinterpret_cast<const LaneFrame*>(frame)->barrier - 1;
  ForEachLaneAnswers(frame, [&](const LaneAnswers& answers, const std::byte* bytes) {
    const Pid from{answers.source_pid};
    segment.entry(from, Pid{answers.destination_pid}, superstep & 1).answers =
        static_cast<std::uint64_t>(in - segment.arena(from)) +
        static_cast<std::uint64_t>(bytes - frame);
    return true;
  });
  for (std::uint32_t pid = 0; pid < shape.p; ++pid) {
    ProcessCell& cell = segment.cell(Pid{pid});
    if (cell.node == host) cell.answered.Publish(static_cast<std::uint32_t>(superstep + 1));
  }
}

bool HasExpected(const LaneShape& shape, std::uint32_t barrier, std::uint32_t hosts) {
  const Segment& segment = *shape.segment;
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    const auto& frame = *reinterpret_cast<const LaneFrame*>(segment.lanes().in[host][barrier & 1]);
    // Somebody ends the superstep by bsp_sync: all wait, and are told.
    if ((hosts >> host & 1) != 0 && frame.by_count != frame.processes) return false;
  }
  for (std::uint32_t to = 0; to < shape.p; ++to) {
    if (!segment.IsHere(Pid{to})) continue;
    std::uint64_t count = 0;
    for (std::uint32_t from = 0; from < shape.p; ++from) {
      if (segment.IsHere(Pid{from}))
        count += segment.entry(Pid{from}, Pid{to}, (barrier - 1) & 1).message_count;
    }
    for (std::uint32_t host = 0; host < shape.hosts; ++host) {
      if ((hosts >> host & 1) == 0) continue;
      ForEachLaneEntry(segment.lanes().in[host][barrier & 1],
                       [&](const LaneEntry& entry, const std::byte*) {
                         if (entry.destination_pid == to) count += entry.message_count;
                         return true;
                       });
    }
    if (count != segment.cell(Pid{to}).expected) return false;
  }
  return true;
}

void FindLaneMessages(const LaneShape& shape, std::uint32_t barrier, std::uint32_t hosts, Pid to,
                      LaneMessages* by_source) {
  const Segment& segment = *shape.segment;
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    if ((hosts >> host & 1) == 0) continue;
    ForEachLaneEntry(segment.lanes().in[host][barrier & 1], [&](const LaneEntry& entry,
                                                                const std::byte* chunks) {
      if (Pid{entry.destination_pid} != to || entry.messages_bytes == 0) return true;
      const std::byte* const chunk =
          chunks + AlignedInLane(entry.puts_bytes) + AlignedInLane(entry.gets_bytes);
      by_source[entry.source_pid] = {
          .first_chunk = static_cast<std::uint64_t>(chunk - segment.arena(Pid{entry.source_pid})),
          .count = entry.message_count,
          .bytes = entry.message_bytes,
          .bytes_to = entry.bytes_to};
      return true;
    });
  }
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
  return ReadTotals(state.totals_version, state.totals);
}

}  // namespace bspnow
