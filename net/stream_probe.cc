#include "net/stream_probe.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/packet.h"
#include "net/frame_check.h"

namespace bspnow {

StreamProbe::StreamProbe(EventLoop& loop, Resolver& resolver, StreamProbeOptions options, Done done)
    : loop_(loop), options_(std::move(options)), done_(std::move(done)) {
  resolver.Ask(options_.address, [this, alive = alive_](const Resolver::Answer& answer) {
    if (!*alive) return;
    if (!answer.ok()) return Finish(std::string(answer.status().message()));
    addresses_.assign(answer->rbegin(), answer->rend());
    Connect();
  });
}

StreamProbe::~StreamProbe() {
  *alive_ = false;
  loop_.CancelTimer(timer_);
}

void StreamProbe::Connect() {
  if (addresses_.empty()) return Finish(failure_);
  const SocketAddress address = addresses_.back();
  addresses_.pop_back();
  failure_ = absl::StrCat(address.ToString(), ": ");
  timer_ = loop_.AddTimer(options_.answer_ms, [this] { OnSilence(); });
  stream_ = std::make_unique<FrameStream>(
      loop_, address, options_.socket, options_.key,
      FrameStreamEvents{
          .frame = [this](const FrameHeader& header,
                          std::span<const std::byte> payload) { return OnFrame(header, payload); },
          .closed =
              [this](const absl::Status& reason) {
                GoOn(refusal_.empty() ? std::string(reason.message()) : refusal_);
              }});
  FrameHeader hello = HeaderOf(FrameKind::kHello);
  hello.source_worker = Value(options_.self);
  proven_ = false;
  filler_bytes_ = 0;
  proof_.emplace(hello, BytesOf(HelloBody{0, Value(options_.target), 0}));
  stream_->Send(proof_->header(), proof_->payload());
}

FrameFault StreamProbe::OnFrame(const FrameHeader& header, std::span<const std::byte> payload) {
  if (FrameKind{header.kind} == FrameKind::kChallenge) return OnChallenge(header, payload);
  if (FrameKind{header.kind} == FrameKind::kWelcome && proven_) {
    Finish("");
    return FrameFault::kNone;
  }
  if (FrameKind{header.kind} != FrameKind::kAbort) return FrameFault::kMalformed;
  refusal_ = absl::StrCat("refused: ", ReasonIn(payload));
  return FrameFault::kNone;
}

FrameFault StreamProbe::OnChallenge(const FrameHeader& challenge,
                                    std::span<const std::byte> payload) {
  if (proven_) return FrameFault::kMalformed;
  ProofBody answer;
  const FrameFault fault = proof_->OnChallenge(options_.key, payload, answer);
  if (fault != FrameFault::kNone) return fault;
  proven_ = true;
  FrameHeader header = HeaderOf(FrameKind::kProof);
  header.source_worker = Value(options_.self);
  filler_bytes_ = std::min<std::uint64_t>(challenge.sequence, kMoreThanAPacketBytes);
  std::vector<std::byte> proof(sizeof answer + filler_bytes_);
  std::memcpy(proof.data(), &answer, sizeof answer);
  stream_->Send(header, proof);
  return FrameFault::kNone;
}

void StreamProbe::OnSilence() {
  const double waited_s = static_cast<double>(options_.answer_ms) / 1000.0;
  if (filler_bytes_ == 0) return GoOn(absl::StrCat("no answer in ", waited_s, " s"));
  GoOn(absl::StrCat("small messages arrive, but one of ", filler_bytes_, " bytes has no answer in ",
                    waited_s,
                    " s: large packets may be lost on the way (see MTU in docs/operations.md)"));
}

void StreamProbe::GoOn(const std::string& failure) {
  loop_.CancelTimer(std::exchange(timer_, kNoTimer));
  stream_.reset();
  failure_ += failure;
  Connect();
}

// The stream may be reading just now.
void StreamProbe::Finish(const std::string& failure) {
  loop_.CancelTimer(std::exchange(timer_, kNoTimer));
  loop_.Post([this, alive = alive_, failure] {
    if (!*alive) return;
    stream_.reset();
    const Done done = done_;  // It may destroy this probe.
    done(failure);
  });
}

}  // namespace bspnow
