// For tests of receiving streams: a sender by hand.
#ifndef NET_TESTING_STREAM_PEER_H_
#define NET_TESTING_STREAM_PEER_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/frame_body.h"
#include "net/frame_stream.h"
#include "net/stream_proof.h"
#include "net/testing/stream_fixture.h"

namespace bspnow {

/// Frames as the test likes them.
struct Peer {
  Peer(EventLoop& loop, const SocketAddress& address, const StreamKey& stream_key)
      : stream(loop, address, SocketOptions{}, stream_key,
               {.frame =
                    [this](const FrameHeader& header, std::span<const std::byte> payload) {
                      if (FrameKind{header.kind} == FrameKind::kChallenge) {
                        challenge = *BodyFrom<ChallengeBody>(payload);
                        if (key) Prove();
                        return FrameFault::kNone;
                      }
                      headers.push_back(header);
                      texts.emplace_back(reinterpret_cast<const char*>(payload.data()),
                                         payload.size());
                      return FrameFault::kNone;
                    },
                .closed = [this](const absl::Status&) { closed = true; }}) {}

  void Hello(std::uint64_t incarnation, WorkerId target) {
    FrameHeader header = HeaderOf(FrameKind::kHello);
    header.source_worker = Value(kSender);
    Open(header, BytesOf(HelloBody{incarnation, Value(target), 0}));
  }

  void Open(const FrameHeader& header, std::span<const std::byte> body) {
    opening.emplace(header, body);
    stream.Send(opening->header(), opening->payload());
  }

  void Prove() {
    ProofBody answer;
    EXPECT_EQ(opening->OnChallenge(*key, BytesOf(*challenge), answer), FrameFault::kNone);
    Prove(answer);
  }
  void Prove(const ProofBody& answer) {
    proof = answer;
    stream.Send(HeaderOf(FrameKind::kProof), BytesOf(answer));
  }

  void Lane(WorkerId target) {
    if (key) key = KeyOfLanes(*key, kJobKey);
    FrameHeader header = HeaderOf(FrameKind::kLane);
    header.source_worker = Value(kSender);
    header.job = 7;
    header.epoch = 3;
    Open(header, BytesOf(LaneBody{Value(target), 5}));
  }

  void Batch(std::uint64_t sequence, std::size_t data_bytes) {
    FrameHeader header = HeaderOf(FrameKind::kBatch);
    header.job = 1;
    header.sequence = sequence;
    header.source_worker = Value(kSender);
    stream.Send(header, std::vector<std::byte>(sizeof(BatchPiece) + data_bytes));
  }

  bool Got(FrameKind kind) const {
    return !headers.empty() && headers.back().kind == static_cast<std::uint16_t>(kind);
  }

  std::optional<StreamKey> key = kStreamKey;  ///< None: the challenge is not answered.
  std::optional<ConnectingProof> opening;
  std::optional<ChallengeBody> challenge;
  ProofBody proof{};                 ///< That was sent.
  std::vector<FrameHeader> headers;  ///< But those of challenges.
  std::vector<std::string> texts;
  bool closed = false;
  FrameStream stream;
};

class ReceivingStreamsTest : public StreamTest {
 protected:
  std::unique_ptr<Peer> NewPeer() {
    return std::make_unique<Peer>(loop_, receiver_.address(), peer_key_);
  }

  std::unique_ptr<Peer> Welcomed(std::uint64_t incarnation) {
    auto peer = NewPeer();
    peer->Hello(incarnation, kReceiver);
    RunUntil([&] { return peer->Got(FrameKind::kWelcome); });
    return peer;
  }

  StreamKey peer_key_ = kStreamKey;  ///< Of the connections of new peers.
};

}  // namespace bspnow

#endif  // NET_TESTING_STREAM_PEER_H_
