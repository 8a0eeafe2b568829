#include "worker/exchange/batch_inbox.h"

#include <absl/strings/str_cat.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "base/copy.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kPopulateBytesMin = 256 << 10;
constexpr std::uint64_t kPushBytes = 3 * sizeof(std::uint64_t);  // Slot, address, bytes.
constexpr std::uint64_t kVoteBytesMax =
    sizeof(RegistrationVote) + kSlotsMax * (kPushBytes + sizeof(std::uint64_t));

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; before it the call fails, and nothing is lost.
#endif

constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

absl::Status Wrong(const char* what) { return absl::InvalidArgumentError(what); }
BatchContent ContentOf(const BatchPiece& piece) { return static_cast<BatchContent>(piece.content); }

bool IsAnswer(const BatchPiece& piece) { return ContentOf(piece) == BatchContent::kAnswers; }
bool IsDirect(const BatchPiece& piece) { return ContentOf(piece) == BatchContent::kDirectPut; }
const char* CallOf(const BatchPiece& piece) {
  if (IsDirect(piece)) return "bsp_hpput";
  if (ContentOf(piece) == BatchContent::kMessages) return "bsp_send";
  return ContentOf(piece) == BatchContent::kPuts ? "bsp_put" : "bsp_get";
}

template <typename T>
T Load(const std::byte* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

BatchInbox::BatchInbox(const Segment& segment, const JobShape& shape)
    : segment_(segment),
      shape_(shape),
      place_here_(shape.host_of.size()),
      heaps_(kHeaps * shape.host_of.size()) {
  for (std::uint32_t i = 0; i < shape.here().size(); ++i) {
    place_here_[Value(shape.here()[i])] = i;
  }
  for (Side& side : sides_) {
    side.index.resize(shape.host_of.size() * shape.here().size());
    side.early.resize(shape.here().size());
  }
}

// ---- Is it believable? --------------------------------------------------------------------------

absl::Status BatchInbox::CheckChunk(const BatchPiece& piece, std::size_t data_bytes) const {
  if (data_bytes == 0 || piece.chunk_bytes > segment_.layout().heap_bytes ||
      piece.chunk_offset > piece.chunk_bytes ||
      data_bytes > piece.chunk_bytes - piece.chunk_offset) {
    return Wrong("a chunk of impossible size");
  }
  return absl::OkStatus();
}

absl::Status BatchInbox::Check(std::uint32_t host, const BatchPiece& piece,
                               std::size_t data_bytes) const {
  if (piece.source_pid >= shape_.participants || shape_.host_of[piece.source_pid] != host) {
    return Wrong("a source that does not live there");
  }
  const bool to_here =
      piece.destination_pid < shape_.participants && shape_.IsHere(piece.destination_pid);
  switch (ContentOf(piece)) {
    case BatchContent::kPuts:
    case BatchContent::kGets:
    case BatchContent::kMessages:
    case BatchContent::kAnswers:
      return to_here ? CheckChunk(piece, data_bytes) : Wrong("a destination that is not here");
    case BatchContent::kDirectPut:
      if (!to_here) return Wrong("a destination that is not here");
      if (data_bytes < sizeof(PutRecord) || data_bytes != piece.chunk_bytes) {
        return Wrong("an unbuffered put cut off");
      }
      return CheckChunk(piece, data_bytes);
    case BatchContent::kEntries:
      return data_bytes % sizeof(BatchEntry) != 0 ? Wrong("sums cut off") : absl::OkStatus();
    case BatchContent::kVote:
      if (piece.chunk_bytes < sizeof(RegistrationVote) || piece.chunk_bytes > kVoteBytesMax ||
          data_bytes > piece.chunk_bytes) {
        return Wrong("a vote of impossible size");
      }
      return absl::OkStatus();
    case BatchContent::kAnswersEnd:
      return data_bytes != 0 ? Wrong("an end with data") : absl::OkStatus();
    case BatchContent::kArrival:
      return data_bytes < sizeof(PeerArrival) ? Wrong("an arrival cut off") : absl::OkStatus();
    case BatchContent::kTable:
    case BatchContent::kGroupHere:
    case BatchContent::kGroupLeft:
    case BatchContent::kLaneFrame:
      return Wrong("a piece that has a frame of its own");
  }
  return Wrong("unknown content");
}

// ---- Chunks and answers -------------------------------------------------------------------------

BatchInbox::Pair& BatchInbox::pair(Side& side, Pid source, Pid destination) {
  std::uint32_t& index =
      side.index[Value(source) * shape_.here().size() + place_here_[Value(destination)]];
  if (index == 0) {
    side.pairs.push_back(Pair{.source = source, .destination = destination});
    index = static_cast<std::uint32_t>(side.pairs.size());
  }
  return side.pairs[index - 1];
}

BatchInbox::Partial& BatchInbox::partial(std::uint64_t superstep, const BatchPiece& piece) {
  Side& side = sides_[superstep & 1];
  if (IsAnswer(piece)) return side.answers[AnswersKey(piece)];
  const Chain chain = IsDirect(piece) ? kDirect : static_cast<Chain>(piece.content);
  return pair(side, Pid{piece.source_pid}, Pid{piece.destination_pid}).partial[chain];
}

static_assert(static_cast<int>(BatchContent::kPuts) == 0);
static_assert(static_cast<int>(BatchContent::kGets) == 1);
static_assert(static_cast<int>(BatchContent::kMessages) == 2);

absl::Status BatchInbox::Allocate(const BatchPiece& piece, int number, std::uint64_t bytes,
                                  std::uint64_t& offset) {
  const Pid source{piece.source_pid};
  Heap& heap = this->heap(source, number);
  const std::uint64_t size = RoundUp(bytes, kLineBytes);
  const std::uint64_t peak = heap.use.peak;
  offset = segment_.TakeRoom(source, number, size, heap.use);
  if (offset == 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        CallOf(piece), ": the h-relation is too large: pid ", Value(source), " sends this node ",
        heap.use.bytes, " bytes in one superstep so far, and then ", bytes,
        "; all processes here together may take ",
        std::min(segment_.layout().memory_max, segment_.layout().heap_bytes),
        " of memory for that; transfer less at a time, or allow more (--memory)"));
  }
  much_memory_ |= heap.use.bytes > 2 * kHeapKeptBytes;
  // Memory that was never touched comes faster all at once than by faults.
  if (size >= kPopulateBytesMin && heap.use.peak > peak) {
    madvise(segment_.arena(source) + offset / kPageBytes * kPageBytes, size, MADV_POPULATE_WRITE);
  }
  return absl::OkStatus();
}

// For the first part of a chunk, allocates it, unless that was done for a connection that broke.
absl::Status BatchInbox::MakeRoom(std::uint64_t superstep, const BatchPiece& piece,
                                  Partial& partial) {
  if (piece.chunk_offset != 0) {
    const bool continues = partial.offset != 0 && partial.bytes == piece.chunk_bytes &&
                           partial.done == piece.chunk_offset;
    return continues ? absl::OkStatus() : Wrong("a part of a chunk that did not begin");
  }
  if (partial.offset != 0) {
    const bool again = partial.done == 0 && partial.bytes == piece.chunk_bytes;
    return again ? absl::OkStatus() : Wrong("a chunk within a chunk");
  }
  const int number = IsAnswer(piece) ? kAnswerHeap : static_cast<int>(superstep & 1);
  Heap& heap = this->heap(Pid{piece.source_pid}, number);
  if (IsAnswer(piece) && heap.superstep != superstep) {
    heap.use.Restart();
    heap.superstep = superstep;
  }
  const std::uint64_t header = IsAnswer(piece) ? 0 : kChunkHeaderBytes;
  partial = Partial{.offset = 0, .bytes = piece.chunk_bytes, .done = 0};
  if (IsDirect(piece)) {
    const Pid destination{piece.destination_pid};
    partial.offset = sides_[superstep & 1].early[place_here_[Value(destination)]].TakeRoom(
        segment_.cell(destination).early[superstep & 1], Pid{piece.source_pid}, piece.chunk_bytes);
    if (partial.offset != 0) return absl::OkStatus();
  }
  return Allocate(piece, number, header + piece.chunk_bytes, partial.offset);
}

std::byte* BatchInbox::Address(const BatchPiece& piece, const Partial& partial) const {
  const std::uint64_t header = IsAnswer(piece) ? 0 : kChunkHeaderBytes;
  return segment_.arena(Pid{piece.source_pid}) + partial.offset + header + piece.chunk_offset;
}

std::span<std::byte> BatchInbox::Place(std::uint64_t superstep, const BatchPiece& piece,
                                       std::size_t data_bytes) {
  const BatchContent content = ContentOf(piece);
  if (content > BatchContent::kMessages && !IsAnswer(piece) && !IsDirect(piece)) return {};
  Partial& partial = this->partial(superstep, piece);
  if (!MakeRoom(superstep, piece, partial).ok()) return {};  // Take will say so.
  return {Address(piece, partial), data_bytes};
}

absl::Status BatchInbox::TakeChunk(std::uint64_t superstep, const BatchPiece& piece,
                                   std::span<const std::byte> data) {
  Partial& partial = this->partial(superstep, piece);
  if (absl::Status s = MakeRoom(superstep, piece, partial); !s.ok()) return s;
  std::byte* to = Address(piece, partial);
  if (data.data() != to) Copy(to, data.data(), data.size());
  partial.done += data.size();
  if (partial.done != partial.bytes || IsAnswer(piece)) return absl::OkStatus();
  const Partial whole = std::exchange(partial, Partial{});
  Pair& pair = this->pair(sides_[superstep & 1], Pid{piece.source_pid}, Pid{piece.destination_pid});
  if (IsDirect(piece)) {
    OfferEarly(pair, superstep & 1, whole);
  } else {
    Link(pair, static_cast<Chain>(piece.content), whole.offset, whole.bytes);
  }
  return absl::OkStatus();
}

// A process that computes takes nothing, and gets the rest after the barrier, as ordinary puts.
void BatchInbox::OfferEarly(Pair& pair, unsigned parity, const Partial& chunk) {
  EarlyOffers& offers = sides_[parity].early[place_here_[Value(pair.destination)]];
  if (offers.Offer(segment_.cell(pair.destination).early[parity],
                   {.source = pair.source, .offset = chunk.offset, .bytes = chunk.bytes})) {
    segment_.header().barrier.released.Wake();
  } else {
    Link(pair, kPuts, chunk.offset, RoundUp(chunk.bytes, sizeof(std::uint64_t)));
  }
}

void BatchInbox::Link(Pair& pair, Chain chain, std::uint64_t offset, std::uint64_t content_bytes) {
  std::byte* const arena = segment_.arena(pair.source);
  auto* chunk = reinterpret_cast<Chunk*>(arena + offset);
  chunk->next = 0;
  chunk->used_bytes = kChunkHeaderBytes + content_bytes;
  std::uint64_t& last = pair.last[chain];
  if (last != 0) {
    reinterpret_cast<Chunk*>(arena + last)->next = offset;
  } else {
    DirectoryEntry& entry = pair.entry;
    (chain == kPuts ? entry.puts : chain == kGets ? entry.gets : entry.messages) = offset;
  }
  last = offset;
}

// ---- Everything else ----------------------------------------------------------------------------

absl::Status BatchInbox::Take(std::uint64_t superstep, const BatchPiece& piece,
                              std::span<const std::byte> data) {
  switch (ContentOf(piece)) {
    case BatchContent::kEntries:
      return TakeEntries(superstep, piece, data);
    case BatchContent::kVote:
      return TakeVote(superstep, piece, data);
    case BatchContent::kAnswersEnd:
    case BatchContent::kArrival:  // DirectBarrier's.
      return absl::OkStatus();
    default:
      return TakeChunk(superstep, piece, data);
  }
}

absl::Status BatchInbox::TakeEntries(std::uint64_t superstep, const BatchPiece& piece,
                                     std::span<const std::byte> data) {
  const std::uint32_t host = shape_.host_of[piece.source_pid];
  for (std::size_t at = 0; at < data.size(); at += sizeof(BatchEntry)) {
    const auto sums = Load<BatchEntry>(data.data() + at);
    if (sums.source_pid >= shape_.participants || shape_.host_of[sums.source_pid] != host ||
        sums.destination_pid >= shape_.participants || !shape_.IsHere(sums.destination_pid))
      return Wrong("sums of processes that are not there");
    DirectoryEntry& entry =
        pair(sides_[superstep & 1], Pid{sums.source_pid}, Pid{sums.destination_pid}).entry;
    entry.bytes_to = sums.bytes_to;
    entry.bytes_from = sums.bytes_from;
    entry.message_count = sums.message_count;
    entry.transfers = sums.transfers;
    entry.message_bytes = sums.message_bytes;
  }
  return absl::OkStatus();
}

absl::Status BatchInbox::TakeVote(std::uint64_t superstep, const BatchPiece& piece,
                                  std::span<const std::byte> data) {
  std::vector<Vote>& votes = sides_[superstep & 1].votes;
  const Pid source{piece.source_pid};
  const auto found = std::find_if(votes.rbegin(), votes.rend(),
                                  [source](const Vote& vote) { return vote.source == source; });
  const bool first = found == votes.rend();
  if (first != (piece.chunk_offset == 0)) return Wrong("a vote within a vote");
  if (first) votes.push_back({.source = source, .bytes = {}, .bytes_wanted = piece.chunk_bytes});
  Vote& vote = first ? votes.back() : *found;
  if (vote.bytes_wanted != piece.chunk_bytes || vote.bytes.size() != piece.chunk_offset ||
      data.size() > vote.bytes_wanted - vote.bytes.size()) {
    return Wrong("a part of another vote");
  }
  vote.bytes.insert(vote.bytes.end(), data.begin(), data.end());
  return absl::OkStatus();
}

// ---- The barrier --------------------------------------------------------------------------------

void BatchInbox::Publish(std::uint64_t superstep) {
  const unsigned parity = superstep & 1;
  Side& side = sides_[parity];
  if (!side.votes.empty()) PublishVotes(side, parity);
  if (side.pairs.empty() && side.published.empty() && !much_memory_) return;
  for (EarlyOffers& offers : side.early) offers.Clear();
  for (const Pair& old : side.published) {
    segment_.entry(old.source, old.destination, parity) = DirectoryEntry{};
  }
  for (const Pair& pair : side.pairs) {
    segment_.entry(pair.source, pair.destination, parity) = pair.entry;
    side.index[Value(pair.source) * shape_.here().size() + place_here_[Value(pair.destination)]] =
        0;
    // What is allocated from now on is of superstep + 2.
    Heap& heap = this->heap(pair.source, static_cast<int>(parity));
    much_memory_ |= heap.use.peak > 2 * kHeapKeptBytes;
    if (!much_memory_) heap.use.Restart();
  }
  std::swap(side.published, side.pairs);
  side.pairs.clear();
  if (much_memory_) GiveBack(superstep);
}

// What this superstep did not need is given back from the heap of the one before, which nobody
// reads any more, and from that of the answers, which have been read, too.
void BatchInbox::GiveBack(std::uint64_t superstep) {
  const int parity = superstep & 1;
  much_memory_ = false;
  for (std::uint32_t source = 0; source < shape_.host_of.size(); ++source) {
    Heap& now = heap(Pid{source}, parity);
    Heap& answers = heap(Pid{source}, kAnswerHeap);
    if (answers.superstep < superstep) answers.use.Restart();
    for (const int number : {parity ^ 1, kAnswerHeap}) {
      HeapUse& before = heap(Pid{source}, number).use;
      segment_.GiveBack(Pid{source}, number, now.use.bytes, before);
      much_memory_ |= before.peak > 2 * kHeapKeptBytes;
    }
    now.use.Restart();
    much_memory_ |= now.use.peak > 2 * kHeapKeptBytes;
  }
}

void BatchInbox::PublishVotes(Side& side, unsigned parity) {
  for (const Vote& vote : side.votes) {
    if (vote.bytes.size() == vote.bytes_wanted) PublishVote(vote, parity);
  }
  side.votes.clear();
}

void BatchInbox::PublishVote(const Vote& vote, unsigned parity) {
  const std::byte* at = vote.bytes.data();
  const std::byte* const end = at + vote.bytes.size();
  const auto registration = Load<RegistrationVote>(at);
  at += sizeof(RegistrationVote);
  segment_.cell(vote.source).votes[parity] = registration;
  const auto left = [&at, end] { return static_cast<std::uint64_t>(end - at); };
  for (std::uint64_t k = 0; k < registration.pushes && left() >= kPushBytes; ++k) {
    const auto slot = Load<std::uint64_t>(at);
    const RegisteredArea area{.address = Load<std::uint64_t>(at + 8),
                              .bytes = Load<std::uint64_t>(at + 16)};
    if (slot < kSlotsMax) segment_.slots(vote.source)[slot] = area;
    at += kPushBytes;
  }
  const std::uint64_t pops = std::min(kSlotsMax, left() / sizeof(std::uint64_t));
  memcpy(segment_.pops(vote.source, parity), at, pops * sizeof(std::uint64_t));
}

// ---- Gets ---------------------------------------------------------------------------------------

void BatchInbox::FindRequests(std::uint64_t superstep, std::uint32_t host,
                              std::vector<AnswerRequest>& requests) const {
  for (const Pair& pair : sides_[superstep & 1].published) {
    if (pair.entry.gets == 0 || shape_.host_of[Value(pair.source)] != host) continue;
    requests.push_back(AnswerRequest{
        .asker = pair.source, .answerer = pair.destination, .bytes = pair.entry.bytes_from});
  }
}

void BatchInbox::PublishAnswers(std::uint64_t superstep, std::uint32_t host) {
  const unsigned parity = superstep & 1;
  auto& answers = sides_[parity].answers;
  for (auto at = answers.begin(); at != answers.end();) {
    const auto source = static_cast<std::uint32_t>(at->first >> 32);
    const auto destination = static_cast<std::uint32_t>(at->first);
    if (shape_.host_of[source] != host) {
      ++at;
      continue;
    }
    segment_.entry(Pid{source}, Pid{destination}, parity).answers = at->second.offset;
    at = answers.erase(at);
  }
  const std::uint32_t answering = shape_.TakingPart(host);
  for (std::uint32_t k = 0; k < answering; ++k) {
    segment_.cell(shape_.hosts[host][k])
        .answered.Publish(static_cast<std::uint32_t>(superstep) + 1);
  }
}

}  // namespace bspnow::worker
