// Reading the lines of /proc, and making up the sentence that says why there is no image; without
// libc (image_syscall.h).
#ifndef RUNTIME_IMAGE_IMAGE_TEXT_H_
#define RUNTIME_IMAGE_IMAGE_TEXT_H_

#include <cstddef>
#include <cstdint>

namespace bspnow {

/// A piece of text that belongs to somebody else; no 0 at its end.
struct TextPiece {
  const char* data;
  std::size_t bytes;

  bool StartsWith(const char* prefix) const;
  bool EndsWith(const char* suffix) const;
  bool Is(const char* other) const;

  /// Cuts off what is before the next blank, tab or colon, and those behind it.
  TextPiece Word();
};

/// A number at the start of `text`, which then begins behind it. Base 8, 10 or 16.
std::uint64_t TakeNumber(TextPiece& text, unsigned base);

/// A short text for people; what does not fit is left out.
class Reason {
 public:
  static constexpr std::size_t kBytesMax = 400;

  bool empty() const { return bytes_ == 0; }
  const char* text() const { return text_; }

  Reason& Add(const char* text);
  Reason& Add(TextPiece text);
  Reason& Number(std::uint64_t number);
  Reason& Hex(std::uint64_t number);
  /// What an error number (positive) means.
  Reason& Error(long error);

 private:
  Reason& Digits(std::uint64_t number, unsigned base);

  char text_[kBytesMax];  ///< Ends with 0; all 0 at first.
  std::size_t bytes_;
};

/// Gives a file out line by line. The buffer bounds a line's length; a longer one is cut.
class LineReader {
 public:
  /// `directory` as openat takes it. A file that cannot be opened has no lines.
  LineReader(int directory, const char* path, char* buffer, std::size_t buffer_bytes);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

  bool opened() const { return file_ >= 0; }
  /// Without the newline; valid until the next call.
  bool Next(TextPiece& line);

 private:
  void Fill();

  long file_;
  char* buffer_;
  std::size_t buffer_bytes_;
  std::size_t from_ = 0;
  std::size_t to_ = 0;
};

}  // namespace bspnow

#endif  // RUNTIME_IMAGE_IMAGE_TEXT_H_
