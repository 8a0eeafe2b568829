// Who reaches the port of a worker's streams and knows all ids, but has no key.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <vector>

#include "base/raised_limits.h"
#include "base/unique_fd.h"
#include "net/receiving_streams.h"
#include "net/testing/stream_peer.h"

namespace bspnow {
namespace {

bool IsClosed(const UniqueFd& socket) {
  char byte;
  return recv(socket.get(), &byte, 1, MSG_DONTWAIT) == 0;
}

class OutsiderTest : public ReceivingStreamsTest {
 protected:
  OutsiderTest() { sink_.wants_lanes = true; }

  /// As if from kSender; it has its challenge, and does not answer it.
  template <typename Opening>
  std::unique_ptr<Peer> Challenged(Opening opening) {
    auto peer = NewPeer();
    peer->key.reset();
    opening(*peer);
    RunUntil([&] { return peer->challenge.has_value(); });
    return peer;
  }
  std::unique_ptr<Peer> Challenged() {
    return Challenged([](Peer& peer) { peer.Hello(5, kReceiver); });
  }

  void ExpectRefused(Peer& outsider, const ProofBody& proof) {
    outsider.Prove(proof);
    RunUntil([&] { return outsider.closed; });
    ASSERT_TRUE(outsider.Got(FrameKind::kAbort));
    EXPECT_EQ(outsider.texts.back(), "does not prove the key");
    EXPECT_EQ(outsider.headers.size(), 1u);
    EXPECT_EQ(receiver_.counts().faults[static_cast<std::size_t>(FrameFault::kBadProof)], 1u);
  }

  void ExpectUndisturbed(Peer& stream) {
    stream.Batch(1, 10);
    RunUntil([&] { return sink_.came.size() == 1; });
    EXPECT_FALSE(stream.closed);
    EXPECT_EQ(receiver_.counts().connections, 1u);
  }
};

TEST_F(OutsiderTest, HelloAloneDisturbsNoStream) {
  auto stream = Welcomed(5);
  const auto outsider = Challenged();
  ExpectUndisturbed(*stream);
  EXPECT_TRUE(outsider->headers.empty());
}

TEST_F(OutsiderTest, FrameInPlaceOfAProofIsNotTaken) {
  auto stream = Welcomed(5);
  const auto outsider = Challenged();
  outsider->Batch(1, 300'000);
  RunUntil([&] { return outsider->closed; });
  EXPECT_TRUE(sink_.came.empty());
  EXPECT_EQ(sink_.places, 0);
  EXPECT_EQ(receiver_.counts().faults[static_cast<std::size_t>(FrameFault::kTooLong)], 1u);
  ExpectUndisturbed(*stream);
}

// They would keep out workers: of those that connect there is a limit. Who came before the crowd
// is of it, too.
TEST_F(OutsiderTest, OfManyThatSayNothingTheFirstOnesGoSoon) {
  const RaisedLimits descriptors;
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 300; ++i)
    silent.push_back(*BeginConnect(receiver_.address(), SocketOptions{}));
  const auto given_up = [&] {
    return receiver_.counts().faults[static_cast<std::size_t>(FrameFault::kNoProof)];
  };
  RunUntil([&] { return given_up() != 0; });
  EXPECT_LE(given_up(), 300u - 128u);
  EXPECT_EQ(receiver_.counts().refused, 0u);
  RunUntil([&] { return IsClosed(silent.front()); });
  EXPECT_FALSE(IsClosed(silent.back()));
  ExpectUndisturbed(*Welcomed(5));
}

// One after the other they would fill its disk.
TEST_F(OutsiderTest, NotEachHasALineInTheLog) {
  constexpr std::size_t kMany = 50;
  for (std::size_t i = 0; i < kMany; ++i) {
    auto outsider = NewPeer();
    outsider->Hello(5, WorkerId{9});
    RunUntil([&] { return outsider->closed; });
  }
  ASSERT_FALSE(facts_.empty());
  EXPECT_LT(facts_.size(), kMany / 2);
  EXPECT_TRUE(facts_[0].starts_with("event=stream_refused worker=0 peer=127.0.0.1:")) << facts_[0];
  EXPECT_TRUE(facts_[0].ends_with(" refused=1 reason=\"you want worker 9, this is 2\""))
      << facts_[0];
}

TEST_F(OutsiderTest, EachEndOfAWorkersStreamHasALineInTheLog) {
  for (std::size_t i = 1; i <= 3; ++i) {
    Welcomed(5);
    RunUntil([&] { return facts_.size() == i; });
    EXPECT_TRUE(facts_.back().starts_with("event=stream_closed worker=1 peer=127.0.0.1:"))
        << facts_.back();
  }
}

TEST_F(OutsiderTest, InventedProofIsRefused) {
  auto stream = Welcomed(5);
  ExpectRefused(*Challenged(), ProofBody{});
  ExpectUndisturbed(*stream);
}

TEST_F(OutsiderTest, RecordedHandshakeIsRefused) {
  auto stream = Welcomed(5);
  const auto outsider = Challenged(
      [&](Peer& peer) { peer.stream.Send(stream->opening->header(), stream->opening->payload()); });
  ExpectRefused(*outsider, stream->proof);
  ExpectUndisturbed(*stream);
}

TEST_F(OutsiderTest, ProofOfTheReceiverItselfIsRefused) {
  auto stream = Welcomed(5);
  const auto outsider = Challenged();
  ExpectRefused(*outsider, ProofBody{.proof = outsider->challenge->proof});
  ExpectUndisturbed(*stream);
}

TEST_F(OutsiderTest, ProbeIsNotWelcome) {
  ExpectRefused(*Challenged([](Peer& peer) { peer.Hello(0, kReceiver); }), ProofBody{});
}

TEST_F(OutsiderTest, GetsNoLane) {
  ExpectRefused(*Challenged([](Peer& peer) { peer.Lane(kReceiver); }), ProofBody{});
  EXPECT_FALSE(sink_.lane.valid());
}

// It could give it to who believes that the other worker is here.
TEST_F(OutsiderTest, GetsNoProofForAnotherWorker) {
  auto outsider = NewPeer();
  outsider->Hello(5, WorkerId{9});
  RunUntil([&] { return outsider->closed; });
  EXPECT_FALSE(outsider->challenge.has_value());
}

TEST_F(OutsiderTest, NobodyIsWelcomeBeforeThereIsAKey) {
  receiver_.SetSelf(kReceiver, StreamKey());
  auto peer = NewPeer();
  peer->Hello(5, kReceiver);
  RunUntil([&] { return peer->closed; });
  EXPECT_EQ(peer->texts.back(), "this worker has no key yet");
  EXPECT_FALSE(peer->challenge.has_value());
}

TEST_F(OutsiderTest, ProofForAnIdThatTheWorkerHasNoMoreIsRefused) {
  const auto peer = Challenged();
  receiver_.SetSelf(WorkerId{8}, kStreamKey);
  peer->key = kStreamKey;
  peer->Prove();
  RunUntil([&] { return peer->closed; });
  EXPECT_EQ(peer->texts.back(), "you want worker 2, this is 8");
  EXPECT_EQ(receiver_.counts().connections, 0u);
}

}  // namespace
}  // namespace bspnow
