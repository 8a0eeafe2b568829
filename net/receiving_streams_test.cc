#include "net/receiving_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/raised_limits.h"
#include "net/testing/stream_peer.h"

namespace bspnow {
namespace {

TEST_F(ReceivingStreamsTest, WelcomesWithWhatItHas) {
  auto peer = Welcomed(5);
  EXPECT_EQ(peer->headers.back().sequence, 0u);
  EXPECT_EQ(peer->headers.back().source_worker, Value(kReceiver));
  peer->Batch(1, 10);
  peer->Batch(3, 10);
  RunUntil([&] { return sink_.came.size() == 2; });
  EXPECT_EQ(Welcomed(5)->headers.back().sequence, 3u);
  EXPECT_EQ(Welcomed(6)->headers.back().sequence, 0u);
}

TEST_F(ReceivingStreamsTest, AcknowledgesSoonAfterTheLastFrame) {
  auto peer = Welcomed(5);
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) peer->Batch(sequence, 10);
  RunUntil([&] { return peer->Got(FrameKind::kAck); });
  EXPECT_EQ(peer->headers.back().sequence, 5u);
  EXPECT_EQ(peer->headers.size(), 2u) << "one Ack for all";
}

// The frame that brings the Ack about comes in one read with the beginning of the next one.
TEST_F(ReceivingStreamsTest, AcknowledgesWhatWasReadTogetherWithALargeFrame) {
  auto peer = Welcomed(5);
  peer->Batch(1, 1 << 20);
  peer->Batch(2, 10);
  RunUntil([&] { return peer->Got(FrameKind::kAck) && peer->headers.back().sequence == 2; });
}

TEST_F(ReceivingStreamsTest, DropsAndCountsDuplicates) {
  auto peer = Welcomed(5);
  peer->Batch(1, 10);
  peer->Batch(1, 200'000);
  peer->Batch(2, 10);
  RunUntil([&] { return sink_.came.size() == 2; });
  EXPECT_EQ(receiver_.counts().duplicates, 1u);
  EXPECT_EQ(receiver_.counts().frames, 2u);
  EXPECT_EQ(sink_.places, 0) << "a duplicate must not be written over what is there";
}

TEST_F(ReceivingStreamsTest, NewConnectionReplacesTheOld) {
  auto old = Welcomed(5);
  auto fresh = Welcomed(5);
  RunUntil([&] { return old->closed; });
  fresh->Batch(1, 10);
  RunUntil([&] { return sink_.came.size() == 1; });
}

TEST_F(ReceivingStreamsTest, ForgetsWhatAWorkerHasSentOnceNoStreamOfItStands) {
  auto peer = Welcomed(5);
  peer->Batch(1, 10);
  RunUntil([&] { return sink_.came.size() == 1; });
  EXPECT_FALSE(receiver_.Forget(kSender));
  peer->stream.Close("it has left");
  RunUntil([&] { return receiver_.Forget(kSender); });
  EXPECT_EQ(Welcomed(5)->headers.back().sequence, 0u);
}

TEST_F(ReceivingStreamsTest, RefusesHelloForAnotherWorker) {
  auto peer = NewPeer();
  peer->Hello(5, WorkerId{9});
  RunUntil([&] { return peer->closed; });
  EXPECT_TRUE(peer->Got(FrameKind::kAbort));
  EXPECT_EQ(peer->texts.back(), "you want worker 9, this is 2");
  EXPECT_EQ(receiver_.counts().refused, 1u);
}

// A coordinator has told the others of a worker before that has the answer.
TEST_F(ReceivingStreamsTest, WhoConnectsBeforeItKnowsItsNameIsNotRefused) {
  std::vector<std::string> facts;
  ReceivingStreams early(loop_, SocketOptions{}, sink_,
                         [&facts](const std::string& fact) { facts.push_back(fact); });
  ASSERT_TRUE(early.Listen(*Resolve({"127.0.0.1", 0})).ok());
  Peer peer(loop_, early.address(), kStreamKey);
  peer.Hello(5, kReceiver);
  Welcomed(6);  // Of another one, meanwhile.
  EXPECT_FALSE(peer.challenge.has_value());
  early.SetSelf(kReceiver, kStreamKey);
  RunUntil([&] { return peer.Got(FrameKind::kWelcome); });
  EXPECT_EQ(early.counts().refused, 0u);
  EXPECT_TRUE(facts.empty()) << facts.front();
}

TEST_F(ReceivingStreamsTest, RefusesHelloInItsOwnName) {
  auto peer = NewPeer();
  FrameHeader header = HeaderOf(FrameKind::kHello);
  header.source_worker = Value(kReceiver);
  peer->Open(header, BytesOf(HelloBody{5, Value(kReceiver), 0}));
  RunUntil([&] { return peer->closed; });
  EXPECT_EQ(peer->texts.back(), "no other worker is 2");
}

TEST_F(ReceivingStreamsTest, NothingIsTakenBeforeHello) {
  auto peer = NewPeer();
  peer->Batch(1, 10);
  RunUntil([&] { return peer->closed; });
  EXPECT_TRUE(sink_.came.empty());
  EXPECT_EQ(receiver_.counts().faults[static_cast<std::size_t>(FrameFault::kMalformed)], 1u);
}

TEST_F(ReceivingStreamsTest, RefusalNamesTheFrame) {
  auto peer = Welcomed(5);
  sink_.verdict = FrameFault::kMalformed;
  peer->Batch(7, 10);
  for (std::uint64_t sequence = 8; sequence < 30; ++sequence) peer->Batch(sequence, 1 << 20);
  RunUntil([&] { return peer->closed; });
  ASSERT_TRUE(peer->Got(FrameKind::kAbort)) << "though the peer was still sending";
  EXPECT_EQ(peer->headers.back().sequence, 7u);
  EXPECT_EQ(peer->texts.back(), "malformed");
  sink_.verdict = FrameFault::kNone;
  EXPECT_EQ(Welcomed(5)->headers.back().sequence, 0u) << "a refused frame is not taken";
}

TEST_F(ReceivingStreamsTest, FrameOfAnotherWorkerIsMalformed) {
  auto peer = Welcomed(5);
  FrameHeader header = HeaderOf(FrameKind::kBatch);
  header.sequence = 1;
  header.source_worker = 77;
  peer->stream.Send(header, std::vector<std::byte>(sizeof(BatchPiece)));
  RunUntil([&] { return peer->closed; });
  EXPECT_TRUE(sink_.came.empty());
}

TEST_F(ReceivingStreamsTest, HoldsOnlySoManyStrangers) {
  const RaisedLimits descriptors;
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 600; ++i) peers.push_back(NewPeer());
  RunUntil([&] { return receiver_.counts().refused != 0; });
  peers.clear();
  std::unique_ptr<Peer> next;
  RunUntil([&] {  // Until it has noticed that they are gone.
    if (next == nullptr || next->closed) {
      next = NewPeer();
      next->Hello(5, kReceiver);
    }
    return next->Got(FrameKind::kWelcome);
  });
}

TEST_F(ReceivingStreamsTest, AProbeDisturbsNoStream) {
  auto peer = Welcomed(5);
  peer->Batch(1, 10);
  auto probe = Welcomed(0);
  RunUntil([&] { return probe->closed; });
  peer->Batch(2, 10);
  RunUntil([&] { return sink_.came.size() == 2; });
  EXPECT_FALSE(peer->closed);
  EXPECT_EQ(Welcomed(5)->headers.back().sequence, 2u);
}

TEST_F(ReceivingStreamsTest, HandsAWantedLaneOverAndDisturbsNoStream) {
  sink_.wants_lanes = true;
  auto stream = Welcomed(5);
  auto peer = NewPeer();
  peer->Lane(kReceiver);
  RunUntil([&] { return peer->Got(FrameKind::kWelcome); });
  ASSERT_TRUE(sink_.lane.valid());
  EXPECT_NE(fcntl(sink_.lane.get(), F_GETFL) & O_NONBLOCK, 0);
  peer->Batch(1, 10);
  fcntl(sink_.lane.get(), F_SETFL, 0);
  char bytes[256];
  EXPECT_GT(recv(sink_.lane.get(), bytes, sizeof bytes, 0), 0) << "nobody else reads it";
  sink_.lane.Reset();
  RunUntil([&] { return peer->closed; });
  EXPECT_FALSE(stream->closed);
  EXPECT_TRUE(sink_.came.empty());
  EXPECT_EQ(receiver_.counts().refused, 0u);
}

TEST_F(ReceivingStreamsTest, RefusesALaneThatNobodyWants) {
  auto peer = NewPeer();
  peer->Lane(kReceiver);
  RunUntil([&] { return peer->closed; });
  EXPECT_TRUE(peer->Got(FrameKind::kAbort));
  EXPECT_EQ(peer->texts.back(), "no lane is wanted");
  EXPECT_EQ(receiver_.counts().refused, 1u);
  EXPECT_FALSE(sink_.lane.valid());
}

TEST_F(ReceivingStreamsTest, RefusesALaneToAnotherWorker) {
  sink_.wants_lanes = true;
  auto peer = NewPeer();
  peer->Lane(WorkerId{9});
  RunUntil([&] { return peer->closed; });
  EXPECT_EQ(peer->texts.back(), "you want worker 9, this is 2");
  EXPECT_FALSE(sink_.lane.valid());
}

TEST_F(ReceivingStreamsTest, RefusesALaneThatIsUsedBeforeItsWelcome) {
  sink_.wants_lanes = true;
  auto peer = NewPeer();
  peer->Lane(kReceiver);
  peer->Batch(1, 10);
  RunUntil([&] { return peer->closed; });
  EXPECT_TRUE(peer->Got(FrameKind::kAbort));
  EXPECT_FALSE(sink_.lane.valid());
}

TEST_F(ReceivingStreamsTest, RefusesALaneThatIsUsedWithItsProof) {
  sink_.wants_lanes = true;
  auto peer = NewPeer();
  const StreamKey key = KeyOfLanes(*std::exchange(peer->key, std::nullopt), kJobKey);
  peer->Lane(kReceiver);
  RunUntil([&] { return peer->challenge.has_value(); });
  peer->key = key;
  peer->Prove();
  peer->Batch(1, 10);
  RunUntil([&] { return peer->closed; });
  EXPECT_TRUE(peer->Got(FrameKind::kAbort));
  EXPECT_FALSE(sink_.lane.valid());
}

TEST_F(ReceivingStreamsTest, AStreamDoesNotBecomeALane) {
  sink_.wants_lanes = true;
  auto peer = Welcomed(5);
  peer->Lane(kReceiver);
  RunUntil([&] { return peer->closed; });
  EXPECT_FALSE(sink_.lane.valid());
}

}  // namespace
}  // namespace bspnow
