#include "worker/restore/page_reader.h"

#include "base/freestanding/raw_call.h"
#include "worker/restore/failure.h"

namespace bspnow::worker::restore {

void PageReader::Add(void* place, std::uint64_t bytes, std::uint64_t offset) {
  if (bytes == 0) return;
  if (count_ == kPiecesMax || (count_ != 0 && offset != offset_ + bytes_)) Finish();
  if (count_ == 0) offset_ = offset;
  bytes_ += bytes;
  iovec* last = count_ == 0 ? nullptr : &pieces_[count_ - 1];
  if (last != nullptr && static_cast<std::byte*>(last->iov_base) + last->iov_len == place) {
    last->iov_len += bytes;
  } else {
    pieces_[count_++] = {place, bytes};
  }
}

void PageReader::Finish() {
  std::size_t first = 0;
  while (first < count_) {
    // The kernel takes the upper half of a file position separately; 0 on 64 bits.
    const long n = RawCall(SYS_preadv, file_, &pieces_[first], count_ - first, offset_, 0);
    if (n < 0) Fail("reading ", name_, " at byte ", offset_, ": ", CallError{n});
    if (n == 0) Fail(name_, " ends at byte ", offset_, ", too early");
    offset_ += static_cast<std::uint64_t>(n);
    auto left = static_cast<std::size_t>(n);
    while (left != 0 && left >= pieces_[first].iov_len) left -= pieces_[first++].iov_len;
    if (left == 0) continue;
    pieces_[first].iov_base = static_cast<std::byte*>(pieces_[first].iov_base) + left;
    pieces_[first].iov_len -= left;
  }
  count_ = 0;
  bytes_ = 0;
}

}  // namespace bspnow::worker::restore
