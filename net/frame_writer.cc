#include "net/frame_writer.h"

#include <absl/status/statusor.h>
#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "net/frame_check.h"
#include "net/socket.h"

namespace bspnow {
namespace {

constexpr std::size_t kPiecesAtOnce = 64;
constexpr std::size_t kFramePiecesMax = 16;

// 0: the socket takes nothing now.
absl::StatusOr<std::size_t> SendInClear(int fd, std::span<const iovec> pieces) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  for (;;) {
    const ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) return SystemError("writing", errno);
  }
}

}  // namespace

void FrameWriter::Push(FrameHeader header, std::span<const std::byte> owned,
                       std::span<const iovec> pieces) {
  BSP_CHECK_OP(pieces.size(), <=, kFramePiecesMax);
  std::array<iovec, kFramePiecesMax + 1> payload;
  payload[0] = PieceOf(owned);
  std::copy(pieces.begin(), pieces.end(), payload.begin() + 1);
  SealFrame(header, std::span<const iovec>(payload).first(pieces.size() + 1));

  Item& item = queue_.emplace_back();
  const std::span<const std::byte> head = BytesOf(header);
  item.head.reserve(head.size() + owned.size());
  item.head.insert(item.head.end(), head.begin(), head.end());
  item.head.insert(item.head.end(), owned.begin(), owned.end());
  item.pieces.assign(pieces.begin(), pieces.end());
  item.bytes = sizeof header + header.payload_bytes;
  queued_bytes_ += item.bytes;
}

std::size_t FrameWriter::Gather(std::span<iovec> out) const {
  std::size_t n = 0;
  std::size_t skip = front_written_;
  const auto add = [&](std::span<const std::byte> bytes) {
    const std::size_t skipped = std::min(skip, bytes.size());
    skip -= skipped;
    if (skipped < bytes.size()) out[n++] = PieceOf(bytes.subspan(skipped));
  };
  for (const Item& item : queue_) {
    if (n + 1 + item.pieces.size() > out.size()) break;
    add(item.head);
    for (const iovec& piece : item.pieces) add(PieceBytes(piece));
  }
  return n;
}

void FrameWriter::Written(std::size_t bytes) {
  bytes_written_ += bytes;
  queued_bytes_ -= bytes;
  front_written_ += bytes;
  while (!queue_.empty() && front_written_ >= queue_.front().bytes) {
    front_written_ -= queue_.front().bytes;
    queue_.pop_front();
    ++frames_written_;
  }
}

absl::Status FrameWriter::Write(int fd, StreamTls* tls) {
  static_assert(kFramePiecesMax + 1 <= kPiecesAtOnce);
  while (!queue_.empty()) {
    std::array<iovec, kPiecesAtOnce> room;
    const auto pieces = std::span<const iovec>(room).first(Gather(room));
    const absl::StatusOr<std::size_t> n =
        tls == nullptr ? SendInClear(fd, pieces) : tls->Send(pieces);
    if (!n.ok()) return n.status();
    if (*n == 0) return absl::OkStatus();
    Written(*n);
  }
  return absl::OkStatus();
}

void FrameWriter::OwnAll() {
  for (Item& item : queue_) {
    for (const iovec& piece : item.pieces) {
      const std::span<const std::byte> bytes = PieceBytes(piece);
      item.head.insert(item.head.end(), bytes.begin(), bytes.end());
    }
    item.pieces.clear();
  }
}

void FrameWriter::Clear() {
  queue_.clear();
  front_written_ = 0;
  queued_bytes_ = 0;
}

}  // namespace bspnow
