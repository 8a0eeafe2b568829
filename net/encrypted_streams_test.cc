// Streams of a cluster that encrypts them: the same as others, and nobody in clear or without the
// key gets in.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "net/sending_stream.h"
#include "net/stream_probe.h"
#include "net/testing/stream_peer.h"
#include "net/testing/stream_proxy.h"

namespace bspnow {
namespace {

const StreamKey kEncrypting = kStreamKey.Encrypting();

class EncryptedStreamsTest : public ReceivingStreamsTest {
 protected:
  EncryptedStreamsTest() {
    receiver_.SetSelf(kReceiver, kEncrypting);
    peer_key_ = kEncrypting;
  }

  std::unique_ptr<SendingStream> NewSender(const SocketAddress& address) {
    SendingStreamOptions options = OptionsOfSender(key_, address);
    options.stall_ms = stall_ms_;
    return std::make_unique<SendingStream>(
        loop_, resolver_, std::move(options),
        SendingStreamEvents{.delivered = [this](JobId, GroupId, std::uint64_t) { ++delivered_; },
                            .note = [this](const std::string& fact) { notes_.push_back(fact); }});
  }

  /// Job 1 has a place for large ones; those with an odd number are sent from where they lie.
  OutgoingBatch Numbered(std::uint64_t number, std::size_t bytes) {
    std::string& text = texts_.emplace_back(bytes, static_cast<char>('a' + number % 26));
    OutgoingBatch batch;
    batch.job = JobId{1 + number % 3};
    batch.superstep = Superstep{number};
    batch.token = number;
    const auto data = std::as_bytes(std::span(text));
    if (number % 2 == 0) batch.owned.assign(data.begin(), data.end());
    if (number % 2 == 1) batch.pieces.push_back({text.data(), bytes});
    return batch;
  }

  void ExpectAll(std::uint64_t count) {
    ASSERT_EQ(sink_.came.size(), count);
    for (std::uint64_t i = 0; i < count; ++i) EXPECT_TRUE(sink_.came[i].data == texts_[i]) << i;
  }

  /// What a sender says of its first failure, and the receiver counts.
  std::string Refusal() {
    auto sender = NewSender(receiver_.address());
    sender->Send(Numbered(1, 10));
    RunUntil([&] { return !notes_.empty(); });
    EXPECT_TRUE(sink_.came.empty());
    EXPECT_EQ(delivered_, 0u);
    return notes_.front();
  }

  std::string Probe() {
    std::string answer = "none yet";
    StreamProbe probe(loop_, resolver_,
                      {.key = key_,
                       .self = kSender,
                       .target = kReceiver,
                       .address = receiver_.address().host_port(),
                       .socket = {}},
                      [&](const std::string& failure) { answer = failure; });
    RunUntil([&] { return answer != "none yet"; });
    return answer;
  }

  std::uint64_t faults(FrameFault fault) const {
    return receiver_.counts().faults[static_cast<std::size_t>(fault)];
  }

  Resolver resolver_{loop_};
  StreamKey key_ = kEncrypting;  ///< The sender's.
  std::uint64_t stall_ms_ = kSoonMs;
  std::deque<std::string> texts_;
  std::uint64_t delivered_ = 0;
  std::vector<std::string> notes_;
};

TEST_F(EncryptedStreamsTest, DeliverAllOfAnySize) {
  stall_ms_ = kNoStallMs;
  auto sender = NewSender(receiver_.address());
  for (std::uint64_t i = 1; i <= 300; ++i)
    sender->Send(Numbered(i, i % 20 == 0 ? 1'000'000 : i * 3000 % 100'000));
  RunUntil([&] { return delivered_ == 300; });
  ExpectAll(300);
  EXPECT_GT(sink_.places, 0);
  EXPECT_EQ(sender->counts().resent_frames, 0u);
  EXPECT_EQ(sender->counts().connects, 1u);
}

// The MAC of TLS vouches for what is sent from where it lies; a second sum would cost time.
TEST_F(EncryptedStreamsTest, HaveNoChecksumsOfTheirOwnForWhatIsSentFromItsPlace) {
  auto sender = NewSender(receiver_.address());
  for (const std::uint64_t i : {1, 2}) sender->Send(Numbered(i, 10));
  RunUntil([&] { return delivered_ == 2; });
  EXPECT_TRUE(IsTrusted(sink_.came[0].header));
  EXPECT_FALSE(IsTrusted(sink_.came[1].header));
}

TEST_F(EncryptedStreamsTest, SurviveCutsAndChangedBits) {
  Proxy proxy(loop_, receiver_.address(), 1);
  proxy.one_in_cut = 50;
  proxy.one_in_flip = 50;
  auto sender = NewSender(proxy.address());
  for (std::uint64_t i = 1; i <= 200; ++i) sender->Send(Numbered(i, 100'000));
  RunUntil([&] { return delivered_ == 200; });
  ExpectAll(200);
  EXPECT_GT(sender->counts().connects, 1u);
  EXPECT_GT(faults(FrameFault::kBadTls), 0u);
  for (const FrameFault fault : {FrameFault::kBadHeaderCrc, FrameFault::kBadPayloadCrc})
    EXPECT_EQ(faults(fault), 0u) << "a changed bit came through TLS";
}

TEST_F(EncryptedStreamsTest, PeerThatStallsInTheHandshakeIsTriedAgain) {
  Proxy proxy(loop_, receiver_.address(), 1);
  proxy.pass_bytes_max = 20;
  auto sender = NewSender(proxy.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return sender->counts().stalls == 2; });
  proxy.pass_bytes_max = UINT64_MAX;
  RunUntil([&] { return delivered_ == 1; });
}

TEST_F(EncryptedStreamsTest, StrangerThatStallsInTheHandshakeIsClosed) {
  Proxy proxy(loop_, receiver_.address(), 1);
  proxy.pass_bytes_max = 20;
  Peer stranger(loop_, proxy.address(), kEncrypting);
  stranger.Hello(5, kReceiver);
  RunUntil([&] { return stranger.closed; });
  EXPECT_EQ(faults(FrameFault::kNoProof), 1u);
}

TEST_F(EncryptedStreamsTest, RefuseWhoHasAnotherKey) {
  key_ = kOtherStreamKey.Encrypting();
  EXPECT_NE(Refusal().find("TLS without the cluster's key"), std::string::npos);
  EXPECT_EQ(faults(FrameFault::kBadTls), 1u);
  EXPECT_NE(Probe(), "");
}

// With the key as well: who is in clear is told why.
TEST_F(EncryptedStreamsTest, RefuseWhoSpeaksInClear) {
  key_ = kStreamKey;
  EXPECT_NE(Refusal().find("closed by the receiver: speaks in clear"), std::string::npos);
  EXPECT_EQ(faults(FrameFault::kInClear), 1u);
  EXPECT_NE(Probe().find("speaks in clear"), std::string::npos);
}

TEST_F(EncryptedStreamsTest, SendNothingToWhoSpeaksInClear) {
  receiver_.SetSelf(kReceiver, kStreamKey);
  EXPECT_NE(Refusal().find("--data-tls"), std::string::npos);
  EXPECT_NE(Probe().find("--data-tls"), std::string::npos);
}

TEST_F(EncryptedStreamsTest, AreProbed) { EXPECT_EQ(Probe(), ""); }

// Processes would drive it, in clear.
TEST_F(EncryptedStreamsTest, GiveNoLane) {
  sink_.wants_lanes = true;
  auto peer = NewPeer();
  peer->Lane(kReceiver);
  RunUntil([&] { return peer->closed; });
  EXPECT_EQ(peer->texts.back(), "no lane is wanted");
  EXPECT_FALSE(sink_.lane.valid());
}

TEST_F(EncryptedStreamsTest, ProveTheKeyInsideToo) {
  auto outsider = NewPeer();
  outsider->key.reset();
  outsider->Hello(5, kReceiver);
  RunUntil([&] { return outsider->challenge.has_value(); });
  outsider->Prove(ProofBody{});
  RunUntil([&] { return outsider->closed; });
  EXPECT_EQ(faults(FrameFault::kBadProof), 1u);
  EXPECT_EQ(outsider->texts.back(), "does not prove the key");
}

TEST_F(EncryptedStreamsTest, StreamInClearEndsWhenTheClusterBeginsToEncrypt) {
  key_ = kStreamKey;
  receiver_.SetSelf(kReceiver, key_);
  auto sender = NewSender(receiver_.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return delivered_ == 1; });
  key_ = kEncrypting;
  receiver_.SetSelf(kReceiver, key_);
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return delivered_ == 2; });
  ExpectAll(2);
  EXPECT_EQ(sender->counts().connects, 2u);
}

}  // namespace
}  // namespace bspnow
