// Reads a file of /proc line by line, without libc.
#ifndef BASE_FREESTANDING_LINE_READER_H_
#define BASE_FREESTANDING_LINE_READER_H_

#include <cstddef>

#include "base/freestanding/raw_call.h"
#include "base/freestanding/text.h"

namespace bspnow {

/// The buffer bounds a line's length; a longer one is cut. A file that cannot be opened has no
/// lines.
class LineReader {
 public:
  LineReader(const char* path, char* buffer, std::size_t buffer_bytes)
      : file_(path), buffer_(buffer), buffer_bytes_(buffer_bytes) {}

  /// Without the newline; valid until the next call.
  bool Next(TextPiece& line);

 private:
  void Fill();

  RawFile file_;
  char* buffer_;
  std::size_t buffer_bytes_;
  std::size_t from_ = 0;
  std::size_t to_ = 0;
};

}  // namespace bspnow

#endif  // BASE_FREESTANDING_LINE_READER_H_
