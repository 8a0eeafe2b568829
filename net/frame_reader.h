// Reads frames from a non-blocking stream. Small frames are delivered from a staging buffer; the
// payload of a large one is read straight to the place that its sink names. Nothing is delivered
// before its checksums are right. Splitting a stream anywhere changes nothing.
#ifndef NET_FRAME_READER_H_
#define NET_FRAME_READER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/mapped_region.h"
#include "net/frame.h"
#include "net/frame_check.h"
#include "net/stream_tls.h"

namespace bspnow {

/// A received frame: its payload is `payload` followed by `placed`. Valid during the call, and
/// aligned to nothing.
struct Frame {
  const FrameHeader& header;
  std::span<const std::byte> payload;  ///< Only the first kFramePrefixBytes if `placed` is used.
  std::span<const std::byte> placed;   ///< The part that was read to the place that the sink named.
};

class FrameSink {
 public:
  /// Where the payload after `prefix` (kFramePrefixBytes) is to be written: exactly
  /// header.payload_bytes - kFramePrefixBytes bytes, valid until OnFrame or the stream's end. Or
  /// nothing: the frame is buffered and delivered whole. Header and prefix are as they were sent,
  /// but what is then written there is not checked yet, and may never be complete. Asked only of
  /// frames that are larger than what has been read; also may be asked again after a reconnect.
  virtual std::span<std::byte> Place(const FrameHeader& header,
                                     std::span<const std::byte> prefix) = 0;

  /// `frame` is complete and right. A fault (kMalformed) closes the stream.
  virtual FrameFault OnFrame(const Frame& frame) = 0;

 protected:
  ~FrameSink() = default;
};

class FrameReader {
 public:
  explicit FrameReader(FrameSink& sink);

  /// Reads the available bytes of `fd`, by `tls` if there is one, up to a bound, and delivers whole
  /// frames. OK: go on when it is readable again. OUT_OF_RANGE: the peer closed its side between
  /// two frames. UNAVAILABLE: the connection broke. DATA_LOSS: a bad frame, see fault(). After an
  /// error the reader is dead.
  absl::Status Read(int fd, StreamTls* tls);

  /// From now on a payload of more is a fault, of which nothing is kept: until the peer has proven
  /// something, say. At first all that CheckHeader takes are read.
  void LimitPayloads(std::uint32_t bytes_max) { payload_bytes_max_ = bytes_max; }

  /// From OnFrame: deliver nothing more, now or later (the stream is being closed).
  void Stop() { stopped_ = true; }

  /// In OnFrame: whether bytes that follow the frame have been read with it.
  bool read_ahead() const { return begin_ != end_; }

  /// The place that was named for a frame of this job, or only of this group of it, is about to go:
  /// its rest goes to a buffer.
  void Unplace(std::uint64_t job, std::optional<std::uint64_t> group);

  FrameFault fault() const { return fault_; }

  /// Of the frame that had the fault, if its header was right; else 0.
  std::uint64_t faulty_sequence() const { return faulty_sequence_; }
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Source {
    int fd;
    StreamTls* tls;
  };
  absl::StatusOr<std::size_t> Receive(const Source& source, std::span<const iovec> places);
  absl::StatusOr<std::size_t> ReadStaged(const Source& source);
  absl::StatusOr<std::size_t> ReadLarge(const Source& source);
  FrameFault DeliverStaged();
  FrameFault BeginLarge(const FrameHeader& header);
  FrameFault FinishLarge();
  void UseOwnPlace();
  void TakeRest(std::size_t bytes);
  std::size_t staged() const { return end_ - begin_; }
  std::byte* stage() const { return stage_.data(); }

  FrameSink& sink_;
  MappedRegion stage_;
  std::size_t begin_ = 0;  ///< Of what has been staged and not been delivered.
  std::size_t end_ = 0;
  std::uint32_t payload_bytes_max_ = kFramePayloadBytesMax;
  std::size_t want_;  ///< To be staged by the next read: more while frames are small.

  bool in_large_ = false;  ///< The rest of a large frame is being read:
  FrameHeader header_{};
  std::array<std::byte, kFramePrefixBytes> prefix_{};
  std::span<std::byte> rest_;  ///< Where the payload after the prefix goes.
  std::size_t rest_read_ = 0;
  bool trusted_ = false;    ///< It has no checksum beyond its prefix.
  std::uint32_t crc_ = 0;   ///< Of the payload so far.
  MappedRegion own_place_;  ///< For the payloads that the sink wants buffered.
  bool in_own_place_ = false;

  bool drained_ = false;  ///< The socket had less than was asked for.
  bool stopped_ = false;
  FrameFault fault_ = FrameFault::kNone;
  std::uint64_t faulty_sequence_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace bspnow

#endif  // NET_FRAME_READER_H_
