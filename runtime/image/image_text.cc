#include "runtime/image/image_text.h"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>

#include "runtime/image/image_syscall.h"

namespace bspnow {
namespace {

std::size_t Length(const char* text) {
  std::size_t bytes = 0;
  while (text[bytes] != '\0') ++bytes;
  return bytes;
}

bool Separates(char c) { return c == ' ' || c == '\t' || c == ':'; }

const char* Meaning(long error) {
  switch (error) {
    case ENOSPC:
      return "no space left on the device";
    case EDQUOT:
      return "the disk quota is used up";
    case EIO:
      return "input/output error";
    case ENOMEM:
      return "no memory";
    case EACCES:
    case EPERM:
      return "not permitted";
    case EFBIG:
      return "a file may not be so large";
    case EROFS:
      return "the file system is read-only";
    case ENOENT:
      return "it is not there";
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case ENOSYS:
      return "this kernel does not have it";
    default:
      return nullptr;
  }
}

}  // namespace

bool TextPiece::StartsWith(const char* prefix) const {
  const std::size_t length = Length(prefix);
  return length <= bytes && std::equal(prefix, prefix + length, data);
}

bool TextPiece::EndsWith(const char* suffix) const {
  const std::size_t length = Length(suffix);
  return length <= bytes && std::equal(suffix, suffix + length, data + bytes - length);
}

bool TextPiece::Is(const char* other) const { return Length(other) == bytes && StartsWith(other); }

TextPiece TextPiece::Word() {
  TextPiece word{data, 0};
  while (word.bytes < bytes && !Separates(data[word.bytes])) ++word.bytes;
  std::size_t next = word.bytes;
  while (next < bytes && Separates(data[next])) ++next;
  data += next;
  bytes -= next;
  return word;
}

std::uint64_t TakeNumber(TextPiece& text, unsigned base) {
  std::uint64_t number = 0;
  while (text.bytes > 0) {
    const char c = *text.data;
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                                  : base;
    if (digit >= base) break;
    number = number * base + digit;
    ++text.data;
    --text.bytes;
  }
  return number;
}

Reason& Reason::Add(TextPiece text) {
  const std::size_t bytes = std::min(text.bytes, kBytesMax - 1 - bytes_);
  std::copy(text.data, text.data + bytes, text_ + bytes_);
  bytes_ += bytes;
  return *this;
}

Reason& Reason::Add(const char* text) { return Add(TextPiece{text, Length(text)}); }

Reason& Reason::Digits(std::uint64_t number, unsigned base) {
  char digits[24];
  std::size_t at = sizeof digits;
  do {
    digits[--at] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  return Add(TextPiece{digits + at, sizeof digits - at});
}

Reason& Reason::Number(std::uint64_t number) { return Digits(number, 10); }
Reason& Reason::Hex(std::uint64_t number) { return Digits(number, 16); }

Reason& Reason::Error(long error) {
  if (const char* meaning = Meaning(error)) return Add(meaning);
  return Add("error ").Number(static_cast<std::uint64_t>(error));
}

LineReader::LineReader(int directory, const char* path, char* buffer, std::size_t buffer_bytes)
    : file_(RawSyscall(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC)),
      buffer_(buffer),
      buffer_bytes_(buffer_bytes) {}

LineReader::~LineReader() {
  if (file_ >= 0) RawSyscall(SYS_close, file_);
}

void LineReader::Fill() {
  std::copy(buffer_ + from_, buffer_ + to_, buffer_);
  to_ -= from_;
  from_ = 0;
  const long n = RawSyscall(SYS_read, file_, buffer_ + to_, buffer_bytes_ - to_);
  if (n > 0) to_ += static_cast<std::size_t>(n);
}

bool LineReader::Next(TextPiece& line) {
  if (file_ < 0) return false;
  for (;;) {
    const char* const end = std::find(buffer_ + from_, buffer_ + to_, '\n');
    line = TextPiece{buffer_ + from_, static_cast<std::size_t>(end - (buffer_ + from_))};
    if (end != buffer_ + to_) {
      from_ += line.bytes + 1;
      return true;
    }
    const std::size_t held = to_ - from_;
    if (held < buffer_bytes_) Fill();
    if (to_ - from_ == held) {  // No more, or no room for more: the rest is a line, too.
      line = TextPiece{buffer_ + from_, held};
      from_ = to_;
      return held > 0;
    }
  }
}

}  // namespace bspnow
