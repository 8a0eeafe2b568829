// Text without libc and without memory of its own: pieces of the lines of /proc, and sentences in a
// buffer of fixed size. Nothing here needs a relocation, for bsp-restore has nobody to apply one.
#ifndef BASE_FREESTANDING_TEXT_H_
#define BASE_FREESTANDING_TEXT_H_

#include <cstddef>
#include <cstdint>

namespace bspnow {

inline std::size_t Length(const char* text) {
  std::size_t bytes = 0;
  while (text[bytes] != '\0') ++bytes;
  return bytes;
}

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// A piece of text that belongs to somebody else; no 0 at its end.
struct TextPiece {
  const char* data;
  std::size_t bytes;

  bool StartsWith(const char* prefix) const;
  bool EndsWith(const char* suffix) const;
  bool Is(const char* other) const;

  /// Cuts off the beginning.
  void Cut(std::size_t count) {
    data += count;
    bytes -= count;
  }
  /// Cuts off `c` if it is the first character.
  void Skip(char c) {
    if (bytes > 0 && *data == c) Cut(1);
  }
  /// Cuts off and returns what stands before the next blank, tab or colon; cuts off those, too.
  TextPiece Word();
};

inline bool Equal(const char* a, const char* b) { return TextPiece{a, Length(a)}.Is(b); }

/// Cuts off a number at the start of `text`. Base 8, 10 or 16.
std::uint64_t TakeNumber(TextPiece& text, unsigned base);

/// The last digits of a number, in the order in which people read them.
struct Digits {
  Digits(std::uint64_t number, unsigned base, std::size_t at_least);
  TextPiece piece() const { return {text + first, sizeof text - first}; }

  char text[20];
  std::size_t first;
};

struct Hex {
  std::uint64_t value;
};

/// 32 hexadecimal digits.
struct Hash128 {
  std::uint64_t high;
  std::uint64_t low;
};

struct CallError {
  long result;  ///< Of a system call: -errno.
};

/// What the error means, or null.
const char* Meaning(CallError error);

/// A text that ends with 0; what does not fit is left out. Memory that is all 0 holds an empty one.
template <std::size_t kBytes>
class FixedText {
 public:
  static constexpr std::size_t kBytesMax = kBytes;

  FixedText() { Clear(); }

  void Clear() { text_[bytes_ = 0] = '\0'; }
  bool empty() const { return bytes_ == 0; }
  std::size_t size() const { return bytes_; }
  const char* text() const { return text_; }

  FixedText& operator<<(TextPiece piece) {
    for (std::size_t i = 0; i < piece.bytes && bytes_ + 1 < kBytes; ++i) {
      text_[bytes_++] = piece.data[i];
    }
    text_[bytes_] = '\0';
    return *this;
  }
  FixedText& operator<<(const char* text) { return *this << TextPiece{text, Length(text)}; }
  FixedText& operator<<(std::uint64_t number) { return *this << Digits(number, 10, 1).piece(); }
  FixedText& operator<<(Hex number) { return *this << Digits(number.value, 16, 1).piece(); }
  FixedText& operator<<(Hash128 hash) {
    return *this << Digits(hash.high, 16, 16).piece() << Digits(hash.low, 16, 16).piece();
  }
  FixedText& operator<<(CallError error) {
    if (const char* meaning = Meaning(error)) return *this << meaning;
    return *this << "error " << static_cast<std::uint64_t>(-error.result);
  }

 private:
  char text_[kBytes];
  std::size_t bytes_;
};

}  // namespace bspnow

#endif  // BASE_FREESTANDING_TEXT_H_
