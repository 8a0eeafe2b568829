#include "runtime/testing/exchange.h"

#include <string.h>

#include "base/check.h"
#include "runtime/link/chain.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint32_t kPuts = 0;
constexpr std::uint32_t kGets = 1;
constexpr std::uint32_t kMessages = 2;
constexpr std::uint32_t kDirectPut = 4;

std::uint64_t& FirstChunk(DirectoryEntry& entry, std::uint32_t kind) {
  return kind == kPuts ? entry.puts : kind == kGets ? entry.gets : entry.messages;
}

// Ends the test unless the chunk is a sequence of whole records.
void CheckRecords(const Chunk& chunk, std::uint32_t kind, std::size_t site_bytes) {
  const auto* at = reinterpret_cast<const std::byte*>(&chunk) + kChunkHeaderBytes;
  const auto* end = reinterpret_cast<const std::byte*>(&chunk) + chunk.used_bytes;
  while (at < end) {
    std::uint64_t bytes = sizeof(GetRecord) + site_bytes;
    if (kind == kPuts) {
      const auto& put = *reinterpret_cast<const PutRecord*>(at);
      const auto& run = *reinterpret_cast<const PutRun*>(at);
      bytes = sizeof put + ((put.slot & kRun) != 0 ? run.count * (sizeof(RunOffset) + run.bytes)
                                                   : site_bytes + put.bytes);
    } else if (kind == kGets) {
      const auto& run = *reinterpret_cast<const GetRun*>(at);
      if ((run.slot & kRun) != 0) bytes += run.count * sizeof(GetRunEntry);
    } else if (kind == kMessages) {  // The tests' tags are short.
      const auto& message = *reinterpret_cast<const MessageRecord*>(at);
      bytes = message.is_run() ? BytesOfRun(*reinterpret_cast<const MessageRun*>(at))
                               : BytesOfMessage(message, 0);
    }
    at += (bytes + kRecordAlign - 1) / kRecordAlign * kRecordAlign;
  }
  BSP_CHECK(at == end);
}

}  // namespace

void ExchangeForTest::BeginSuperstep(std::uint64_t superstep) {
  superstep_ = superstep;
  fresh_.clear();
  for (std::uint32_t i = 0; i < p_; ++i) {
    AcknowledgeAll(i, parity());
    rings_[{i, parity()}].taken = 0;
  }
  for (auto& node : nodes_) {
    node->last.clear();
    for (std::uint32_t i = 0; i < p_; ++i) {
      node->used[{i, static_cast<int>(parity())}] = 0;
      node->used[{i, kAnswerHeap}] = 0;
    }
  }
}

std::byte* ExchangeForTest::Place(NodeForTest& node, std::uint32_t owner, int heap,
                                  std::uint64_t bytes) {
  std::uint64_t& used = node.used[{owner, heap}];
  BSP_CHECK_OP(used + bytes, <=, node.segment.layout().heap_bytes);
  std::byte* at = node.segment.arena(Pid{owner}) + node.segment.heap_offset(heap) + used;
  used += (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  return at;
}

// What `from` owes `to`, as the node of `to` sees it; emptied when it is first touched in a
// superstep.
DirectoryEntry& ExchangeForTest::Image(std::uint32_t from, std::uint32_t to) {
  DirectoryEntry& entry = NodeOf(to).segment.entry(Pid{from}, Pid{to}, parity());
  if (fresh_.insert({from, to}).second) entry = DirectoryEntry{};
  return entry;
}

void ExchangeForTest::CopyChunk(std::uint32_t from, std::uint32_t to, std::uint32_t kind,
                                const Chunk& chunk) {
  NodeForTest& node = NodeOf(to);
  CheckRecords(chunk, kind, node.segment.layout().check_full ? 8 : 0);
  std::byte* at = Place(node, from, static_cast<int>(parity()), chunk.used_bytes);
  memcpy(at, &chunk, chunk.used_bytes);
  auto* copy = reinterpret_cast<Chunk*>(at);
  copy->next = 0;
  const auto offset = static_cast<std::uint64_t>(at - node.segment.arena(Pid{from}));
  Chunk*& last = node.last[{from, to, kind}];
  (last == nullptr ? FirstChunk(Image(from, to), kind) : last->next) = offset;
  last = copy;
}

// ---- Chunks handed over early -----------------------------------------------------------------

bool ExchangeForTest::TakeHanded() {
  bool any = false;
  for (std::uint32_t i = 0; i < p_; ++i) any |= TakeHanded(i);
  return any;
}

bool ExchangeForTest::TakeHanded(std::uint32_t pid) {
  const Segment& segment = NodeOf(pid).segment;
  Ring& ring = rings_[{pid, parity()}];
  bool any = false;
  for (;;) {
    const std::uint64_t place = ring.taken % kHandedMax;
    const HandedChunk& handed = segment.handed(Pid{pid}, parity())[place];
    if (ring.under_way.count(place) != 0 ||
        handed.state.load(std::memory_order_acquire) != HandedChunk::kHanded) {
      break;
    }
    const auto& chunk = *reinterpret_cast<const Chunk*>(segment.arena(Pid{pid}) + handed.offset);
    BSP_CHECK(!SameNode(pid, handed.pid));
    BSP_CHECK_OP(chunk.used_bytes, <=, handed.chunk_bytes);
    if (handed.kind == kDirectPut) {
      CopyDirectPut(pid, handed.pid, chunk);
    } else {
      CopyChunk(pid, handed.pid, handed.kind, chunk);
    }
    counts_.places.insert({pid, handed.offset});
    counts_.handed += 1;
    ring.taken += 1;
    ring.under_way.insert(place);
    any = true;
  }
  const bool full = ring.under_way.size() == kHandedMax;
  if (any && (acknowledge_ == Acknowledge::kAtOnce || full)) AcknowledgeAll(pid, parity());
  return any;
}

void ExchangeForTest::AcknowledgeAll(std::uint32_t pid, unsigned parity) {
  Ring& ring = rings_[{pid, parity}];
  for (const std::uint64_t place : ring.under_way) {
    NodeOf(pid).segment.handed(Pid{pid}, parity)[place].state.store(HandedChunk::kDelivered,
                                                                    std::memory_order_release);
  }
  ring.under_way.clear();
}

// ---- The end of a superstep -------------------------------------------------------------------

void ExchangeForTest::Exchange() {
  for (std::uint32_t from = 0; from < p_; ++from) {
    for (std::uint32_t to = 0; to < p_; ++to) {
      if (!SameNode(from, to)) CopyPair(from, to);
    }
    for (auto& node : nodes_) {
      if (node.get() != &NodeOf(from)) CopyVote(from, *node);
    }
  }
}

void ExchangeForTest::CopyPair(std::uint32_t from, std::uint32_t to) {
  const Segment& segment = NodeOf(from).segment;
  DirectoryEntry source = segment.entry(Pid{from}, Pid{to}, parity());
  DirectoryEntry& image = Image(from, to);
  for (const std::uint32_t kind : {kPuts, kGets, kMessages}) {
    for (std::uint64_t offset = FirstChunk(source, kind); offset != 0;) {
      const auto& chunk = *reinterpret_cast<const Chunk*>(segment.arena(Pid{from}) + offset);
      CopyChunk(from, to, kind, chunk);
      offset = chunk.next;
    }
  }
  image.bytes_to = source.bytes_to;
  image.bytes_from = source.bytes_from;
  image.message_count = source.message_count;
  image.transfers = source.transfers;
  image.message_bytes = source.message_bytes;
}

void ExchangeForTest::CopyVote(std::uint32_t from, NodeForTest& to) {
  const Segment& segment = NodeOf(from).segment;
  const RegistrationVote& vote = segment.cell(Pid{from}).votes[parity()];
  to.segment.cell(Pid{from}).votes[parity()] = vote;
  if (vote.superstep != superstep_) return;
  for (std::uint64_t k = 0; k < vote.pushes; ++k) {
    const std::uint64_t slot = segment.pushes(Pid{from}, parity())[k];
    to.segment.slots(Pid{from})[slot] = segment.slots(Pid{from})[slot];
  }
  for (std::uint64_t k = 0; k < vote.pops; ++k) {
    to.segment.pops(Pid{from}, parity())[k] = segment.pops(Pid{from}, parity())[k];
  }
}

// Offered to the process while its ring has a place, else an ordinary put.
void ExchangeForTest::CopyDirectPut(std::uint32_t from, std::uint32_t to, const Chunk& chunk) {
  counts_.direct_puts += 1;
  NodeForTest& node = NodeOf(to);
  EarlyPuts& early = node.segment.cell(Pid{to}).early[parity()];
  const std::uint32_t offered = early.offered.load();
  if (offered - early.taken.load() == kEarlyMax) {
    std::vector<std::byte> whole((chunk.used_bytes + 7) / 8 * 8);
    memcpy(whole.data(), &chunk, chunk.used_bytes);
    auto& rounded = *reinterpret_cast<Chunk*>(whole.data());
    rounded.used_bytes = whole.size();
    return CopyChunk(from, to, kPuts, rounded);
  }
  std::byte* at = Place(node, from, static_cast<int>(parity()), chunk.used_bytes);
  memcpy(at, &chunk, chunk.used_bytes);
  early.places[offered % kEarlyMax] = {
      .pid = from,
      .reserved = 0,
      .offset = static_cast<std::uint64_t>(at - node.segment.arena(Pid{from}))};
  early.offered.store(offered + 1);
  node.segment.header().barrier.released.Wake();
  counts_.early_puts += 1;
}

bool ExchangeForTest::CopyAnswers() {
  bool any = false;
  for (auto& node : nodes_) {
    const std::uint32_t answered = node->segment.header().bell.answers.load();
    if (answered == node->answered) continue;
    node->answered = answered;
    CopyAnswersOf(*node, (answered - 1) & 1);
    for (std::uint32_t i = 0; i < p_; ++i) {
      if (&NodeOf(i) != node.get()) continue;
      for (auto& other : nodes_) {
        if (other != node) other->segment.cell(Pid{i}).answered.Publish(answered);
      }
    }
    any = true;
  }
  return any;
}

void ExchangeForTest::CopyAnswersOf(NodeForTest& node, unsigned parity) {
  for (std::uint32_t i = 0; i < p_; ++i) {
    if (&NodeOf(i) != &node) continue;
    for (std::uint32_t q = 0; q < p_; ++q) {
      const DirectoryEntry& asked = node.segment.entry(Pid{q}, Pid{i}, parity);
      if (SameNode(i, q) || asked.gets == 0) continue;
      const Segment& target = NodeOf(q).segment;
      std::byte* at = Place(NodeOf(q), i, kAnswerHeap, asked.bytes_from);
      memcpy(at, node.segment.arena(Pid{i}) + node.segment.entry(Pid{i}, Pid{q}, parity).answers,
             asked.bytes_from);
      target.entry(Pid{i}, Pid{q}, parity).answers =
          static_cast<std::uint64_t>(at - target.arena(Pid{i}));
    }
  }
}

}  // namespace bspnow::runtime
