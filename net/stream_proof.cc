#include "net/stream_proof.h"

#include <array>
#include <string_view>

#include "base/check.h"
#include "base/packet.h"
#include "net/frame_body.h"

namespace bspnow {
namespace {

constexpr std::size_t kOpeningBytesMax = sizeof(HelloBody) + sizeof(StreamNonce);
static_assert(sizeof(LaneBody) <= sizeof(HelloBody));

constexpr std::string_view kConnectingEnd = "bspnow stream: connecting end";
constexpr std::string_view kAcceptingEnd = "bspnow stream: accepting end ";
constexpr std::string_view kJobsFrames = "bspnow stream: job's frames  ";
static_assert(kConnectingEnd.size() == kAcceptingEnd.size());
static_assert(kConnectingEnd.size() == kJobsFrames.size());

struct Opening {
  const FrameHeader& header;  ///< As it is on the wire.
  std::span<const std::byte> payload;
};

// Each part has a length that those before it settle, so no two texts are alike.
StreamMac MacOf(const StreamKey& key, std::string_view end, const Opening& opening,
                const StreamNonce& accepting_nonce, std::span<const std::byte> more = {}) {
  std::vector<std::byte> text;
  for (const std::span<const std::byte> part :
       {std::as_bytes(std::span(end)), BytesOf(opening.header), opening.payload,
        std::span<const std::byte>(accepting_nonce), more})
    text.insert(text.end(), part.begin(), part.end());
  return key.MacOf(text);
}

StreamMac MacOfJob(const StreamKey& job_key, const FrameHeader& header, const Opening& opening,
                   const StreamNonce& accepting_nonce) {
  const std::array<std::uint64_t, 2> epoch = {header.job, header.epoch};
  return MacOf(job_key, kJobsFrames, opening, accepting_nonce, BytesOf(epoch));
}

}  // namespace

StreamKey KeyOfLanes(const StreamKey& cluster, const StreamKey& job) {
  BSP_CHECK(!job.empty());
  return cluster.For("bspnow lanes " + job.bytes());
}

// ---- The connecting end -------------------------------------------------------------------------

ConnectingProof::ConnectingProof(const FrameHeader& header, std::span<const std::byte> body)
    : payload_(body.begin(), body.end()) {
  StreamNonce nonce;
  FillRandom(nonce);
  payload_.insert(payload_.end(), nonce.begin(), nonce.end());
  header_ = header;
  SealFrame(header_, payload_);
}

FrameFault ConnectingProof::OnChallenge(const StreamKey& key, std::span<const std::byte> payload,
                                        ProofBody& answer) const {
  const std::optional<ChallengeBody> challenge = BodyFrom<ChallengeBody>(payload);
  if (!challenge.has_value()) return FrameFault::kMalformed;
  const Opening opening{.header = header_, .payload = payload_};
  if (key.empty() ||
      !SameSecret(challenge->proof, MacOf(key, kAcceptingEnd, opening, challenge->nonce)))
    return FrameFault::kBadProof;
  answer.proof = MacOf(key, kConnectingEnd, opening, challenge->nonce);
  return FrameFault::kNone;
}

ProofBody ConnectingProof::ProveJob(const StreamKey& job_key, const FrameHeader& header,
                                    const StreamNonce& challenge) const {
  const Opening opening{.header = header_, .payload = payload_};
  return {.proof = MacOfJob(job_key, header, opening, challenge)};
}

// ---- The accepting end --------------------------------------------------------------------------

std::optional<AcceptingProof> AcceptingProof::Of(const FrameHeader& header,
                                                 std::span<const std::byte> payload) {
  if (payload.size() < sizeof(StreamNonce) || payload.size() > kOpeningBytesMax)
    return std::nullopt;
  return AcceptingProof(header, payload);
}

AcceptingProof::AcceptingProof(const FrameHeader& header, std::span<const std::byte> payload)
    : header_(header), payload_(payload.begin(), payload.end()) {
  FillRandom(nonce_);
}

std::span<const std::byte> AcceptingProof::body() const {
  return std::span(payload_).first(payload_.size() - sizeof(StreamNonce));
}

std::optional<std::uint32_t> AcceptingProof::target() const {
  if (FrameKind{header_.kind} == FrameKind::kLane) {
    const auto lane = BodyFrom<LaneBody>(body());
    return lane.has_value() ? std::optional(lane->target) : std::nullopt;
  }
  const auto hello = BodyFrom<HelloBody>(body());
  return hello.has_value() ? std::optional(hello->target) : std::nullopt;
}

bool AcceptingProof::IsProbe() const {
  const auto hello = BodyFrom<HelloBody>(body());
  return FrameKind{header_.kind} == FrameKind::kHello && hello.has_value() &&
         hello->incarnation == 0;
}

FrameHeader AcceptingProof::ChallengeHeader() const {
  FrameHeader header = HeaderOf(FrameKind::kChallenge);
  if (IsProbe()) header.sequence = kMoreThanAPacketBytes;
  return header;
}

ChallengeBody AcceptingProof::Challenge(const StreamKey& key) const {
  const Opening opening{.header = header_, .payload = payload_};
  return {.nonce = nonce_, .proof = MacOf(key, kAcceptingEnd, opening, nonce_)};
}

FrameFault AcceptingProof::OnProof(const StreamKey& key, std::span<const std::byte> payload) const {
  const std::optional<ProofBody> proof = BodyAtStart<ProofBody>(payload);
  const std::size_t filler_bytes_max = IsProbe() ? kMoreThanAPacketBytes : 0;
  if (!proof.has_value() || payload.size() > sizeof *proof + filler_bytes_max)
    return FrameFault::kMalformed;
  const Opening opening{.header = header_, .payload = payload_};
  if (key.empty() || !SameSecret(proof->proof, MacOf(key, kConnectingEnd, opening, nonce_)))
    return FrameFault::kBadProof;
  return FrameFault::kNone;
}

bool AcceptingProof::ProvesJob(const StreamKey& job_key, const FrameHeader& header,
                               const ProofBody& proof) const {
  const Opening opening{.header = header_, .payload = payload_};
  return SameSecret(proof.proof, MacOfJob(job_key, header, opening, nonce_));
}

}  // namespace bspnow
