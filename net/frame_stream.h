// A connection that carries frames both ways and resends nothing: worker and coordinator. Sending
// tries the socket at once; what it does not take is queued.
#ifndef NET_FRAME_STREAM_H_
#define NET_FRAME_STREAM_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "net/event_loop.h"
#include "net/frame.h"
#include "net/frame_check.h"
#include "net/frame_reader.h"
#include "net/frame_writer.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/stream_tls.h"

namespace bspnow {

struct FrameStreamEvents {
  /// Connected (not called for accepted connections).
  std::function<void()> connected = nullptr;

  /// A frame came, its checksums are right. Returning kMalformed closes the stream.
  std::function<FrameFault(const FrameHeader& header, std::span<const std::byte> payload)> frame =
      nullptr;

  /// The last event, also of a connection that could not be made; never from inside Send, and not
  /// after Close. DATA_LOSS names the fault of a frame, see fault(). The stream may be destroyed
  /// here (and in no other of its callbacks).
  std::function<void(const absl::Status& reason)> closed = nullptr;
};

class FrameStream final : private FrameSink {
 public:
  /// Begins to connect. With TLS if `key` encrypts; it is the caller's, and stays.
  FrameStream(EventLoop& loop, const SocketAddress& address, const SocketOptions& options,
              const StreamKey& key, FrameStreamEvents events);

  /// A connection that was accepted.
  FrameStream(EventLoop& loop, UniqueFd connected, const StreamKey& key, FrameStreamEvents events);

  /// Closes without a word; no event follows.
  ~FrameStream();

  /// Sends at once, or queues what the socket does not take (also before it is connected). Fills
  /// in magic, version, payload_bytes and the checksums. Does nothing once closed.
  void Send(const FrameHeader& header, std::span<const std::byte> payload);

  /// Sends the peer the reason (kAbort) if the socket takes it, and closes; `closed` is not called.
  void Close(const std::string& reason);

  /// As of FrameReader.
  void LimitPayloads(std::uint32_t bytes_max) { reader_.LimitPayloads(bytes_max); }

  bool open() const { return fd_.valid(); }
  bool connected() const { return connected_; }
  std::size_t queued_bytes() const { return writer_.queued_bytes(); }
  FrameFault fault() const { return reader_.fault(); }
  std::uint64_t bytes_read() const { return reader_.bytes_read(); }
  std::uint64_t bytes_written() const { return writer_.bytes_written(); }

 private:
  std::span<std::byte> Place(const FrameHeader& header, std::span<const std::byte> prefix) override;
  FrameFault OnFrame(const Frame& frame) override;

  void OnConnected();
  void OnReadable();
  void Write();
  void Fail(const absl::Status& reason);
  void SendReason(const std::string& reason);
  void Shut();

  EventLoop& loop_;
  const StreamKey& key_;
  UniqueFd fd_;
  std::unique_ptr<StreamTls> tls_;  ///< Once connected, if the key encrypts.
  FrameStreamEvents events_;
  FrameReader reader_;
  FrameWriter writer_;
  bool connected_ = false;
  bool writing_ = false;                                        ///< Waits for writability.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is posted.
};

}  // namespace bspnow

#endif  // NET_FRAME_STREAM_H_
