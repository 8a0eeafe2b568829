// Messages to many (PUB's bsp_gsend, bsp_lsend) of random sizes and members, in the group of all
// processes and in a part of it, on one node and on several: what a process gets is its own,
// however many others get the same, whoever looks first, and whether it has been restored since.
#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/pub/pub_object.h"
#include "runtime/testing/calls.h"
#include "runtime/testing/image.h"
#include "runtime/testing/nodes.h"

namespace bspnow::runtime {
namespace {

/// One call, as all processes know it.
struct Broadcast {
  std::uint32_t from;
  std::uint32_t seed;
  std::size_t bytes;
  std::vector<int> to;  ///< Some of them more than once.
};

std::vector<Broadcast> BroadcastsOf(std::uint32_t seed, std::uint64_t superstep, std::uint32_t p) {
  std::mt19937 random(static_cast<unsigned>(seed * 1000 + superstep));
  constexpr std::size_t kAbout[] = {100, 16 << 10, 64 << 10, 64 << 10, 150 << 10};
  std::vector<Broadcast> all;
  for (std::uint32_t from = 0; from < p; ++from) {
    for (unsigned n = random() % 4; n != 0; --n) {
      Broadcast one{.from = from,
                    .seed = static_cast<std::uint32_t>(random()),
                    .bytes = kAbout[random() % 5],
                    .to = {}};
      one.bytes += random() % 40 - 20;
      for (unsigned k = random() % (p + 2); k != 0; --k)
        one.to.push_back(static_cast<int>(random() % p));
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::byte Content(const Broadcast& one, std::size_t i) { return Pattern(one.seed, 0, i); }

/// Those that `self` gets, in their order.
std::vector<const Broadcast*> GotBy(std::uint32_t self, const std::vector<Broadcast>& all) {
  std::vector<const Broadcast*> got;
  for (const Broadcast& one : all)
    for (const int to : one.to)
      if (static_cast<std::uint32_t>(to) == self) got.push_back(&one);
  return got;
}

void SendAll(PubObject& object, const std::vector<Broadcast>& all) {
  for (const Broadcast& one : all) {
    if (one.from != Value(object.group().self())) continue;
    std::vector<std::byte> content(one.bytes);
    for (std::size_t i = 0; i < one.bytes; ++i) content[i] = Content(one, i);
    const auto count = static_cast<int>(one.to.size());
    object.SendToAll("test", {.table = one.to.data(), .first = 0, .count = count}, content.data(),
                     content.size());
  }
}

// In any order, and not all of them; each is checked, and overwritten with what is this process's
// own, which must be there still when all others here have done the same, or are about to.
void ReadAll(PubObject& object, const std::vector<Broadcast>& all, std::mt19937& random) {
  const std::uint32_t self = Value(object.group().self());
  const std::vector<const Broadcast*> got = GotBy(self, all);
  Require(object.messages() == got.size(), "as many messages as were sent");
  std::vector<std::size_t> order(got.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  if (order.size() > 2 && random() % 2 == 0) order.pop_back();
  const auto mine = static_cast<int>(self + 1);
  for (const std::size_t k : order) {
    const MessageRecord& message = *object.Message("test", k);
    Require(message.payload_bytes() == got[k]->bytes, "the message's size");
    Require(TagOf(message).source == got[k]->from, "its source");
    std::byte* const data = PubObject::DataOf("test", message);
    Require(reinterpret_cast<std::uintptr_t>(data) % kMessageAlign == 0, "aligned");
    for (std::size_t i = 0; i < got[k]->bytes; ++i)
      Require(data[i] == Content(*got[k], i), "its bytes");
    memset(data, mine, got[k]->bytes);
  }
  for (const std::size_t k : order) {
    const std::byte* const data = PubObject::DataOf("test", *object.Message("test", k));
    const bool kept = std::all_of(data, data + got[k]->bytes,
                                  [&](std::byte b) { return b == static_cast<std::byte>(mine); });
    Require(kept, "what this process has changed is its own");
  }
}

void Broadcasts(PubObject& object, std::uint32_t seed, std::uint64_t supersteps) {
  Group& group = object.group();
  const std::uint32_t self = Value(group.self());
  std::mt19937 random(seed + self);
  std::vector<std::byte> shown(100, static_cast<std::byte>(self)), got(100);
  group.Push("test", reinterpret_cast<std::uintptr_t>(shown.data()), shown.size());
  object.Sync("test");
  for (std::uint64_t s = 0; s < supersteps; ++s) {
    const std::vector<Broadcast> all = BroadcastsOf(seed, s, group.p());
    SendAll(object, all);
    if (s % 3 == 2) {
      object.SyncCounted("test", GotBy(self, all).size());
    } else {  // Answers to gets lie beside the copies, and end anywhere.
      const std::uint32_t next = (self + 1) % group.p();
      group.Move(TransferForTest(Direction::kGet, Buffering::kBuffered,
                                 {.pid = next,
                                  .area = shown.data(),
                                  .offset = 0,
                                  .local = got.data(),
                                  .bytes = 1 + s * 7 % 90}));
      object.Sync("test");
      Require(got[s * 7 % 90] == static_cast<std::byte>(next), "a get brings the value");
    }
    ReadAll(object, all, random);
  }
  group.Pop("test", reinterpret_cast<std::uintptr_t>(shown.data()));
  object.Sync("test");
}

void Program(Process& process, std::uint32_t seed, int images) {
  process.Begin(process.nprocs());
  PubObject& root = PubObject::MakeRoot(process);
  Broadcasts(root, seed, 4);
  // Those of a node; on one node, halves. The tests' worker knows no groups on several.
  const Segment& segment = root.group().segment();
  std::vector<std::uint32_t> parts(root.group().p());
  for (std::uint32_t i = 0; i < parts.size(); ++i)
    parts[i] =
        root.group().several_nodes() ? segment.cell(Pid{i}).node : i * 2 / (root.group().p() + 1);
  PubObject& part = root.MakePartition(parts.data());
  Broadcasts(part, seed + 1, 3);
  part.Close();
  Broadcasts(root, seed + 2, 1);
  while (ImagesTaken() < images) Broadcasts(root, seed + 3, 1);
  process.End(0);
}

using Placement = std::vector<std::uint32_t>;
const std::vector<Placement> kPlacements = {
    {0, 0, 0, 0}, {0, 1, 0, 1}, {0, 0, 1, 1, 1}, {2, 1, 0, 1, 2, 1, 1}};

TEST(SharedMessagesTest, EachGetsWhatWasSentAndMayChangeIt) {
  std::uint32_t seed = 0;
  for (const Placement& placement : kPlacements) {
    seed += 10;
    SCOPED_TRACE(testing::Message() << "p = " << placement.size() << ", seed " << seed);
    ExpectAllEndWell(
        RunOnNodes({.node_of = placement}, [&](Process& process) { Program(process, seed, 0); }));
  }
}

// What came, or lies here, in chains of pid 0 for the processes of this node, in bytes.
std::uint64_t BytesHere(const Group& group, unsigned parity) {
  const Segment& segment = group.segment();
  std::uint64_t bytes = 0;
  for (std::uint32_t pid = 0; pid < group.p(); ++pid) {
    if (!segment.IsHere(Pid{pid})) continue;
    for (std::uint64_t at = segment.entry(Pid{0}, Pid{pid}, parity).messages; at != 0;) {
      const auto& chunk = *reinterpret_cast<const Chunk*>(segment.arena(Pid{0}) + at);
      bytes += chunk.used_bytes;
      at = chunk.next;
    }
  }
  return bytes;
}

TEST(SharedMessagesTest, LieOnEachNodeOnceAndCrossTheNetworkOnce) {
  for (const Placement& placement : {Placement{0, 0, 0}, {0, 0, 1, 1, 1, 1}, {0, 1, 2, 0, 1, 2}}) {
    ExpectAllEndWell(RunOnNodes({.node_of = placement}, [](Process& process) {
      process.Begin(process.nprocs());
      PubObject& root = PubObject::MakeRoot(process);
      const std::vector<std::byte> content(1 << 20, std::byte{5});
      const auto p = static_cast<int>(process.nprocs());
      if (process.pid() == 0)
        root.SendToAll("test", {.table = nullptr, .first = 0, .count = p}, content.data(),
                       content.size());
      root.Sync("test");
      Require(root.messages() == 1, "all get it");
      const std::uint64_t bytes = BytesHere(root.group(), root.group().outbox().parity() ^ 1);
      Require(bytes >= content.size() && bytes < content.size() + 4096, "once on each node");
      process.End(0);
    }));
  }
}

TEST(SharedMessagesTest, AreThereAfterAnImage) {
  std::uint64_t saved = 0;
  for (const Placement& placement : kPlacements) {
    saved += 1;
    SCOPED_TRACE(testing::Message() << "p = " << placement.size() << ", saved at " << saved);
    const auto program = [](Process& process) { Program(process, 7, 1); };
    JobOutcome outcome = RunOnNodes({.node_of = placement, .saves = {{saved}}}, program);
    ExpectAllEndWell(outcome);
    ExpectAllEndWell(ResumeOnNodes({.node_of = placement}, std::move(outcome.images)));
  }
}

// Values of reductions are read where they lie.
TEST(SharedMessagesTest, LongReductionsReadWhatOthersRead) {
  constexpr int kCount = 10'000;
  for (const Placement& placement : kPlacements) {
    ExpectAllEndWell(RunOnNodes({.node_of = placement}, [](Process& process) {
      process.Begin(process.nprocs());
      PubObject& root = PubObject::MakeRoot(process);
      const auto p = static_cast<int>(process.nprocs());
      std::vector<double> mine(kCount), sum(kCount);
      const t_bspop add{.size = sizeof(double),
                        .combine = [](void* to, const void* a, const void* b, int n, void*) {
                          for (int i = 0; i < n; ++i)
                            static_cast<double*>(to)[i] =
                                static_cast<const double*>(a)[i] + static_cast<const double*>(b)[i];
                        }};
      for (int s = 0; s < 2; ++s) {
        for (int i = 0; i < kCount; ++i) mine[i] = i * (s + 1.0) + process.pid();
        root.Reduce("test",
                    {.kind = PubReduction::kToAll,
                     .members = {.table = nullptr, .first = 0, .count = p},
                     .value = mine.data(),
                     .result = sum.data(),
                     .count = kCount,
                     .operation = add,
                     .parameter = nullptr},
                    static_cast<int>(process.pid()));
        root.Sync("test");
        for (int i = 0; i < kCount; ++i)
          Require(sum[i] == p * i * (s + 1.0) + p * (p - 1) / 2, "the sum");
      }
      process.End(0);
    }));
  }
}

}  // namespace
}  // namespace bspnow::runtime
