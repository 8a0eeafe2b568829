#include "net/stream_proof.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bspnow {
namespace {

const StreamKey kKey = *StreamKey::FromBytes(std::string(32, 'k'));
const StreamKey kOtherKey = *StreamKey::FromBytes(std::string(31, 'k') + "K");

constexpr HelloBody kHello{.incarnation = 5, .target = 2, .term = 0};

FrameHeader HelloHeader() {
  FrameHeader header = HeaderOf(FrameKind::kHello);
  header.source_worker = 1;
  return header;
}

ConnectingProof Opening() { return {HelloHeader(), BytesOf(kHello)}; }

/// The other end, if what was sent arrives there.
AcceptingProof Accept(const ConnectingProof& opening) {
  return *AcceptingProof::Of(opening.header(), opening.payload());
}

FrameFault FaultOf(const ConnectingProof& opening, const ChallengeBody& challenge) {
  ProofBody unused;
  return opening.OnChallenge(kKey, BytesOf(challenge), unused);
}

ProofBody Answer(const ConnectingProof& opening, const ChallengeBody& challenge) {
  ProofBody answer;
  EXPECT_EQ(opening.OnChallenge(kKey, BytesOf(challenge), answer), FrameFault::kNone);
  return answer;
}

TEST(StreamProofTest, BothEndsProveTheKey) {
  const ConnectingProof connecting = Opening();
  const AcceptingProof accepting = Accept(connecting);
  EXPECT_EQ(accepting.body().size(), sizeof kHello);
  EXPECT_EQ(accepting.header().source_worker, 1u);
  const ProofBody answer = Answer(connecting, accepting.Challenge(kKey));
  EXPECT_EQ(accepting.OnProof(kKey, BytesOf(answer)), FrameFault::kNone);
}

TEST(StreamProofTest, AcceptingEndWithAnotherKeyIsNoticed) {
  const ConnectingProof connecting = Opening();
  EXPECT_EQ(FaultOf(connecting, Accept(connecting).Challenge(kOtherKey)), FrameFault::kBadProof);
}

TEST(StreamProofTest, ConnectingEndWithAnotherKeyIsNoticed) {
  const ConnectingProof connecting = Opening();
  const AcceptingProof accepting = Accept(connecting);
  ProofBody answer;
  ASSERT_EQ(connecting.OnChallenge(kOtherKey, BytesOf(accepting.Challenge(kOtherKey)), answer),
            FrameFault::kNone);
  EXPECT_EQ(accepting.OnProof(kKey, BytesOf(answer)), FrameFault::kBadProof);
}

// Else two ends without one would have the same.
TEST(StreamProofTest, WithoutAKeyNothingIsProven) {
  const ConnectingProof connecting = Opening();
  const AcceptingProof accepting = Accept(connecting);
  const ChallengeBody challenge = accepting.Challenge(kKey);
  ProofBody answer;
  EXPECT_EQ(connecting.OnChallenge(StreamKey(), BytesOf(challenge), answer), FrameFault::kBadProof);
  answer = Answer(connecting, challenge);
  EXPECT_EQ(accepting.OnProof(StreamKey(), BytesOf(answer)), FrameFault::kBadProof);
}

TEST(StreamProofTest, KeyOfLanesNeedsBothKeys) {
  const StreamKey both = KeyOfLanes(kKey, kOtherKey);
  EXPECT_EQ(both, KeyOfLanes(kKey, kOtherKey));
  for (const StreamKey& key : {kKey, kOtherKey, KeyOfLanes(kKey, kKey),
                               KeyOfLanes(kOtherKey, kOtherKey), KeyOfLanes(kOtherKey, kKey)})
    EXPECT_NE(both, key);
}

TEST(StreamProofTest, RecordedProofIsWorthNothingLater) {
  const ConnectingProof connecting = Opening();
  const AcceptingProof first = Accept(connecting);
  const ProofBody recorded = Answer(connecting, first.Challenge(kKey));
  EXPECT_EQ(Accept(connecting).OnProof(kKey, BytesOf(recorded)), FrameFault::kBadProof);
}

TEST(StreamProofTest, RecordedChallengeIsWorthNothingLater) {
  const ConnectingProof first = Opening();
  const ChallengeBody recorded = Accept(first).Challenge(kKey);
  EXPECT_EQ(FaultOf(Opening(), recorded), FrameFault::kBadProof);
}

// All that a recorder of other connections could change.
TEST(StreamProofTest, ProofOfAJobIsForItsEpochOnThisConnection) {
  const ConnectingProof connecting = Opening();
  const AcceptingProof accepting = Accept(connecting);
  const StreamNonce nonce = accepting.Challenge(kKey).nonce;
  FrameHeader header = HeaderOf(FrameKind::kJobProof);
  header.job = 7;
  header.epoch = 3;
  const ProofBody proof = connecting.ProveJob(kOtherKey, header, nonce);
  EXPECT_TRUE(accepting.ProvesJob(kOtherKey, header, proof));
  EXPECT_FALSE(accepting.ProvesJob(kKey, header, proof));
  EXPECT_FALSE(
      accepting.ProvesJob(kOtherKey, header, Answer(connecting, accepting.Challenge(kKey))));
  EXPECT_FALSE(Accept(connecting).ProvesJob(kOtherKey, header, proof)) << "another challenge";
  EXPECT_FALSE(Accept(Opening()).ProvesJob(kOtherKey, header, proof)) << "another opening";
  header.job = 8;
  EXPECT_FALSE(accepting.ProvesJob(kOtherKey, header, proof));
  header.job = 7;
  header.epoch = 4;
  EXPECT_FALSE(accepting.ProvesJob(kOtherKey, header, proof));
}

// It opens a connection to itself, as it were.
TEST(StreamProofTest, ProofSentBackToItsMakerIsWorthNothing) {
  const ConnectingProof connecting = Opening();
  const AcceptingProof accepting = Accept(connecting);
  const ChallengeBody challenge = accepting.Challenge(kKey);
  const ProofBody mirrored{.proof = challenge.proof};
  EXPECT_EQ(accepting.OnProof(kKey, BytesOf(mirrored)), FrameFault::kBadProof);
  const ProofBody answer = Answer(connecting, challenge);
  EXPECT_EQ(FaultOf(connecting, {.nonce = challenge.nonce, .proof = answer.proof}),
            FrameFault::kBadProof);
}

/// The proof is for `sent`, and `arrived` is what the other end got in its place.
void ExpectBothRefuse(const ConnectingProof& sent, const FrameHeader& header,
                      std::vector<std::byte> arrived, const std::string& what) {
  FrameHeader sealed = header;
  SealFrame(sealed, arrived);
  const AcceptingProof accepting = *AcceptingProof::Of(sealed, arrived);
  const ChallengeBody challenge = accepting.Challenge(kKey);
  EXPECT_EQ(FaultOf(sent, challenge), FrameFault::kBadProof) << what;
  // As if the accepting end had proven itself to the connecting one.
  const ConnectingProof other{sealed, BytesOf(kHello)};
  EXPECT_EQ(accepting.OnProof(kKey, BytesOf(Answer(other, Accept(other).Challenge(kKey)))),
            FrameFault::kBadProof)
      << what;
}

TEST(StreamProofTest, NothingOfTheFirstFrameCanBeChanged) {
  const ConnectingProof sent = Opening();
  const std::vector<std::byte> payload(sent.payload().begin(), sent.payload().end());
  FrameHeader header = HelloHeader();
  header.source_worker = 3;
  ExpectBothRefuse(sent, header, payload, "source");
  for (std::uint64_t FrameHeader::*id :
       {&FrameHeader::job, &FrameHeader::epoch, &FrameHeader::superstep, &FrameHeader::sequence,
        &FrameHeader::group}) {
    header = HelloHeader();
    header.*id = 1;
    ExpectBothRefuse(sent, header, payload, "an id of the header");
  }
  header = HelloHeader();
  header.kind = static_cast<std::uint16_t>(FrameKind::kLane);
  ExpectBothRefuse(sent, header, payload, "kind");
  for (std::size_t i = 0; i < payload.size(); ++i) {
    std::vector<std::byte> changed = payload;
    changed[i] ^= std::byte{1};
    ExpectBothRefuse(sent, HelloHeader(), changed, "payload");
  }
}

TEST(StreamProofTest, EachBitOfAProofCounts) {
  const ConnectingProof connecting = Opening();
  const AcceptingProof accepting = Accept(connecting);
  const ChallengeBody challenge = accepting.Challenge(kKey);
  const ProofBody answer = Answer(connecting, challenge);
  for (std::size_t bit = 0; bit < 8 * sizeof answer.proof; ++bit) {
    ChallengeBody other_challenge = challenge;
    other_challenge.proof[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_EQ(FaultOf(connecting, other_challenge), FrameFault::kBadProof);
    ProofBody other_answer = answer;
    other_answer.proof[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_EQ(accepting.OnProof(kKey, BytesOf(other_answer)), FrameFault::kBadProof);
  }
}

TEST(StreamProofTest, WhatIsTruncatedIsMalformed) {
  const ConnectingProof connecting = Opening();
  EXPECT_FALSE(
      AcceptingProof::Of(HelloHeader(), connecting.payload().first(sizeof(StreamNonce) - 1)));
  EXPECT_FALSE(AcceptingProof::Of(HelloHeader(), {}));
  const std::vector<std::byte> too_long(connecting.payload().size() + 1);
  EXPECT_FALSE(AcceptingProof::Of(HelloHeader(), too_long));
  const AcceptingProof accepting = Accept(connecting);
  const ChallengeBody challenge = accepting.Challenge(kKey);
  ProofBody answer = Answer(connecting, challenge);
  EXPECT_EQ(accepting.OnProof(kKey, BytesOf(answer).first(31)), FrameFault::kMalformed);
  EXPECT_EQ(accepting.OnProof(kKey, {}), FrameFault::kMalformed);
  EXPECT_EQ(connecting.OnChallenge(kKey, BytesOf(challenge).first(63), answer),
            FrameFault::kMalformed);
}

}  // namespace
}  // namespace bspnow
