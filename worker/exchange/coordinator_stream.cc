#include "worker/exchange/coordinator_stream.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "net/frame_body.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kBackoffMsMin = 10;
constexpr std::uint64_t kBackoffMsMax = 250;  // Jobs wait for a coordinator that was restarted.

}  // namespace

CoordinatorStream::CoordinatorStream(EventLoop& loop, Resolver& resolver,
                                     CoordinatorStreamPlan plan, CoordinatorStreamOwner& owner)
    : loop_(loop),
      resolver_(resolver),
      plan_(std::move(plan)),
      owner_(owner),
      backoff_ms_(kBackoffMsMin) {
  Connect();
  beat_ = loop_.AddTimer(plan_.heartbeat_ms, [this] { Beat(); });
}

CoordinatorStream::~CoordinatorStream() {
  *alive_ = false;
  loop_.CancelTimer(beat_);
  loop_.CancelTimer(retry_);
}

void CoordinatorStream::AskForAddresses() {
  const auto unresolved = [this](const absl::Status& status) {
    spdlog::info("event=coordinator_unresolved address={} reason=\"{}\"", plan_.address,
                 std::string(status.message()));
    RetryLater();
  };
  const absl::StatusOr<HostPort> host_port = ParseHostPort(plan_.address);
  if (!host_port.ok()) return unresolved(host_port.status());
  resolver_.Ask(*host_port, [this, alive = alive_, unresolved](const Resolver::Answer& answer) {
    if (!*alive) return;
    if (!answer.ok()) return unresolved(answer.status());
    addresses_.assign(answer->rbegin(), answer->rend());
    Connect();
  });
}

// To the next address of the coordinator, of those that were found at a time.
void CoordinatorStream::Connect() {
  if (addresses_.empty()) return AskForAddresses();
  const SocketAddress address = addresses_.back();
  addresses_.pop_back();
  const std::uint64_t connection = ++connection_;
  proof_.reset();
  proven_ = false;
  welcomed_ = false;
  unanswered_ns_ = NowNs();
  stream_ = std::make_unique<FrameStream>(
      loop_, address, plan_.socket, plan_.key,
      FrameStreamEvents{
          .connected = [this] { SayHello(); },
          .frame =
              [this, connection](const FrameHeader& header, std::span<const std::byte> payload) {
                return OnFrame(connection, header, payload);
              },
          .closed = [this,
                     connection](const absl::Status& reason) { OnClosed(connection, reason); }});
}

void CoordinatorStream::ReplaceIfSilent() {
  if (!stream_ || unanswered_ns_ == 0 || NowNs() - unanswered_ns_ < plan_.silent_ms * kNsPerMs)
    return;
  spdlog::warn("event=coordinator_silent address={} ms={}", plan_.address, plan_.silent_ms);
  if (welcomed_) silent_ = std::move(stream_);
  stream_.reset();
  Connect();
}

void CoordinatorStream::SayHello() {
  FrameHeader header = HeaderOf(FrameKind::kHello);
  header.source_worker = Value(plan_.self);
  const HelloBody hello{.incarnation = plan_.incarnation,
                        .target = 0,
                        .term = static_cast<std::uint32_t>(plan_.term)};
  proof_.emplace(header, BytesOf(hello));
  stream_->Send(proof_->header(), proof_->payload());
}

FrameFault CoordinatorStream::OnChallenge(std::uint64_t connection,
                                          std::span<const std::byte> payload) {
  if (connection != connection_ || proven_ || !proof_.has_value()) return FrameFault::kMalformed;
  ProofBody answer;
  const FrameFault fault = proof_->OnChallenge(plan_.proof_key, payload, answer);
  if (fault != FrameFault::kNone) return fault;
  proven_ = true;
  connects_ += 1;
  Send(HeaderOf(FrameKind::kProof), BytesOf(answer));
  SendHeartbeat();
  spdlog::info("event=coordinator_connected address={}", plan_.address);
  owner_.OnCoordinatorConnected();
  return FrameFault::kNone;
}

void CoordinatorStream::OnWelcome(std::uint64_t connection) {
  if (connection != connection_) return;
  backoff_ms_ = kBackoffMsMin;
  fault_.clear();
  addresses_.clear();  // A later connection asks anew.
  welcomed_ = true;
  unanswered_ns_ = 0;
  silent_.reset();
}

FrameFault CoordinatorStream::OnFrame(std::uint64_t connection, const FrameHeader& header,
                                      std::span<const std::byte> payload) {
  if (FrameKind{header.kind} == FrameKind::kChallenge) return OnChallenge(connection, payload);
  if (FrameKind{header.kind} == FrameKind::kAbort) return FrameFault::kNone;  // The end follows.
  if (connection == connection_ && !proven_) return FrameFault::kMalformed;
  switch (FrameKind{header.kind}) {
    case FrameKind::kWelcome:
      OnWelcome(connection);
      return FrameFault::kNone;
    case FrameKind::kLease: {
      const std::optional<HeartbeatBody> body = BodyFrom<HeartbeatBody>(payload);
      if (!body.has_value()) return FrameFault::kMalformed;
      if (connection == connection_) unanswered_ns_ = 0;
      owner_.OnLeaseRenewed(body->sent_ns);
      return FrameFault::kNone;
    }
    default:
      return owner_.OnCoordinatorFrame(header, payload);
  }
}

void CoordinatorStream::OnClosed(std::uint64_t connection, const absl::Status& reason) {
  if (connection != connection_) return silent_.reset();
  if (reason.message() != fault_) {
    fault_ = std::string(reason.message());
    spdlog::info("event=coordinator_connection_broken reason=\"{}\"", fault_);
  }
  stream_.reset();
  RetryLater();
}

void CoordinatorStream::RetryLater() {
  retry_ = loop_.AddTimer(backoff_ms_, [this] { Connect(); });
  backoff_ms_ = std::min(2 * backoff_ms_, kBackoffMsMax);
}

void CoordinatorStream::Send(FrameHeader header, std::span<const std::byte> payload) {
  FrameStream* const stream = stream_ && proven_ ? stream_.get() : silent_.get();
  if (stream == nullptr) return;
  header.source_worker = Value(plan_.self);
  stream->Send(header, payload);
}

void CoordinatorStream::RenewLease(std::uint64_t every_ms) {
  plan_.heartbeat_ms = every_ms;
  loop_.CancelTimer(beat_);
  Beat();
}

void CoordinatorStream::Beat() {
  ReplaceIfSilent();
  SendHeartbeat();
  beat_ = loop_.AddTimer(plan_.heartbeat_ms, [this] { Beat(); });
}

void CoordinatorStream::SendHeartbeat() {
  const HeartbeatBody body{.sent_ns = NowNs()};
  if (unanswered_ns_ == 0) unanswered_ns_ = body.sent_ns;
  Send(HeaderOf(FrameKind::kHeartbeat), BytesOf(body));
}

}  // namespace bspnow::worker
