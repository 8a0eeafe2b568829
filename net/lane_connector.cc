#include "net/lane_connector.h"

#include <absl/strings/escaping.h>
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

constexpr std::size_t kReasonBytesMax = 256;

/// The only frame that is sent.
struct LaneRequest {
  FrameHeader header;
  LaneBody body;
};
static_assert(sizeof(LaneRequest) == sizeof(FrameHeader) + sizeof(LaneBody));

LaneRequest RequestOf(const LaneConnectorOptions& options) {
  LaneRequest request{.header = HeaderOf(FrameKind::kLane),
                      .body = {.target = Value(options.target), .reserved = 0}};
  request.header.job = Value(options.job);
  request.header.epoch = Value(options.epoch);
  request.header.source_worker = Value(options.self);
  SealFrame(request.header, BytesOf(request.body));
  return request;
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

// The request is shorter than any socket's buffer.
void LaneConnector::OnConnected() {
  const absl::Status status = ConnectError(fd_.get());
  if (!status.ok()) return GoOn(std::string(status.message()));
  loop_.StopWriting(fd_.get());
  const LaneRequest request = RequestOf(options_);
  if (send(fd_.get(), &request, sizeof request, MSG_NOSIGNAL) != ssize_t{sizeof request})
    return GoOn(std::string(SystemError("sending", errno).message()));
  answer_bytes_ = 0;
  loop_.OnReadable(fd_.get(), [this] { OnReadable(); });
}

void LaneConnector::OnReadable() {
  auto* const place = reinterpret_cast<std::byte*>(&answer_);
  const ssize_t n =
      recv(fd_.get(), place + answer_bytes_, sizeof answer_ - answer_bytes_, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) return GoOn(std::string(SystemError("reading", errno).message()));
  if (n == 0) return GoOn("closed by the peer");
  answer_bytes_ += static_cast<std::size_t>(n);
  if (answer_bytes_ == sizeof answer_) OnAnswer();
}

void LaneConnector::OnAnswer() {
  const FrameFault fault = CheckHeader(answer_);
  if (fault != FrameFault::kNone) return GoOn(FaultName(fault));
  if (FrameKind{answer_.kind} == FrameKind::kAbort) return GoOn(ReadReason());
  if (FrameKind{answer_.kind} != FrameKind::kWelcome || answer_.payload_bytes != 0)
    return GoOn(FaultName(FrameFault::kMalformed));
  loop_.Forget(fd_.get());
  Finish();
}

// As much as came with the header: it is one short frame.
std::string LaneConnector::ReadReason() {
  char text[kReasonBytesMax];
  const std::size_t room = std::min<std::size_t>(sizeof text, answer_.payload_bytes);
  const ssize_t n = recv(fd_.get(), text, room, MSG_DONTWAIT);
  const std::string reason(text, static_cast<std::size_t>(std::max(n, ssize_t{0})));
  return absl::StrCat("refused: ", absl::CHexEscape(reason));
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
