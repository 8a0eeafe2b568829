#include "net/frame_reader.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "net/socket.h"

namespace bspnow {
namespace {

constexpr std::size_t kStageBytes = 256 << 10;
constexpr std::size_t kWantMin = 4096;  // Much less than a large frame: staged is copied again.
constexpr std::size_t kLargeMin = 16 << 10;        // Payloads up to this wait in the stage.
constexpr std::size_t kReadBytesAtOnce = 2 << 20;  // Then others have their turn.
static_assert(kStageBytes >= 2 * (sizeof(FrameHeader) + kLargeMin));
static_assert(kLargeMin > kFramePrefixBytes);
static_assert(kWantMin >= sizeof(FrameHeader) + kFramePrefixBytes);

absl::StatusOr<std::size_t> ReceiveInClear(int fd, std::span<const iovec> places) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(places.data());
  message.msg_iovlen = places.size();
  for (;;) {
    const ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n == 0) return absl::OutOfRangeError("closed by the peer");
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) return SystemError("reading", errno);
  }
}

}  // namespace

FrameReader::FrameReader(FrameSink& sink)
    : sink_(sink), stage_(MappedRegion::Private(kStageBytes)), want_(kWantMin) {
  if (!stage_.valid()) OutOfMemory(kStageBytes);
}

// What TLS has taken from the socket must be read in the same turn, since no socket tells of it; so
// there the bound is that of TLS.
absl::Status FrameReader::Read(int fd, StreamTls* tls) {
  const Source source{fd, tls};
  if (tls != nullptr) tls->BeginTurn(kReadBytesAtOnce);
  drained_ = false;
  for (std::size_t total = 0;
       (total < kReadBytesAtOnce || tls != nullptr) && !drained_ && !stopped_;) {
    const absl::StatusOr<std::size_t> n = in_large_ ? ReadLarge(source) : ReadStaged(source);
    if (!n.ok()) return n.status();
    total += *n;
    if (in_large_ && rest_read_ == rest_.size()) fault_ = FinishLarge();
    if (fault_ == FrameFault::kNone && !in_large_) fault_ = DeliverStaged();
    if (fault_ != FrameFault::kNone) return FaultStatus(fault_);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> FrameReader::Receive(const Source& source,
                                                 std::span<const iovec> places) {
  const absl::StatusOr<std::size_t> n =
      source.tls == nullptr ? ReceiveInClear(source.fd, places) : source.tls->Receive(places);
  if (!n.ok()) {
    if (source.tls != nullptr) fault_ = source.tls->fault();
    const bool ended = absl::IsOutOfRange(n.status());
    if (ended && (in_large_ || staged() != 0))
      return absl::UnavailableError("ended inside a frame");
    return n;
  }
  std::size_t asked = 0;
  for (const iovec& place : places) asked += place.iov_len;
  drained_ = *n < asked;
  bytes_read_ += *n;
  return n;
}

absl::StatusOr<std::size_t> FrameReader::ReadStaged(const Source& source) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ + want_ > kStageBytes) {
    std::memmove(stage(), stage() + begin_, staged());
    end_ = staged();
    begin_ = 0;
  }
  const iovec place{stage() + end_, std::min(want_, kStageBytes - end_)};
  const absl::StatusOr<std::size_t> n = Receive(source, std::span(&place, 1));
  if (!n.ok()) return n;
  end_ += *n;
  if (!drained_) want_ = std::min(want_ * 2, kStageBytes);
  return n;
}

// The rest of the frame, and with the same call the beginning of the next.
absl::StatusOr<std::size_t> FrameReader::ReadLarge(const Source& source) {
  BSP_CHECK(begin_ == end_);
  begin_ = end_ = 0;
  want_ = kWantMin;
  const std::span<std::byte> open = rest_.subspan(rest_read_);
  const iovec places[] = {{open.data(), open.size()}, {stage(), kWantMin}};
  const absl::StatusOr<std::size_t> n = Receive(source, places);
  if (!n.ok()) return n;
  const std::size_t mine = std::min(*n, open.size());
  TakeRest(mine);
  end_ = *n - mine;
  return n;
}

void FrameReader::TakeRest(std::size_t bytes) {
  if (!trusted_) crc_ = Crc32c(crc_, rest_.subspan(rest_read_, bytes));  // While in the cache.
  rest_read_ += bytes;
}

FrameFault FrameReader::DeliverStaged() {
  while (staged() >= sizeof(FrameHeader) && !stopped_) {
    FrameHeader header;
    std::memcpy(&header, stage() + begin_, sizeof header);
    if (const FrameFault fault = CheckHeader(header); fault != FrameFault::kNone) return fault;
    if (header.payload_bytes > payload_bytes_max_) return FrameFault::kTooLong;
    const std::size_t payload_begin = begin_ + sizeof header;
    if (end_ - payload_begin < header.payload_bytes) {
      if (header.payload_bytes <= kLargeMin || end_ - payload_begin < kFramePrefixBytes) break;
      return BeginLarge(header);
    }
    const std::span<const std::byte> payload(stage() + payload_begin, header.payload_bytes);
    faulty_sequence_ = header.sequence;
    if (const FrameFault fault = CheckPayload(header, payload); fault != FrameFault::kNone)
      return fault;
    begin_ = payload_begin + header.payload_bytes;
    if (const FrameFault fault = sink_.OnFrame(Frame{header, payload, {}});
        fault != FrameFault::kNone)
      return fault;
    faulty_sequence_ = 0;
  }
  return FrameFault::kNone;
}

FrameFault FrameReader::BeginLarge(const FrameHeader& header) {
  header_ = header;
  trusted_ = IsTrusted(header);
  begin_ += sizeof header;
  std::memcpy(prefix_.data(), stage() + begin_, kFramePrefixBytes);
  begin_ += kFramePrefixBytes;
  faulty_sequence_ = header.sequence;
  if (const FrameFault fault = CheckPrefix(header, prefix_); fault != FrameFault::kNone)
    return fault;
  in_large_ = true;
  in_own_place_ = false;
  rest_read_ = 0;
  crc_ = Crc32c(0, prefix_);
  rest_ = sink_.Place(header_, prefix_);
  if (rest_.empty()) UseOwnPlace();
  BSP_CHECK_OP(rest_.size(), ==, header.payload_bytes - kFramePrefixBytes);
  std::memcpy(rest_.data(), stage() + begin_, staged());
  TakeRest(staged());
  begin_ = end_;
  return FrameFault::kNone;
}

void FrameReader::UseOwnPlace() {
  if (!own_place_.valid()) own_place_ = MappedRegion::Private(kFramePayloadBytesMax);
  if (!own_place_.valid()) OutOfMemory(kFramePayloadBytesMax);
  in_own_place_ = true;
  std::memcpy(own_place_.data(), prefix_.data(), kFramePrefixBytes);
  rest_ = std::span(own_place_.data(), header_.payload_bytes).subspan(kFramePrefixBytes);
}

void FrameReader::Unplace(std::uint64_t job, std::optional<std::uint64_t> group) {
  if (!in_large_ || in_own_place_ || header_.job != job) return;
  if (group && header_.group != *group) return;
  const std::span<const std::byte> read = rest_.first(rest_read_);
  UseOwnPlace();
  std::memcpy(rest_.data(), read.data(), read.size());
}

FrameFault FrameReader::FinishLarge() {
  in_large_ = false;
  if (crc_ != header_.payload_crc32c) return FrameFault::kBadPayloadCrc;
  const std::span<const std::byte> own(own_place_.data(), header_.payload_bytes);
  const FrameFault fault =
      sink_.OnFrame(in_own_place_ ? Frame{header_, own, {}} : Frame{header_, prefix_, rest_});
  if (fault == FrameFault::kNone) faulty_sequence_ = 0;
  return fault;
}

}  // namespace bspnow
