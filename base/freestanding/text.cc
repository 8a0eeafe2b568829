#include "base/freestanding/text.h"

#include <errno.h>

namespace bspnow {
namespace {

bool Separates(char c) { return c == ' ' || c == '\t' || c == ':'; }

}  // namespace

bool TextPiece::StartsWith(const char* prefix) const {
  std::size_t same = 0;
  while (same < bytes && prefix[same] != '\0' && data[same] == prefix[same]) ++same;
  return prefix[same] == '\0';
}

bool TextPiece::EndsWith(const char* suffix) const {
  const std::size_t length = Length(suffix);
  return length <= bytes && TextPiece{data + bytes - length, length}.StartsWith(suffix);
}

bool TextPiece::Is(const char* other) const { return Length(other) == bytes && StartsWith(other); }

TextPiece TextPiece::Word() {
  TextPiece word{data, 0};
  while (word.bytes < bytes && !Separates(data[word.bytes])) ++word.bytes;
  Cut(word.bytes);
  while (bytes > 0 && Separates(*data)) Cut(1);
  return word;
}

std::uint64_t TakeNumber(TextPiece& text, unsigned base) {
  std::uint64_t number = 0;
  for (; text.bytes > 0; text.Cut(1)) {
    const char c = *text.data;
    const unsigned digit = IsDigit(c)             ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                                  : base;
    if (digit >= base) break;
    number = number * base + digit;
  }
  return number;
}

Digits::Digits(std::uint64_t number, unsigned base, std::size_t at_least) : first(sizeof text) {
  do {
    text[--first] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0 || sizeof text - first < at_least);
}

// An if for each, not a switch: that becomes a table of pointers, which need relocations.
const char* Meaning(CallError error) {
  const long number = -error.result;
  if (number == ENOSPC) return "no space left on the device";
  if (number == EDQUOT) return "the disk quota is used up";
  if (number == EIO) return "input/output error";
  if (number == ENOMEM) return "cannot allocate memory";
  if (number == EACCES) return "permission denied";
  if (number == EPERM) return "operation not permitted";
  if (number == EFBIG) return "a file may not be so large";
  if (number == EROFS) return "the file system is read-only";
  if (number == ENOENT) return "no such file or directory";
  if (number == EEXIST) return "there is something else";
  if (number == EBADF) return "bad file descriptor";
  if (number == EINVAL) return "invalid argument";
  if (number == EMFILE || number == ENFILE) return "too many open files";
  if (number == ENOSYS) return "this kernel does not have that call";
  return nullptr;
}

}  // namespace bspnow
