#include "worker/exchange/batch_source.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace bspnow::worker {
namespace {

// Checksummed and sent while it lies in the cache.
constexpr std::uint64_t kPartBytesMax = std::uint64_t{256} << 10;
static_assert(sizeof(BatchPiece) + kPartBytesMax <= kFramePayloadBytesMax);

// Tokens of frames whose delivery matters, those of handed chunks: which it is.
constexpr std::uint64_t kHandedChunk = std::uint64_t{1} << 61;
constexpr unsigned kSuperstepShift = 44;  // Its lower 16 bits.
constexpr unsigned kParityShift = 40;
constexpr unsigned kPidShift = 8;

template <typename T>
void Append(std::vector<std::byte>& bytes, const T& value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), at, at + sizeof value);
}

absl::Status Nonsense(Pid pid, const char* what, std::uint64_t value) {
  return absl::DataLossError(absl::StrCat("pid ", Value(pid),
                                          " has damaged its communication memory: ", what, " ",
                                          value, "; the program writes outside its own data"));
}

}  // namespace

BatchSource::BatchSource(const Segment& segment, const JobShape& shape)
    : segment_(segment),
      shape_(shape),
      rings_(2 * shape.host_of.size()),
      counted_(shape.hosts.size()),
      entries_(shape.hosts.size()),
      tables_(shape.hosts.size()) {}

// ---- Frames -------------------------------------------------------------------------------------

OutgoingBatch BatchSource::Begin(std::uint64_t superstep, BatchContent content, Pid source,
                                 Pid destination) const {
  OutgoingBatch frame;
  frame.job = shape_.job;
  frame.epoch = shape_.epoch;
  frame.group = shape_.group;
  frame.superstep = Superstep{superstep};
  frame.piece = BatchPiece{.content = static_cast<std::uint32_t>(content),
                           .source_pid = Value(source),
                           .destination_pid = Value(destination),
                           .ack_awaited = 0,
                           .chunk_bytes = 0,
                           .chunk_offset = 0};
  return frame;
}

void BatchSource::Count(const Frames& frames) {
  for (std::size_t host = 0; host < frames.size(); ++host) counted_[host] += frames[host].size();
}

// In parts if it is long. Only the last part carries the token.
void BatchSource::AddChunk(Frames& frames, const OutgoingBatch& head, const ChunkContent& content) {
  const Pid source{head.piece.source_pid};
  const std::uint32_t host = shape_.host_of[head.piece.destination_pid];
  for (std::uint64_t at = 0; at < content.bytes;) {
    const std::uint64_t bytes = std::min(content.bytes - at, kPartBytesMax);
    OutgoingBatch part = head;
    part.piece.chunk_bytes = content.bytes;
    part.piece.chunk_offset = at;
    part.pieces.push_back(iovec{segment_.arena(source) + content.offset + at, bytes});
    at += bytes;
    if (at != content.bytes) part.token = 0;
    frames[host].push_back(std::move(part));
  }
}

absl::Status BatchSource::AddChain(Frames& frames, const OutgoingBatch& head, std::uint64_t first,
                                   ChainBudget& budget) {
  const auto parity = static_cast<unsigned>(Value(head.superstep) & 1);
  ChainWalk walk(segment_, Pid{head.piece.source_pid}, parity, first, budget);
  chain_.clear();
  std::uint64_t bytes = 0;
  while (!walk.done()) {
    ChunkContent& content = chain_.emplace_back();
    if (absl::Status s = walk.Next(content); !s.ok()) return s;
    bytes += content.bytes;
  }
  if (bytes <= kTablePieceBytesMax) {
    AddSmall(frames, head, chain_);
  } else {
    for (const ChunkContent& content : chain_) AddChunk(frames, head, content);
  }
  return absl::OkStatus();
}

// ---- Tables -------------------------------------------------------------------------------------

// Records do not care in which chunk they lie: a short chain is one piece.
void BatchSource::AddSmall(Frames& frames, const OutgoingBatch& head,
                           std::span<const ChunkContent> contents) {
  std::uint64_t bytes = 0;
  for (const ChunkContent& content : contents) bytes += content.bytes;
  if (bytes == 0) return;
  const std::uint32_t host = shape_.host_of[head.piece.destination_pid];
  BatchTable& table = TableWithRoom(Value(head.superstep), host, bytes, frames);
  table.Begin(head.piece, bytes);
  const std::byte* const arena = segment_.arena(Pid{head.piece.source_pid});
  for (const ChunkContent& content : contents)
    table.Append({arena + content.offset, content.bytes});
}

BatchTable& BatchSource::TableWithRoom(std::uint64_t superstep, std::uint32_t host,
                                       std::size_t bytes, Frames& frames) {
  if (!tables_[host].HasRoomFor(bytes)) CloseTable(superstep, host, frames);
  return tables_[host];
}

void BatchSource::CloseTable(std::uint64_t superstep, std::uint32_t host, Frames& frames) {
  if (tables_[host].empty()) return;
  OutgoingBatch frame =
      Begin(superstep, BatchContent::kTable, shape_.here()[0], shape_.hosts[host][0]);
  frame.owned = tables_[host].Take();
  frames[host].push_back(std::move(frame));
}

// ---- While the processes compute ----------------------------------------------------------------

absl::Status BatchSource::CollectHanded(std::uint64_t superstep, Frames& frames) {
  absl::Status s = TakeHanded(superstep, frames);
  Count(frames);
  return s;
}

absl::Status BatchSource::TakeHanded(std::uint64_t superstep, Frames& frames) {
  const unsigned parity = superstep & 1;
  for (const Pid pid : shape_.here()) {
    Ring& taken = ring(pid, parity);
    for (;;) {
      const std::uint32_t slot = taken.next % kHandedMax;
      const HandedChunk& handed = segment_.handed(pid, parity)[slot];
      if ((taken.taken >> slot & 1) != 0) break;
      if (handed.state.load(std::memory_order_acquire) != HandedChunk::kHanded) break;
      taken.superstep = static_cast<std::uint16_t>(superstep);
      taken.taken |= 1u << slot;
      taken.next += 1;
      if (absl::Status s = AddHanded(superstep, pid, slot, frames); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

absl::Status BatchSource::AddHanded(std::uint64_t superstep, Pid pid, std::uint32_t slot,
                                    Frames& frames) {
  const unsigned parity = superstep & 1;
  const HandedChunk& handed = segment_.handed(pid, parity)[slot];
  const std::uint32_t kind = ReadOnce(handed.kind);
  const std::uint32_t to = ReadOnce(handed.pid);
  const auto content = static_cast<BatchContent>(kind);
  if (content != BatchContent::kPuts && content != BatchContent::kMessages &&
      content != BatchContent::kDirectPut) {
    return Nonsense(pid, "a chunk handed over of kind", kind);
  }
  if (to >= shape_.participants || shape_.IsHere(to)) {
    return Nonsense(pid, "a chunk handed over for pid", to);
  }
  ChunkContent chunk;
  const std::uint64_t offset = ReadOnce(handed.offset);
  if (absl::Status s = CheckChunk(segment_, pid, parity, offset, chunk); !s.ok()) return s;
  if (chunk.bytes == 0) return Nonsense(pid, "an empty chunk handed over at", offset);
  if (content == BatchContent::kDirectPut &&
      (chunk.bytes < sizeof(PutRecord) || chunk.bytes > kPartBytesMax)) {
    return Nonsense(pid, "an unbuffered put handed over in bytes", chunk.bytes);
  }
  OutgoingBatch head = Begin(superstep, content, pid, Pid{to});
  head.token = kHandedChunk | (superstep & 0xffff) << kSuperstepShift |
               std::uint64_t{parity} << kParityShift | std::uint64_t{Value(pid)} << kPidShift |
               slot;
  AddChunk(frames, head, chunk);
  return absl::OkStatus();
}

// ---- At the barrier -----------------------------------------------------------------------------

absl::Status BatchSource::CollectBatch(std::uint64_t superstep, const BarrierCounts& counts,
                                       Frames& frames) {
  if (absl::Status s = TakeHanded(superstep, frames); !s.ok()) return s;
  const std::uint32_t here = shape_.TakingPart(shape_.self);
  for (std::uint32_t i = 0; i < here; ++i) {
    const Pid pid = shape_.here()[i];
    if (counts.data != 0 || counts.gets != 0) {
      if (absl::Status s = AddOwed(superstep, pid, frames); !s.ok()) return s;
    }
    if (counts.votes != 0) {
      if (absl::Status s = AddVote(superstep, pid, frames); !s.ok()) return s;
    }
  }
  AddEntries(superstep, frames);
  for (std::uint32_t host = 0; host < tables_.size(); ++host) CloseTable(superstep, host, frames);
  Count(frames);
  return absl::OkStatus();
}

absl::Status BatchSource::AddOwed(std::uint64_t superstep, Pid pid, Frames& frames) {
  ChainBudget budget(segment_.layout().heap_bytes);
  for (std::uint32_t q = 0; q < shape_.participants; ++q) {
    const std::uint32_t host = shape_.host_of[q];
    if (host == shape_.self) continue;
    const DirectoryEntry& entry = segment_.entry(pid, Pid{q}, superstep & 1);
    const BatchEntry sums{.source_pid = Value(pid),
                          .destination_pid = q,
                          .bytes_to = ReadOnce(entry.bytes_to),
                          .bytes_from = ReadOnce(entry.bytes_from),
                          .message_count = ReadOnce(entry.message_count),
                          .transfers = ReadOnce(entry.transfers),
                          .message_bytes = ReadOnce(entry.message_bytes)};
    const std::uint64_t any =
        sums.bytes_to | sums.bytes_from | sums.message_count | sums.transfers | sums.message_bytes;
    if (any != 0) entries_[host].push_back(sums);
    const std::pair<BatchContent, std::uint64_t> chains[] = {
        {BatchContent::kPuts, ReadOnce(entry.puts)},
        {BatchContent::kGets, ReadOnce(entry.gets)},
        {BatchContent::kMessages, ReadOnce(entry.messages)}};
    for (const auto& [content, first] : chains) {
      if (first == 0) continue;
      const OutgoingBatch head = Begin(superstep, content, pid, Pid{q});
      if (absl::Status s = AddChain(frames, head, first, budget); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

void BatchSource::AddEntries(std::uint64_t superstep, Frames& frames) {
  constexpr std::size_t kEntriesAtOnce = kTablePieceBytesMax / sizeof(BatchEntry);
  for (std::uint32_t host = 0; host < entries_.size(); ++host) {
    std::span<const BatchEntry> left = entries_[host];
    while (!left.empty()) {
      const auto now = left.first(std::min(left.size(), kEntriesAtOnce));
      const auto bytes = std::as_bytes(now);
      BatchTable& table = TableWithRoom(superstep, host, bytes.size(), frames);
      table.Begin(Begin(superstep, BatchContent::kEntries, Pid{now[0].source_pid},
                        Pid{now[0].destination_pid})
                      .piece,
                  bytes.size());
      table.Append(bytes);
      left = left.subspan(now.size());
    }
    entries_[host].clear();
  }
}

void BatchSource::AddArrival(std::uint64_t superstep, std::uint32_t host,
                             std::span<const std::byte> arrival, Frames& frames) const {
  OutgoingBatch frame =
      Begin(superstep, BatchContent::kArrival, shape_.here()[0], shape_.hosts[host][0]);
  frame.piece.chunk_bytes = arrival.size();
  std::vector<OutgoingBatch>& others = frames[host];
  if (others.empty() ||
      static_cast<BatchContent>(others.back().piece.content) != BatchContent::kTable) {
    frame.owned.assign(arrival.begin(), arrival.end());
    others.push_back(std::move(frame));
    return;
  }
  std::vector<std::byte>& table = others.back().owned;
  const auto head = std::as_bytes(std::span(&frame.piece, 1));
  table.insert(table.end(), head.begin(), head.end());
  table.insert(table.end(), arrival.begin(), arrival.end());
}

OutgoingBatch BatchSource::Word(BatchContent content, std::uint32_t host) const {
  return Begin(0, content, shape_.here()[0], shape_.hosts[host][0]);
}

// ---- Votes --------------------------------------------------------------------------------------

absl::Status BatchSource::AddVote(std::uint64_t superstep, Pid pid, Frames& frames) {
  const unsigned parity = superstep & 1;
  const RegistrationVote& shared = segment_.cell(pid).votes[parity];
  RegistrationVote vote{.superstep = ReadOnce(shared.superstep),
                        .digest = ReadOnce(shared.digest),
                        .pushes = ReadOnce(shared.pushes),
                        .pops = ReadOnce(shared.pops),
                        .tag_bytes = ReadOnce(shared.tag_bytes),
                        .site = ReadOnce(shared.site)};
  // Up to 32 MiB, the same for all peers: their frames share it.
  const auto whole = std::make_shared<std::vector<std::byte>>();
  std::vector<std::byte>& bytes = *whole;
  Append(bytes, vote);
  if (vote.superstep == superstep) {
    if (vote.pushes > kSlotsMax) return Nonsense(pid, "registrations pushed", vote.pushes);
    for (std::uint64_t k = 0; k < vote.pushes; ++k) {
      const std::uint64_t slot = ReadOnce(segment_.pushes(pid, parity)[k]);
      if (slot >= kSlotsMax) return Nonsense(pid, "registration slot", slot);
      const RegisteredArea& area = segment_.slots(pid)[slot];
      Append(bytes, slot);
      Append(bytes, ReadOnce(area.address));
      Append(bytes, ReadOnce(area.bytes));
    }
    for (std::uint64_t k = 0; k < std::min(vote.pops, kSlotsMax); ++k) {
      Append(bytes, ReadOnce(segment_.pops(pid, parity)[k]));
    }
  }
  for (std::uint32_t host = 0; host < shape_.hosts.size(); ++host) {
    if (host == shape_.self || shape_.TakingPart(host) == 0) continue;
    if (bytes.size() <= kTablePieceBytesMax) {
      BatchTable& table = TableWithRoom(superstep, host, bytes.size(), frames);
      table.Begin(Begin(superstep, BatchContent::kVote, pid, shape_.hosts[host][0]).piece,
                  bytes.size());
      table.Append(bytes);
      continue;
    }
    for (std::uint64_t at = 0; at < bytes.size(); at += kPartBytesMax) {
      OutgoingBatch frame = Begin(superstep, BatchContent::kVote, pid, shape_.hosts[host][0]);
      frame.piece.chunk_bytes = bytes.size();
      frame.piece.chunk_offset = at;
      frame.pieces.push_back(iovec{&bytes[at], std::min(bytes.size() - at, kPartBytesMax)});
      frame.owner = whole;
      frames[host].push_back(std::move(frame));
    }
  }
  return absl::OkStatus();
}

// ---- Answers ------------------------------------------------------------------------------------

absl::Status BatchSource::CollectAnswers(std::uint64_t superstep, std::uint32_t host,
                                         std::span<const AnswerRequest> requests, Frames& frames) {
  for (const AnswerRequest& request : requests) {
    if (request.bytes == 0) continue;
    const DirectoryEntry& entry = segment_.entry(request.answerer, request.asker, superstep & 1);
    const std::uint64_t at = ReadOnce(entry.answers);
    if (!segment_.InHeap(request.answerer, kAnswerHeap, at, request.bytes)) {
      return Nonsense(request.answerer, "answers to gets at", at);
    }
    const OutgoingBatch head =
        Begin(superstep, BatchContent::kAnswers, request.answerer, request.asker);
    const ChunkContent answers{.offset = at, .bytes = request.bytes};
    if (request.bytes <= kTablePieceBytesMax) {
      AddSmall(frames, head, {&answers, 1});
    } else {
      AddChunk(frames, head, answers);
    }
  }
  TableWithRoom(superstep, host, 0, frames)
      .Begin(Begin(superstep, BatchContent::kAnswersEnd, shape_.here()[0], shape_.hosts[host][0])
                 .piece,
             0);
  CloseTable(superstep, host, frames);
  return absl::OkStatus();
}

// ---- Afterwards ---------------------------------------------------------------------------------

void BatchSource::OnDelivered(std::uint64_t token, std::uint64_t superstep) {
  const unsigned parity = token >> kParityShift & 1;
  const auto pid = static_cast<std::uint32_t>(token >> kPidShift);
  const auto slot = static_cast<std::uint32_t>(token & (kHandedMax - 1));
  Ring& taken = ring(Pid{pid}, parity);
  const auto handed = static_cast<std::uint16_t>(token >> kSuperstepShift);
  if (taken.next == 0 || taken.superstep != handed ||
      handed != static_cast<std::uint16_t>(superstep))
    return;
  taken.taken &= ~(1u << slot);
  segment_.handed(Pid{pid}, parity)[slot].state.store(HandedChunk::kDelivered,
                                                      std::memory_order_release);
}

void BatchSource::OnReleased(std::uint64_t superstep) {
  std::fill(counted_.begin(), counted_.end(), 0);
  // The next superstep of the other parity begins after this: its ring must look unused.
  const unsigned parity = (superstep + 1) & 1;
  for (const Pid pid : shape_.here()) {
    Ring& used = ring(pid, parity);
    if (used.next == 0) continue;
    for (std::uint32_t slot = 0; slot < std::min(used.next, kHandedMax); ++slot) {
      segment_.handed(pid, parity)[slot].state.store(HandedChunk::kDelivered,
                                                     std::memory_order_release);
    }
    used = Ring{};
  }
}

void BatchSource::OnPassed(std::uint64_t first, std::uint64_t last) {
  std::fill(counted_.begin(), counted_.end(), 0);
  for (const Pid pid : shape_.here()) {
    ring(pid, (first + 1) & 1) = Ring{};
    if (last != first) ring(pid, first & 1) = Ring{};
  }
}

}  // namespace bspnow::worker
