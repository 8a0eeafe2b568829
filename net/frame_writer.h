// A queue of frames for one non-blocking socket, written with scatter/gather: headers and small
// payloads lie in the queue, large payloads are sent from where they are. Pure but for sendmsg.
#ifndef NET_FRAME_WRITER_H_
#define NET_FRAME_WRITER_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "net/frame.h"
#include "net/stream_tls.h"

namespace bspnow {

using Pieces = absl::InlinedVector<iovec, 2>;

class FrameWriter {
 public:
  /// Seals the frame and puts it at the end of the queue. Its payload is `owned`, which is copied,
  /// then `pieces`, which must stay as they are until the frame is written or OwnAll is called.
  void Push(FrameHeader header, std::span<const std::byte> owned, std::span<const iovec> pieces);

  /// Writes as much as the socket takes; by `tls` if there is one.
  absl::Status Write(int fd, StreamTls* tls);

  bool empty() const { return queue_.empty(); }

  /// Not yet taken by the socket.
  std::size_t queued_bytes() const { return queued_bytes_; }

  /// Frames that the socket has taken whole, ever.
  std::uint64_t frames_written() const { return frames_written_; }
  std::uint64_t bytes_written() const { return bytes_written_; }

  /// Copies the parts that still lie in memory of others, because that is about to go.
  void OwnAll();

  /// For a new connection: the queue is forgotten.
  void Clear();

 private:
  struct Item {
    absl::InlinedVector<std::byte, 192> head;  ///< Header and owned payload.
    Pieces pieces;
    std::size_t bytes = 0;
  };

  std::size_t Gather(std::span<iovec> out) const;
  void Written(std::size_t bytes);

  std::deque<Item> queue_;
  std::size_t front_written_ = 0;  ///< Of the first item.
  std::size_t queued_bytes_ = 0;
  std::uint64_t frames_written_ = 0;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace bspnow

#endif  // NET_FRAME_WRITER_H_
