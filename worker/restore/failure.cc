#include "worker/restore/failure.h"

#include <errno.h>

#include "worker/restore/raw_calls.h"

namespace bspnow::restore {
namespace {

// An if for each, not a table: a table of pointers would need relocations, and nobody applies them.
const char* ErrorText(long error) {
  if (error == EPERM) return "operation not permitted";
  if (error == ENOENT) return "no such file or directory";
  if (error == EIO) return "input/output error";
  if (error == EBADF) return "bad file descriptor";
  if (error == ENOMEM) return "cannot allocate memory";
  if (error == EACCES) return "permission denied";
  if (error == EEXIST) return "there is something else";
  if (error == EINVAL) return "invalid argument";
  if (error == EMFILE) return "too many open files";
  if (error == ENOSPC) return "no space left on device";
  if (error == EROFS) return "read-only file system";
  if (error == ENOSYS) return "this kernel does not have that call";
  return nullptr;
}

}  // namespace

Line& Line::operator<<(const char* text) {
  while (*text != '\0') Append(*text++);
  return *this;
}

void Line::AppendDigits(std::uint64_t number, unsigned base) {
  char digits[20];
  std::size_t count = 0;
  do {
    const unsigned digit = static_cast<unsigned>(number % base);
    digits[count++] = static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10);
    number /= base;
  } while (number != 0);
  while (count != 0) Append(digits[--count]);
}

Line& Line::operator<<(std::uint64_t number) {
  AppendDigits(number, 10);
  return *this;
}

Line& Line::operator<<(Hex number) {
  *this << "0x";
  AppendDigits(number.value, 16);
  return *this;
}

Line& Line::operator<<(Hash hash) {
  for (int bits = 60; bits >= 0; bits -= 4) AppendDigits(hash.high >> bits & 15, 16);
  for (int bits = 60; bits >= 0; bits -= 4) AppendDigits(hash.low >> bits & 15, 16);
  return *this;
}

Line& Line::operator<<(Error error) {
  const char* text = ErrorText(-error.result);
  if (text != nullptr) return *this << text;
  return *this << "error " << static_cast<std::uint64_t>(-error.result);
}

void Line::Fail() {
  text_[length_++] = '\n';
  Call(SYS_write, 2, text_, length_);
  for (;;) Call(SYS_exit_group, kExitStatus);
}

}  // namespace bspnow::restore
