// Writes one image file from its start to its end: gathers in two large buffers, of which the disk
// takes one (past the page cache where it can) while the other is filled; sums each chunk.
#ifndef RUNTIME_IMAGE_FILE_IMAGE_STREAM_H_
#define RUNTIME_IMAGE_FILE_IMAGE_STREAM_H_

#include <cstddef>
#include <cstdint>

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// An error stays: later calls do nothing. The first page of the file is left for Finish.
class ImageStream {
 public:
  /// `file` is the caller's; it will have `file_bytes`. Sums go to work.chunks.
  ImageStream(int file, std::uint64_t file_bytes, ImageWork& work);
  ImageStream(const ImageStream&) = delete;
  ImageStream& operator=(const ImageStream&) = delete;
  ~ImageStream();

  void Append(const void* data, std::size_t bytes);
  void PadToPage();
  /// Writes the rest of the data, then the sums, which have no sums themselves, then the header.
  void Finish(const ImageHeader& header);

  std::uint64_t position() const { return position_; }
  /// 0, or the number of the error.
  long error() const { return error_; }

 private:
  std::byte* buffer() { return work_.io_buffers[filling_]; }
  void SumChunks();
  void Submit();
  void Await();
  void WriteNow(const void* data, std::size_t bytes, std::uint64_t offset);
  void SetDirect();
  void SetBuffered();

  int file_;
  ImageWork& work_;
  std::uint64_t position_ = kImagePageBytes;  ///< Where the next byte goes.
  std::uint64_t buffer_offset_ = kImagePageBytes;
  std::size_t filled_ = 0;  ///< Of the buffer.
  std::size_t summed_ = 0;
  int filling_ = 0;
  std::size_t underway_bytes_ = 0;  ///< Of the other buffer.
  std::uint64_t context_ = 0;       ///< Of asynchronous writes; 0: none.
  long error_ = 0;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_FILE_IMAGE_STREAM_H_
