// What no honest process writes, and no honest peer sends.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "worker/exchange/frame_class.h"
#include "worker/exchange/testing/batch_fixture.h"

namespace bspnow::worker {
namespace {

using BatchHostileTest = BatchTest;

TEST_F(BatchHostileTest, EndsAChainThatRunsInACircle) {
  Outbox zero(near_.segment(), Pid{0});
  const std::uint64_t chunk = zero.Chunk(0, "around", 0);
  reinterpret_cast<Chunk*>(near_.segment().arena(Pid{0}) + chunk)->next = chunk;
  zero.entry(Pid{2}, 0).puts = chunk;
  EXPECT_FALSE(Superstep(0, kData).ok());
}

TEST_F(BatchHostileTest, RefusesChunksOutsideTheHeapOfTheirParity) {
  const Segment& segment = near_.segment();
  Outbox zero(segment, Pid{0});
  const std::uint64_t heap_end = segment.heap_offset(0) + segment.layout().heap_bytes;
  for (const std::uint64_t bad :
       {std::uint64_t{16}, segment.heap_offset(0) + 8, segment.heap_offset(1), heap_end - 8,
        ~std::uint64_t{0} - 15, segment.layout().arena_bytes}) {
    zero.entry(Pid{2}, 0).puts = bad;
    EXPECT_FALSE(Superstep(0, kData).ok()) << bad;
  }
  const std::uint64_t chunk = zero.Chunk(0, "x", 0);
  zero.entry(Pid{2}, 0).puts = chunk;
  for (const std::uint64_t used : {std::uint64_t{0}, heap_end - chunk + 1, ~std::uint64_t{0}}) {
    reinterpret_cast<Chunk*>(segment.arena(Pid{0}) + chunk)->used_bytes = used;
    EXPECT_FALSE(Superstep(0, kData).ok()) << used;
  }
}

TEST_F(BatchHostileTest, SaysHowLargeAnHRelationIsTooLarge) {
  const std::uint64_t heap_bytes = far_.segment().layout().heap_bytes;
  BatchPiece piece{.content = static_cast<std::uint32_t>(BatchContent::kMessages),
                   .source_pid = 0,
                   .destination_pid = 2,
                   .chunk_bytes = heap_bytes,
                   .chunk_offset = 0};
  const std::string data(100, 'x');
  const absl::Status status = inbox_.Take(0, piece, std::as_bytes(std::span(data)));
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_NE(std::string(status.message()).find(std::to_string(heap_bytes)), std::string::npos);
  EXPECT_EQ(status.message().find("bsp_send: "), 0u) << status;
}

/// Writes anything wherever a process may.
class Scribbler {
 public:
  explicit Scribbler(const Segment& segment) : segment_(segment) {}

  std::mt19937_64& random() { return random_; }

  std::uint64_t Number() {
    switch (random_() % 6) {
      case 0:
        return random_();
      case 1:
        return random_() % 64;
      case 2:
        return (random_() % 2 == 0
                    ? segment_.heap_offset(static_cast<int>(random_() % 3))
                    : segment_.head_offset(Pid{0}, static_cast<int>(random_() % 3))) +
               random_() % 4096 / 16 * 16;
      case 3:
        return segment_.heap_offset(static_cast<int>(random_() % 4)) - random_() % 4096;
      case 4:
        return random_() % 4096;
      default:
        return ~std::uint64_t{0} - random_() % 64;
    }
  }

  void Scribble(std::uint64_t superstep) {
    for (const Pid pid : {Pid{0}, Pid{1}}) {
      auto* arena = segment_.arena(pid);
      for (std::uint32_t to = 0; to < kProcs; ++to) {
        for (unsigned parity = 0; parity < 2; ++parity) {
          auto* words = reinterpret_cast<std::uint64_t*>(&segment_.entry(pid, Pid{to}, parity));
          for (unsigned i = 0; i < sizeof(DirectoryEntry) / 8; ++i)
            words[i] = random_() % 3 == 0 ? Number() : 0;
        }
      }
      for (int heap = 0; heap < 2; ++heap) {
        for (const std::uint64_t at :
             {segment_.heap_offset(heap), segment_.head_offset(pid, heap)}) {
          auto* words = reinterpret_cast<std::uint64_t*>(arena + at);
          for (unsigned i = 0; i < 512; ++i) words[i] = Number();
        }
      }
      auto* handed = reinterpret_cast<std::uint32_t*>(segment_.handed(pid, 0));
      for (unsigned i = 0; i < 2 * kHandedMax * sizeof(HandedChunk) / 4; ++i) {
        handed[i] = static_cast<std::uint32_t>(random_() % 2 == 0 ? random_() % 6 : Number());
      }
      ProcessCell& cell = segment_.cell(pid);
      for (RegistrationVote& vote : cell.votes) {
        vote = {.superstep = random_() % 2 == 0 ? superstep : Number(),
                .digest = Number(),
                .pushes = random_() % 2 == 0 ? random_() % 64 : Number(),
                .pops = random_() % 2 == 0 ? random_() % 64 : Number(),
                .tag_bytes = Number(),
                .site = Number()};
      }
      for (unsigned i = 0; i < 64; ++i) segment_.pushes(pid, superstep & 1)[i] = Number();
    }
  }

 private:
  const Segment& segment_;
  std::mt19937_64 random_{20261121};
};

// Every frame must lie in the heap that it was taken from, whatever the process wrote.
TEST_F(BatchHostileTest, SurvivesAnyNonsenseInTheArena) {
  const Segment& segment = near_.segment();
  Scribbler scribbler(segment);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::uint64_t superstep = static_cast<std::uint64_t>(trial);
    scribbler.Scribble(superstep);
    BatchSource::Frames frames(2);
    const BarrierCounts counts{
        .data = 2, .gets = 2, .votes = scribbler.random()() % 4 == 0, .ending = 0};
    (void)source_.CollectBatch(superstep, counts, frames);
    const AnswerRequest request{.asker = Pid{2}, .answerer = Pid{0}, .bytes = scribbler.Number()};
    (void)source_.CollectAnswers(superstep, 1, {&request, 1}, frames);
    for (const OutgoingBatch& frame : frames[1]) {
      ASSERT_LT(frame.piece.source_pid, 2u);
      if (frame.owner) continue;  // A copy.
      const std::byte* arena = segment.arena(Pid{frame.piece.source_pid});
      for (const iovec& piece : frame.pieces) {
        const auto* at = static_cast<const std::byte*>(piece.iov_base);
        const auto offset = static_cast<std::uint64_t>(at - arena);
        const Pid pid{frame.piece.source_pid};
        ASSERT_TRUE(segment.InHeap(pid, 0, offset, piece.iov_len) ||
                    segment.InHeap(pid, 1, offset, piece.iov_len) ||
                    segment.InHeap(pid, kAnswerHeap, offset, piece.iov_len));
      }
    }
    source_.OnReleased(superstep);
  }
}

// Wherever it is cut, and whatever its lengths say.
TEST_F(BatchHostileTest, ReadsNothingBesideATable) {
  std::mt19937_64 random(11);
  std::uint64_t cut = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    BatchTable table;
    for (std::uint64_t k = random() % 4; k != 0; --k) {
      const std::string data(random() % 100, 'x');
      table.Begin({}, random() % 4 == 0 ? random() : data.size());
      table.Append(std::as_bytes(std::span(data)));
    }
    std::vector<std::byte> bytes = table.Take();
    if (random() % 2 == 0) bytes.resize(random() % (bytes.size() + 1));
    BatchTableReader reader({.content = static_cast<std::uint32_t>(BatchContent::kTable)}, bytes);
    while (reader.Next()) {
      if (reader.data().empty()) continue;
      ASSERT_GE(reader.data().data(), bytes.data());
      ASSERT_LE(reader.data().data() + reader.data().size(), bytes.data() + bytes.size());
    }
    cut += reader.done() ? 0 : 1;
  }
  EXPECT_GT(cut, 1000u);
}

TEST_F(BatchHostileTest, TellsTheClassOfATable) {
  using enum BatchContent;
  const auto class_of = [this](std::initializer_list<BatchContent> contents, std::size_t cut) {
    BatchTable table;
    for (const BatchContent content : contents) {
      const std::string data(content == kAnswersEnd ? 0 : sizeof(BatchEntry), 0);
      table.Begin({.content = static_cast<std::uint32_t>(content), .destination_pid = 2},
                  data.size());
      table.Append(std::as_bytes(std::span(data)));
    }
    std::vector<std::byte> bytes = table.Take();
    bytes.resize(bytes.size() - cut);
    return ClassOfFrame(inbox_, 0, {.content = static_cast<std::uint32_t>(kTable)}, bytes);
  };
  using Class = NodeExchange::FrameClass;
  EXPECT_EQ(class_of({kEntries, kPuts, kMessages}, 0), Class::kBatch);
  EXPECT_EQ(class_of({kGets, kPuts}, 0), Class::kGets);
  EXPECT_EQ(class_of({kAnswers}, 0), Class::kAnswers);
  EXPECT_EQ(class_of({kAnswers, kAnswersEnd}, 0), Class::kAnswersEnd);
  EXPECT_EQ(class_of({kPuts, kAnswers}, 0), std::nullopt);
  EXPECT_EQ(class_of({kPuts, kTable}, 0), std::nullopt);
  EXPECT_EQ(class_of({kPuts, kMessages}, 1), std::nullopt);
  EXPECT_EQ(class_of({}, 0), std::nullopt);
}

// What a peer sends may be anything: it is refused, or lands in the heaps of that peer's images.
TEST_F(BatchHostileTest, RefusesPiecesThatMakeNoSense) {
  std::mt19937_64 random(7);
  const auto number = [&](std::uint64_t usual) {
    return random() % 8 == 0 ? random() : random() % usual;
  };
  std::uint64_t taken = 0;
  const std::string data(4096, 'x');
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint64_t superstep = i / 1000;
    if (i % 1000 == 0 && i != 0) inbox_.Publish(superstep - 1);
    far_.segment().cell(Pid{2}).early[superstep & 1].taken = static_cast<std::uint32_t>(random());
    std::string some(data, 0, random() % 256);
    const BatchPiece piece{.content = static_cast<std::uint32_t>(number(9)),
                           .source_pid = static_cast<std::uint32_t>(number(kProcs + 1)),
                           .destination_pid = static_cast<std::uint32_t>(number(kProcs + 1)),
                           .chunk_bytes = random() % 2 == 0 ? some.size() : number(4096),
                           .chunk_offset = random() % 2 == 0 ? 0 : number(4096)};
    for (char& c : some) c = static_cast<char>(number(4));
    const auto bytes = std::as_bytes(std::span(some));
    if (!inbox_.Check(0, piece, bytes.size()).ok()) continue;
    ASSERT_LT(piece.source_pid, 2u);
    const auto placed = inbox_.Place(superstep, piece, bytes.size());
    if (!placed.empty()) {
      const Pid pid{piece.source_pid};
      const auto offset = static_cast<std::uint64_t>(placed.data() - far_.segment().arena(pid));
      ASSERT_TRUE(far_.segment().InHeap(pid, 0, offset, placed.size()) ||
                  far_.segment().InHeap(pid, 1, offset, placed.size()) ||
                  far_.segment().InHeap(pid, kAnswerHeap, offset, placed.size()));
    }
    taken += inbox_.Take(superstep, piece, bytes).ok();
  }
  EXPECT_GT(taken, 1000u);  // Else it would show nothing.
}

}  // namespace
}  // namespace bspnow::worker
