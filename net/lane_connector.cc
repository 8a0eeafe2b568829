#include "net/lane_connector.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "net/frame_check.h"

namespace bspnow {
namespace {

ConnectingProof RequestOf(const LaneConnectorOptions& options) {
  FrameHeader header = HeaderOf(FrameKind::kLane);
  header.job = Value(options.job);
  header.epoch = Value(options.epoch);
  header.source_worker = Value(options.self);
  return {header, BytesOf(LaneBody{.target = Value(options.target), .number = options.number})};
}

}  // namespace

LaneConnector::LaneConnector(EventLoop& loop, Resolver& resolver, LaneConnectorOptions options,
                             Done done)
    : loop_(loop), options_(std::move(options)), done_(std::move(done)) {
  resolver.Ask(options_.address, [this, alive = alive_](const Resolver::Answer& answer) {
    if (!*alive) return;
    if (answer.ok()) {
      addresses_.assign(answer->rbegin(), answer->rend());
    } else {
      failure_ = std::string(answer.status().message());
    }
    Connect();
  });
}

LaneConnector::~LaneConnector() {
  *alive_ = false;
  Shut();
}

void LaneConnector::Shut() {
  loop_.CancelTimer(std::exchange(timer_, kNoTimer));
  if (!fd_.valid()) return;
  loop_.Forget(fd_.get());
  fd_.Reset();
}

void LaneConnector::Connect() {
  if (addresses_.empty()) return Finish();
  const SocketAddress address = addresses_.back();
  addresses_.pop_back();
  failure_ = absl::StrCat(address.ToString(), ": ");
  absl::StatusOr<UniqueFd> fd = BeginConnect(address, options_.socket);
  if (!fd.ok()) return GoOn(std::string(fd.status().message()));
  fd_ = *std::move(fd);
  timer_ = loop_.AddTimer(options_.answer_ms, [this] {
    GoOn(absl::StrCat("no answer in ", options_.answer_ms / 1000.0, " s"));
  });
  BSP_CHECK(loop_.OnWritable(fd_.get(), [this] { OnConnected(); }));
}

void LaneConnector::OnConnected() {
  const absl::Status status = ConnectError(fd_.get());
  if (!status.ok()) return GoOn(std::string(status.message()));
  loop_.StopWriting(fd_.get());
  answer_bytes_ = 0;
  proven_ = false;
  proof_.emplace(RequestOf(options_));
  loop_.OnReadable(fd_.get(), [this] { OnReadable(); });
  SendFrame(proof_->header(), proof_->payload());
}

// Both frames together are shorter than any socket's buffer.
void LaneConnector::SendFrame(const FrameHeader& header, std::span<const std::byte> payload) {
  FrameHeader sealed = header;
  SealFrame(sealed, payload);
  std::vector<std::byte> frame(sizeof sealed);
  memcpy(frame.data(), &sealed, sizeof sealed);
  frame.insert(frame.end(), payload.begin(), payload.end());
  const ssize_t sent = send(fd_.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(frame.size()))
    GoOn(std::string(SystemError("sending", errno).message()));
}

// A header, and after that of kChallenge its payload.
void LaneConnector::OnReadable() {
  const bool in_header = answer_bytes_ < sizeof answer_;
  const auto place = in_header ? std::as_writable_bytes(std::span(&answer_, 1))
                               : std::as_writable_bytes(std::span(&challenge_, 1));
  const auto rest = place.subspan(in_header ? answer_bytes_ : answer_bytes_ - sizeof answer_);
  const ssize_t n = recv(fd_.get(), rest.data(), rest.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) return GoOn(std::string(SystemError("reading", errno).message()));
  if (n == 0) return GoOn("closed by the peer");
  answer_bytes_ += static_cast<std::size_t>(n);
  if (static_cast<std::size_t>(n) < rest.size()) return;
  if (in_header) return OnHeader();
  OnChallenge();
}

void LaneConnector::OnHeader() {
  const FrameFault fault = CheckHeader(answer_);
  if (fault != FrameFault::kNone) return GoOn(FaultName(fault));
  const FrameKind kind{answer_.kind};
  if (kind == FrameKind::kAbort) return GoOn(ReadReason());
  if (kind == FrameKind::kChallenge && !proven_ && answer_.payload_bytes == sizeof challenge_)
    return;
  if (kind != FrameKind::kWelcome || !proven_ || answer_.payload_bytes != 0)
    return GoOn(FaultName(FrameFault::kMalformed));
  loop_.Forget(fd_.get());
  Finish();
}

void LaneConnector::OnChallenge() {
  ProofBody answer;
  FrameFault fault = CheckPayload(answer_, BytesOf(challenge_));
  if (fault == FrameFault::kNone)
    fault = proof_->OnChallenge(options_.key, BytesOf(challenge_), answer);
  if (fault == FrameFault::kBadProof)
    return GoOn("does not prove the key of the job, which may not have begun there");
  if (fault != FrameFault::kNone) return GoOn(FaultText(fault));
  proven_ = true;
  answer_bytes_ = 0;
  FrameHeader header = HeaderOf(FrameKind::kProof);
  header.source_worker = Value(options_.self);
  SendFrame(header, BytesOf(answer));
}

// As much as came with the header: it is one short frame.
std::string LaneConnector::ReadReason() {
  std::byte text[kReasonBytesMax];
  const std::size_t room = std::min<std::size_t>(sizeof text, answer_.payload_bytes);
  const ssize_t n = recv(fd_.get(), text, room, MSG_DONTWAIT);
  const auto bytes = static_cast<std::size_t>(std::max(n, ssize_t{0}));
  return absl::StrCat("refused: ", ReasonIn(std::span(text).first(bytes)));
}

void LaneConnector::GoOn(const std::string& failure) {
  Shut();
  failure_ += failure;
  Connect();
}

void LaneConnector::Finish() {
  loop_.CancelTimer(std::exchange(timer_, kNoTimer));
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    const Done done = done_;  // It may destroy this connector.
    if (fd_.valid()) return done(std::move(fd_));
    done(absl::UnavailableError(failure_));
  });
}

}  // namespace bspnow
