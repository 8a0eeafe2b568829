#include "base/freestanding/line_reader.h"

namespace bspnow {

void LineReader::Fill() {
  for (std::size_t i = from_; i < to_; ++i) buffer_[i - from_] = buffer_[i];
  to_ -= from_;
  from_ = 0;
  const long n = RawCall(SYS_read, file_.number(), buffer_ + to_, buffer_bytes_ - to_);
  if (n > 0) to_ += static_cast<std::size_t>(n);
}

bool LineReader::Next(TextPiece& line) {
  if (!file_.is_open()) return false;
  std::size_t searched = 0;
  for (;;) {
    while (from_ + searched < to_ && buffer_[from_ + searched] != '\n') ++searched;
    line = TextPiece{buffer_ + from_, searched};
    if (from_ + searched < to_) {
      from_ += searched + 1;
      return true;
    }
    if (searched < buffer_bytes_) Fill();
    if (to_ - from_ == searched) {  // No more, or no room for more: the rest is a line, too.
      line = TextPiece{buffer_ + from_, searched};
      from_ = to_;
      return searched > 0;
    }
  }
}

}  // namespace bspnow
