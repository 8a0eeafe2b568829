#include "runtime/image/file/image_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>

#include <algorithm>

#include "base/freestanding/raw_call.h"
#include "runtime/image/file/image_hash.h"

namespace bspnow::runtime {

static_assert(kImageBufferBytes % kImageChunkBytes == 0);

ImageStream::ImageStream(int file, std::uint64_t file_bytes, ImageWork& work)
    : file_(file), work_(work) {
  // Full disks are found here, and writes that only overwrite go on at once.
  const long room = RawCall(SYS_fallocate, file_, 0, 0, file_bytes);
  if (room < 0 && room != -EOPNOTSUPP && room != -ENOSYS) error_ = -room;
  SetDirect();
  RawCall(SYS_io_setup, 1, &context_);
}

ImageStream::~ImageStream() {
  Await();
  if (context_ != 0) RawCall(SYS_io_destroy, context_);
}

void ImageStream::SetDirect() {
  RawCall(SYS_fcntl, file_, F_SETFL, O_DIRECT);  // Not all file systems can.
}

void ImageStream::SetBuffered() { RawCall(SYS_fcntl, file_, F_SETFL, 0); }

void ImageStream::Append(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0 && error_ == 0) {
    const std::size_t part =
        std::min({bytes, kImageBufferBytes - filled_, summed_ + kImageChunkBytes - filled_});
    CopyRaw(buffer() + filled_, from, part);
    filled_ += part;
    position_ += part;
    from += part;
    bytes -= part;
    if (filled_ == summed_ + kImageChunkBytes) SumChunks();
    if (filled_ == kImageBufferBytes) Submit();
  }
}

void ImageStream::PadToPage() {
  static constexpr std::byte kZeroes[kImagePageBytes] = {};
  Append(kZeroes, (kImagePageBytes - position_ % kImagePageBytes) % kImagePageBytes);
}

void ImageStream::SumChunks() {
  if (filled_ > summed_) {
    work_.chunks.Add({.hash = ImageHash(buffer() + summed_, filled_ - summed_)});
  }
  summed_ = filled_;
}

void ImageStream::Submit() {
  if (filled_ == 0) return;
  Await();
  iocb request{};
  request.aio_lio_opcode = IOCB_CMD_PWRITE;
  request.aio_fildes = static_cast<std::uint32_t>(file_);
  request.aio_buf = reinterpret_cast<std::uint64_t>(buffer());
  request.aio_nbytes = filled_;
  request.aio_offset = static_cast<std::int64_t>(buffer_offset_);
  iocb* const requests[] = {&request};
  if (context_ != 0 && error_ == 0 && RawCall(SYS_io_submit, context_, 1, requests) == 1) {
    underway_bytes_ = filled_;
  } else {
    WriteNow(buffer(), filled_, buffer_offset_);
  }
  filling_ = 1 - filling_;
  buffer_offset_ += filled_;
  filled_ = summed_ = 0;
}

void ImageStream::Await() {
  if (underway_bytes_ == 0) return;
  io_event event{};
  while (RawCall(SYS_io_getevents, context_, 1, 1, &event, nullptr) == -EINTR) continue;
  const auto written = static_cast<std::size_t>(std::max<std::int64_t>(event.res, 0));
  if (written < underway_bytes_) {  // Writing the rest gives the reason.
    WriteNow(work_.io_buffers[1 - filling_] + written, underway_bytes_ - written,
             buffer_offset_ - underway_bytes_ + written);
  }
  underway_bytes_ = 0;
}

void ImageStream::WriteNow(const void* data, std::size_t bytes, std::uint64_t offset) {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0 && error_ == 0) {
    const long n = RawCall(SYS_pwrite64, file_, from, bytes, offset);
    if (n == -EINVAL && (RawCall(SYS_fcntl, file_, F_GETFL, 0) & O_DIRECT) != 0) {
      SetBuffered();  // It wants another alignment.
    } else if (n == 0 || (n < 0 && n != -EINTR)) {
      error_ = n == 0 ? ENOSPC : -n;
    } else if (n > 0) {
      from += n;
      bytes -= static_cast<std::size_t>(n);
      offset += static_cast<std::uint64_t>(n);
    }
  }
}

void ImageStream::Finish(const ImageHeader& header) {
  SumChunks();
  Submit();
  Await();
  SetBuffered();
  WriteNow(work_.chunks.begin(), work_.chunks.size() * sizeof(ImageChunk), position_);
  WriteNow(&header, sizeof header, 0);
}

}  // namespace bspnow::runtime
