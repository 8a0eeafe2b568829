// Fuzzes the frames that open a connection: what comes from a peer that does not have the key. It
// has seen a handshake of others, and may send any part of it.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "net/stream_proof.h"

namespace bspnow {
namespace {

const StreamKey& Key() {
  static const StreamKey key = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));
  return key;
}

/// Noise, or something that was seen.
std::vector<std::byte> Payload(FuzzedDataProvider& input, std::span<const std::byte> seen) {
  if (input.ConsumeBool()) return {seen.begin(), seen.end()};
  const std::vector<std::uint8_t> noise = input.ConsumeBytes<std::uint8_t>(100);
  const auto bytes = std::as_bytes(std::span(noise));
  return {bytes.begin(), bytes.end()};
}

void Run(FuzzedDataProvider& input) {
  const HelloBody hello{.incarnation = 5, .target = 2, .term = 0};
  const ConnectingProof connecting(HeaderOf(FrameKind::kHello), BytesOf(hello));
  const auto accepting = AcceptingProof::Of(connecting.header(), connecting.payload());
  const ChallengeBody challenge = accepting->Challenge(Key());
  ProofBody proof;
  BSP_CHECK(connecting.OnChallenge(Key(), BytesOf(challenge), proof) == FrameFault::kNone);

  FrameHeader header = connecting.header();
  header.kind = input.ConsumeIntegral<std::uint16_t>();
  const std::vector<std::byte> opening = Payload(input, connecting.payload());
  if (const auto other = AcceptingProof::Of(header, opening)) {
    BSP_CHECK_OP(other->body().size() + sizeof(StreamNonce), ==, opening.size());
    const std::vector<std::byte> answer = Payload(input, BytesOf(proof));
    BSP_CHECK(other->OnProof(Key(), answer) != FrameFault::kNone);
  }
  const ConnectingProof later(connecting.header(), BytesOf(hello));
  const std::vector<std::byte> answer = Payload(input, BytesOf(challenge));
  BSP_CHECK(later.OnChallenge(Key(), answer, proof) != FrameFault::kNone);
}

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  FuzzedDataProvider input(data, bytes);
  bspnow::Run(input);
  return 0;
}
