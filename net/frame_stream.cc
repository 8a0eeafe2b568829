#include "net/frame_stream.h"

#include <utility>

#include "base/check.h"

namespace bspnow {
namespace {

constexpr std::size_t kQueuedBytesMax = std::size_t{64} << 20;  // A peer that reads no more.

}  // namespace

FrameStream::FrameStream(EventLoop& loop, const SocketAddress& address,
                         const SocketOptions& options, const StreamKey& key,
                         FrameStreamEvents events)
    : loop_(loop), key_(key), events_(std::move(events)), reader_(static_cast<FrameSink&>(*this)) {
  absl::StatusOr<UniqueFd> fd = BeginConnect(address, options);
  if (!fd.ok()) {
    Fail(fd.status());
    return;
  }
  fd_ = *std::move(fd);
  BSP_CHECK(loop_.OnWritable(fd_.get(), [this] { OnConnected(); }));
}

FrameStream::FrameStream(EventLoop& loop, UniqueFd connected, const StreamKey& key,
                         FrameStreamEvents events)
    : loop_(loop),
      key_(key),
      fd_(std::move(connected)),
      tls_(StreamTls::Of(key, StreamTls::End::kAccepts, fd_.get())),
      events_(std::move(events)),
      reader_(static_cast<FrameSink&>(*this)),
      connected_(true) {
  loop_.OnReadable(fd_.get(), [this] { OnReadable(); });
}

FrameStream::~FrameStream() {
  *alive_ = false;
  Shut();
}

void FrameStream::OnConnected() {
  if (const absl::Status status = ConnectError(fd_.get()); !status.ok()) return Fail(status);
  connected_ = true;
  tls_ = StreamTls::Of(key_, StreamTls::End::kConnects, fd_.get());
  loop_.StopWriting(fd_.get());
  loop_.OnReadable(fd_.get(), [this] { OnReadable(); });
  if (events_.connected) events_.connected();
  Write();
}

void FrameStream::Send(const FrameHeader& header, std::span<const std::byte> payload) {
  if (!open()) return;
  writer_.Push(header, payload, {});
  if (writer_.queued_bytes() > kQueuedBytesMax) {
    Fail(absl::ResourceExhaustedError("the peer does not read"));
  } else if (connected_ && !writing_) {
    Write();
  }
}

void FrameStream::Write() {
  if (!open()) return;
  if (const absl::Status status = writer_.Write(fd_.get(), tls_.get()); !status.ok())
    return Fail(status);
  const bool blocked = !writer_.empty();
  if (blocked == writing_) return;
  writing_ = blocked;
  if (blocked) {
    BSP_CHECK(loop_.OnWritable(fd_.get(), [this] { Write(); }));
  } else {
    loop_.StopWriting(fd_.get());
  }
}

void FrameStream::OnReadable() {
  const absl::Status status = reader_.Read(fd_.get(), tls_.get());
  if (!open() || status.ok()) return;
  if (reader_.fault() == FrameFault::kInClear) SendReason(FaultText(FrameFault::kInClear));
  Fail(status);
}

std::span<std::byte> FrameStream::Place(const FrameHeader&, std::span<const std::byte>) {
  return {};
}

FrameFault FrameStream::OnFrame(const Frame& frame) {
  return events_.frame(frame.header, frame.payload);
}

void FrameStream::Close(const std::string& reason) {
  events_.closed = nullptr;  // It may have been posted already.
  if (!open()) return;
  if (connected_) SendReason(reason);
  Shut();
}

void FrameStream::SendReason(const std::string& reason) {
  writer_.Push(HeaderOf(FrameKind::kAbort), std::as_bytes(std::span(reason)), {});
  writer_.Write(fd_.get(), tls_.get()).IgnoreError();  // It is closed anyway.
}

void FrameStream::Shut() {
  reader_.Stop();
  if (!fd_.valid()) return;
  loop_.Forget(fd_.get());
  fd_.Reset();
}

void FrameStream::Fail(const absl::Status& reason) {
  Shut();
  loop_.Post([this, alive = alive_, reason] {
    if (!*alive) return;
    const auto closed = events_.closed;  // It may destroy this stream.
    if (closed) closed(reason);
  });
}

}  // namespace bspnow
