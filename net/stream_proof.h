// How both ends of a new connection prove to each other that they have a key: the cluster's, and
// for a lane its job's, too. The connecting end opens with its first frame (Hello or kLane) and a
// nonce; the accepting one answers with its own nonce and its proof (ChallengeBody); then the
// connecting one sends its proof (ProofBody). Pure: frames and their payloads go in, payloads come
// out.
//
// A proof is the MAC of which end gives it, of the whole first frame, and of both nonces. So it
// holds for one connection only, between these two, for what they want there: it can neither be
// repeated nor be sent back to who made it. A stream carries the frames of many jobs: before those
// of each it brings a proof of the job's key, over the same and the job's epoch (kJobProof).
//
// See "Proofs" in docs/design.md.
#ifndef NET_STREAM_PROOF_H_
#define NET_STREAM_PROOF_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/packet.h"
#include "net/frame.h"
#include "net/frame_check.h"
#include "net/stream_key.h"

namespace bspnow {

/// Of each frame before the connecting end has proven the key: a probe's proof is the longest. Who
/// accepts keeps no more for somebody who may be a stranger.
inline constexpr std::uint32_t kUnprovenPayloadBytesMax = sizeof(ProofBody) + kMoreThanAPacketBytes;

/// What a job's lanes are proven with: who opens one must have both.
StreamKey KeyOfLanes(const StreamKey& cluster, const StreamKey& job);

/// The connecting end of one connection.
class ConnectingProof {
 public:
  /// Of a connection whose first frame has this header and body. Draws the nonce.
  ConnectingProof(const FrameHeader& header, std::span<const std::byte> body);

  /// The first frame: send the header with this payload.
  const FrameHeader& header() const { return header_; }
  std::span<const std::byte> payload() const { return payload_; }

  /// The payload of kChallenge. Without a fault the accepting end has the key, and is the one that
  /// the first frame was for: `answer` is what it is to get, as kProof. Nothing else may be sent
  /// there before.
  FrameFault OnChallenge(const StreamKey& key, std::span<const std::byte> payload,
                         ProofBody& answer) const;

  /// The payload of kJobProof, with this header; `challenge` is the one of this connection.
  ProofBody ProveJob(const StreamKey& job_key, const FrameHeader& header,
                     const StreamNonce& challenge) const;

 private:
  FrameHeader header_;  ///< As it is on the wire.
  std::vector<std::byte> payload_;
};

/// The accepting end of one connection.
class AcceptingProof {
 public:
  /// Nothing if this is not the payload of a first frame.
  static std::optional<AcceptingProof> Of(const FrameHeader& header,
                                          std::span<const std::byte> payload);

  const FrameHeader& header() const { return header_; }
  /// HelloBody or LaneBody, if its length is right.
  std::span<const std::byte> body() const;
  /// The worker that it is for; nothing if the length is wrong.
  std::optional<std::uint32_t> target() const;

  /// Whether it only looks for an answer: then filler follows its ProofBody, as kChallenge asks.
  bool IsProbe() const;

  /// The answer; `key` must not be empty. Only to who asks for this end and no other one: it is a
  /// proof.
  FrameHeader ChallengeHeader() const;
  ChallengeBody Challenge(const StreamKey& key) const;

  /// The payload of kProof. Without a fault the connecting end has the key, and its first frame may
  /// be acted upon.
  FrameFault OnProof(const StreamKey& key, std::span<const std::byte> payload) const;

  /// Whether the connecting end has the key of a job's epoch: kJobProof's header and payload. After
  /// OnProof.
  bool ProvesJob(const StreamKey& job_key, const FrameHeader& header, const ProofBody& proof) const;

 private:
  AcceptingProof(const FrameHeader& header, std::span<const std::byte> payload);

  FrameHeader header_;
  std::vector<std::byte> payload_;
  StreamNonce nonce_;
};

}  // namespace bspnow

#endif  // NET_STREAM_PROOF_H_
