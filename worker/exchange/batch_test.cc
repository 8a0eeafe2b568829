// What goes from one node to another comes out there as it was.
#include <gtest/gtest.h>
#include <string.h>

#include <random>
#include <string>

#include "worker/exchange/testing/batch_fixture.h"

namespace bspnow::worker {
namespace {

TEST_F(BatchTest, CarriesChainsInTheirOrder) {
  Outbox zero(near_.segment(), Pid{0});
  Outbox one(near_.segment(), Pid{1});
  zero.entry(Pid{2}, 0).puts = zero.Chunk(0, "first ", zero.Chunk(0, "second", 0));
  zero.entry(Pid{2}, 0).bytes_to = 12;
  zero.entry(Pid{3}, 0).gets = zero.Chunk(0, "get record", 0);
  one.entry(Pid{3}, 0).messages = one.Chunk(0, "message", 0);
  one.entry(Pid{3}, 0).message_count = 1;
  ASSERT_TRUE(Superstep(0, kData).ok());
  EXPECT_EQ(Content(Pid{0}, Image(Pid{0}, Pid{2}, 0).puts), "first second");
  EXPECT_EQ(Image(Pid{0}, Pid{2}, 0).bytes_to, 12u);
  EXPECT_EQ(Content(Pid{0}, Image(Pid{0}, Pid{3}, 0).gets), "get record");
  EXPECT_EQ(Content(Pid{1}, Image(Pid{1}, Pid{3}, 0).messages), "message");
  EXPECT_EQ(Image(Pid{1}, Pid{3}, 0).message_count, 1u);
  EXPECT_EQ(Image(Pid{1}, Pid{2}, 0).puts, 0u);
}

TEST_F(BatchTest, LeavesWhatStaysOnTheNodeAlone) {
  Outbox zero(near_.segment(), Pid{0});
  zero.entry(Pid{1}, 0).puts = zero.Chunk(0, "for a neighbour", 0);
  zero.entry(Pid{1}, 0).bytes_to = 15;
  BatchSource::Frames frames(2);
  ASSERT_TRUE(source_.CollectBatch(0, kData, frames).ok());
  EXPECT_TRUE(frames[1].empty());
}

TEST_F(BatchTest, CutsLongChunksAndPutsThemTogetherAgain) {
  std::string content(3 * kPartBytes + 100, '\0');
  std::mt19937 random(1);
  for (char& c : content) c = static_cast<char>(random());
  for (const bool place : {true, false}) {
    place_ = place;
    const std::uint64_t superstep = place ? 0 : 2;
    Outbox zero(near_.segment(), Pid{0});
    zero.entry(Pid{2}, 0).puts = zero.Chunk(0, content, 0);
    ASSERT_TRUE(Superstep(superstep, kData).ok());
    EXPECT_EQ(Content(Pid{0}, Image(Pid{0}, Pid{2}, 0).puts), content);
  }
}

TEST_F(BatchTest, PlacesTheSamePieceAgainAfterABrokenConnection) {
  BatchPiece piece{.content = static_cast<std::uint32_t>(BatchContent::kPuts),
                   .source_pid = 0,
                   .destination_pid = 2,
                   .chunk_bytes = 2 * kPartBytes,
                   .chunk_offset = 0};
  const auto first = inbox_.Place(0, piece, kPartBytes);
  EXPECT_EQ(inbox_.Place(0, piece, kPartBytes).data(), first.data());
  ASSERT_TRUE(inbox_.Take(0, piece, first).ok());
  EXPECT_TRUE(inbox_.Place(0, piece, kPartBytes).empty());  // The next part is due.
  piece.chunk_offset = kPartBytes;
  EXPECT_EQ(inbox_.Place(0, piece, kPartBytes).data(), first.data() + kPartBytes);
}

TEST_F(BatchTest, ForgetsASuperstepWhenItsParityEndsAgain) {
  Outbox zero(near_.segment(), Pid{0});
  zero.entry(Pid{2}, 0).puts = zero.Chunk(0, "once", 0);
  ASSERT_TRUE(Superstep(0, kData).ok());
  ASSERT_TRUE(Superstep(1, kData).ok());
  EXPECT_NE(Image(Pid{0}, Pid{2}, 0).puts, 0u);  // Messages are read for a superstep more.
  zero.entry(Pid{2}, 0) = {};
  ASSERT_TRUE(Superstep(2, kData).ok());
  EXPECT_EQ(Image(Pid{0}, Pid{2}, 0).puts, 0u);
}

TEST_F(BatchTest, ShowsNothingBeforeTheSuperstepEnds) {
  Outbox zero(near_.segment(), Pid{0});
  zero.entry(Pid{2}, 0).puts = zero.Chunk(0, "early", 0);
  BatchSource::Frames frames(2);
  ASSERT_TRUE(source_.CollectBatch(0, kData, frames).ok());
  ASSERT_TRUE(Deliver(frames).ok());
  EXPECT_EQ(Image(Pid{0}, Pid{2}, 0).puts, 0u);
  inbox_.Publish(0);
  EXPECT_NE(Image(Pid{0}, Pid{2}, 0).puts, 0u);
}

TEST_F(BatchTest, SendsHandedChunksFirstAndInTheOrderOfTheRing) {
  Outbox zero(near_.segment(), Pid{0});
  const std::uint64_t chunk_of_chain = zero.Chunk(0, "last", 0);
  zero.Hand(0, 0, Pid{2}, zero.Chunk(0, "one ", 0));
  BatchSource::Frames frames(2);
  ASSERT_TRUE(source_.CollectHanded(0, frames).ok());
  ASSERT_EQ(frames[1].size(), 1u);
  const std::uint64_t token = frames[1][0].token;
  ASSERT_TRUE(Deliver(frames).ok());
  zero.Hand(0, 1, Pid{2}, zero.Chunk(0, "two ", 0));
  zero.entry(Pid{2}, 0).puts = chunk_of_chain;
  ASSERT_TRUE(source_.CollectBatch(0, kData, frames).ok());
  EXPECT_EQ(source_.counted()[1], 3u);
  ASSERT_TRUE(Deliver(frames).ok());
  inbox_.Publish(0);
  EXPECT_EQ(Content(Pid{0}, Image(Pid{0}, Pid{2}, 0).puts), "one two last");
  EXPECT_EQ(near_.segment().handed(Pid{0}, 0)[0].state, HandedChunk::kHanded);
  source_.OnDelivered(token, 1);
  EXPECT_EQ(near_.segment().handed(Pid{0}, 0)[0].state, HandedChunk::kHanded)
      << "the processes may use this ring in superstep 2 already";
  source_.OnDelivered(token, 0);
  EXPECT_EQ(near_.segment().handed(Pid{0}, 0)[0].state, HandedChunk::kDelivered);
}

TEST_F(BatchTest, LooksAtARingAnewTwoSuperstepsLater) {
  Outbox zero(near_.segment(), Pid{0});
  zero.Hand(0, 0, Pid{2}, zero.Chunk(0, "superstep 0", 0));
  ASSERT_TRUE(Superstep(0, {}).ok());
  ASSERT_TRUE(Superstep(1, {}).ok());
  ASSERT_TRUE(Superstep(2, {}).ok());  // Not sent again.
  EXPECT_EQ(Image(Pid{0}, Pid{2}, 0).puts, 0u);
  ASSERT_TRUE(Superstep(3, {}).ok());
  zero.Hand(0, 0, Pid{2}, zero.Chunk(0, "superstep 4", 0));
  ASSERT_TRUE(Superstep(4, {}).ok());
  EXPECT_EQ(Content(Pid{0}, Image(Pid{0}, Pid{2}, 0).puts), "superstep 4");
}

std::string DirectPut(const std::string& data) {
  const PutRecord record{
      .slot = 6, .bytes = static_cast<std::uint32_t>(data.size()), .offset = 100};
  return std::string(reinterpret_cast<const char*>(&record), sizeof record) + data;
}

TEST_F(BatchTest, OffersUnbufferedPutsToTheirProcessAtOnce) {
  Outbox one(near_.segment(), Pid{1});
  const std::string put = DirectPut("unbuffered");
  one.Hand(0, 0, Pid{3}, one.Chunk(0, put, 0), BatchContent::kDirectPut);
  BatchSource::Frames frames(2);
  ASSERT_TRUE(source_.CollectHanded(0, frames).ok());
  ASSERT_TRUE(Deliver(frames).ok());
  const EarlyPuts& early = far_.segment().cell(Pid{3}).early[0];
  ASSERT_EQ(early.offered, 1u);
  EXPECT_EQ(early.places[0].pid, 1u);
  EXPECT_EQ(memcmp(far_.segment().arena(Pid{1}) + early.places[0].offset + kChunkHeaderBytes,
                   put.data(), put.size()),
            0);
  inbox_.Publish(0);
  EXPECT_EQ(Image(Pid{1}, Pid{3}, 0).puts, 0u);
}

TEST_F(BatchTest, AnUnbufferedPutThatFindsNoPlaceIsAnOrdinaryOne) {
  Outbox one(near_.segment(), Pid{1});
  for (std::uint32_t i = 0; i <= kEarlyMax; ++i) {
    BatchSource::Frames frames(2);
    one.Hand(0, i % kHandedMax, Pid{3}, one.Chunk(0, DirectPut("12345"), 0),
             BatchContent::kDirectPut);
    ASSERT_TRUE(source_.CollectHanded(0, frames).ok());
    const std::uint64_t token = frames[1].at(0).token;
    ASSERT_TRUE(Deliver(frames).ok());
    source_.OnDelivered(token, 0);
  }
  inbox_.Publish(0);
  EXPECT_EQ(far_.segment().cell(Pid{3}).early[0].offered, kEarlyMax);
  const std::string puts = Content(Pid{1}, Image(Pid{1}, Pid{3}, 0).puts);
  EXPECT_EQ(puts.size(), sizeof(PutRecord) + 8);  // Padded, as records are.
  EXPECT_EQ(puts.substr(sizeof(PutRecord), 5), "12345");
}

TEST_F(BatchTest, FillsTheRoomOfAnUnbufferedPutThatWasTakenAgain) {
  const BatchPiece piece{.content = static_cast<std::uint32_t>(BatchContent::kDirectPut),
                         .source_pid = 0,
                         .destination_pid = 2,
                         .chunk_bytes = kPartBytes};
  const auto first = inbox_.Place(0, piece, kPartBytes);
  ASSERT_TRUE(inbox_.Take(0, piece, first).ok());
  const auto second = inbox_.Place(0, piece, kPartBytes);
  EXPECT_NE(second.data(), first.data());
  ASSERT_TRUE(inbox_.Take(0, piece, second).ok());
  far_.segment().cell(Pid{2}).early[0].taken = 1;
  EXPECT_EQ(inbox_.Place(0, piece, kPartBytes).data(), first.data());
}

TEST_F(BatchTest, CarriesVotesWithTheirRegistrations) {
  const Segment& segment = near_.segment();
  segment.slots(Pid{0})[7] = RegisteredArea{.address = 0x1000, .bytes = 64};
  segment.pushes(Pid{0}, 0)[0] = 7;
  segment.pops(Pid{0}, 0)[0] = 3;
  segment.cell(Pid{0}).votes[0] = RegistrationVote{
      .superstep = 2, .digest = 9, .pushes = 1, .pops = 1, .tag_bytes = 4, .site = 0};
  ASSERT_TRUE(Superstep(0, {}).ok());
  ASSERT_TRUE(Superstep(1, {}).ok());
  ASSERT_TRUE(Superstep(2, kVotes).ok());
  const Segment& far = far_.segment();
  EXPECT_EQ(far.cell(Pid{0}).votes[0].digest, 9u);
  EXPECT_EQ(far.slots(Pid{0})[7].bytes, 64u);
  EXPECT_EQ(far.pops(Pid{0}, 0)[0], 3u);
  // A vote of another superstep has no registrations: those lists are somebody else's.
  segment.slots(Pid{0})[7].bytes = 1;
  ASSERT_TRUE(Superstep(4, kVotes).ok());
  EXPECT_EQ(far.slots(Pid{0})[7].bytes, 64u);
}

TEST_F(BatchTest, VotesAreCopiedOnceForAllPeers) {
  JobShape shape = Shape(0);
  shape.hosts = {{Pid{0}, Pid{1}}, {Pid{2}}, {Pid{3}}};
  shape.host_of = {0, 0, 1, 2};
  for (const Pid pid : {Pid{0}, Pid{1}})
    near_.segment().cell(pid).votes[0] = RegistrationVote{.superstep = 2,
                                                          .digest = 0,
                                                          .pushes = kTablePieceBytesMax / 8,
                                                          .pops = 0,
                                                          .tag_bytes = 0,
                                                          .site = 0};
  BatchSource source(near_.segment(), shape);
  BatchSource::Frames frames(3);
  ASSERT_TRUE(source.CollectBatch(2, kVotes, frames).ok());
  ASSERT_EQ(frames[1].size(), 2u);
  ASSERT_EQ(frames[1][0].pieces.size(), 1u);
  EXPECT_EQ(frames[1][0].pieces[0].iov_base, frames[2][0].pieces[0].iov_base);
  EXPECT_NE(frames[1][0].pieces[0].iov_base, frames[1][1].pieces[0].iov_base);
}

TEST_F(BatchTest, SmallPiecesOfAllPairsShareAFrame) {
  for (const Pid from : {Pid{0}, Pid{1}}) {
    Outbox outbox(near_.segment(), from);
    for (const Pid to : {Pid{2}, Pid{3}}) {
      const std::string name = std::to_string(Value(from)) + "to" + std::to_string(Value(to));
      outbox.entry(to, 0).puts = outbox.Chunk(0, "put" + name, 0);
      outbox.entry(to, 0).messages = outbox.Chunk(0, "message" + name, 0);
      outbox.entry(to, 0).message_count = 1;
    }
  }
  BatchSource::Frames frames(2);
  ASSERT_TRUE(source_.CollectBatch(0, kData, frames).ok());
  ASSERT_EQ(frames[1].size(), 1u);
  ASSERT_TRUE(Deliver(frames).ok());
  inbox_.Publish(0);
  EXPECT_EQ(Content(Pid{1}, Image(Pid{1}, Pid{2}, 0).puts), "put1to2");
  EXPECT_EQ(Content(Pid{0}, Image(Pid{0}, Pid{3}, 0).messages), "message0to3");
  EXPECT_EQ(Image(Pid{1}, Pid{3}, 0).message_count, 1u);
}

TEST_F(BatchTest, AChainOfShortAndLongChunksKeepsItsOrder) {
  Outbox zero(near_.segment(), Pid{0});
  const std::string long_one(kTablePieceBytesMax, 'x');
  zero.entry(Pid{2}, 0).puts = zero.Chunk(0, "a", zero.Chunk(0, long_one, zero.Chunk(0, "z", 0)));
  ASSERT_TRUE(Superstep(0, kData).ok());
  EXPECT_EQ(Content(Pid{0}, Image(Pid{0}, Pid{2}, 0).puts), "a" + long_one + "z");
}

TEST_F(BatchTest, TablesDoNotGrowWithoutEnd) {
  const std::string content(kTablePieceBytesMax, 'x');
  for (const Pid from : {Pid{0}, Pid{1}}) {
    Outbox outbox(near_.segment(), from);
    for (const Pid to : {Pid{2}, Pid{3}}) {
      DirectoryEntry& entry = outbox.entry(to, 0);
      for (std::uint64_t* chain : {&entry.puts, &entry.gets, &entry.messages})
        *chain = outbox.Chunk(0, content, 0);
    }
  }
  BatchSource::Frames frames(2);
  ASSERT_TRUE(source_.CollectBatch(0, kData, frames).ok());
  for (const OutgoingBatch& frame : frames[1]) EXPECT_LE(frame.owned.size(), kTableBytesMax);
  EXPECT_EQ(frames[1].size(), 2u);
  ASSERT_TRUE(Deliver(frames).ok());
  inbox_.Publish(0);
  EXPECT_EQ(Content(Pid{1}, Image(Pid{1}, Pid{3}, 0).messages), content);
}

TEST_F(BatchTest, CarriesAnswers) {
  Outbox zero(near_.segment(), Pid{0});
  near_.segment().entry(Pid{0}, Pid{2}, 1).answers = near_.segment().heap_offset(kAnswerHeap) + 64;
  memcpy(near_.segment().arena(Pid{0}) + near_.segment().heap_offset(kAnswerHeap) + 64, "answer",
         6);
  const AnswerRequest request{.asker = Pid{2}, .answerer = Pid{0}, .bytes = 6};
  BatchSource::Frames frames(2);
  ASSERT_TRUE(source_.CollectAnswers(1, 1, {&request, 1}, frames).ok());
  ASSERT_TRUE(Deliver(frames).ok());
  EXPECT_EQ(far_.segment().cell(Pid{0}).answered.value, 0u);
  inbox_.PublishAnswers(1, 0);
  EXPECT_EQ(far_.segment().cell(Pid{0}).answered.value, 2u);
  EXPECT_EQ(far_.segment().cell(Pid{1}).answered.value, 2u);
  EXPECT_EQ(memcmp(far_.segment().arena(Pid{0}) + Image(Pid{0}, Pid{2}, 1).answers, "answer", 6),
            0);
}

}  // namespace
}  // namespace bspnow::worker
