#include "worker/restore/present_maps.h"

#include <fcntl.h>

#include "worker/restore/failure.h"
#include "worker/restore/raw_calls.h"

namespace bspnow::restore {
namespace {

// This process has a dozen lines or so.
constexpr std::size_t kMapsBytes = 16384;

std::uint64_t HexNumber(const char*& text) {
  std::uint64_t number = 0;
  for (;; ++text) {
    const char c = *text;
    if (IsDigit(c)) {
      number = number * 16 + static_cast<std::uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      number = number * 16 + static_cast<std::uint64_t>(c - 'a' + 10);
    } else {
      return number;
    }
  }
}

void ReadMaps(char (&text)[kMapsBytes]) {
  const long file = Call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) Fail("/proc/self/maps: ", Error{file});
  std::size_t length = 0;
  while (length + 1 < kMapsBytes) {
    const long n = Call(SYS_read, file, text + length, kMapsBytes - 1 - length);
    if (n <= 0) break;
    length += static_cast<std::size_t>(n);
  }
  Call(SYS_close, file);
  text[length] = '\0';
}

}  // namespace

PresentVdso FindVdso() {
  char text[kMapsBytes];
  ReadMaps(text);
  PresentVdso found;
  for (const char* at = text; *at != '\0';) {
    Range range;
    range.start = HexNumber(at);
    ++at;
    range.end = HexNumber(at);
    const char* name = nullptr;
    for (; *at != '\0' && *at != '\n'; ++at) {
      if (*at == '[') name = at;
    }
    if (*at == '\n') ++at;
    if (name == nullptr || name[1] != 'v' || name[2] == 's') continue;  // Not [vsyscall].
    if (found.count == 4) Fail("this kernel's vdso has more parts than are known");
    found.pieces[found.count++] = {range, name[2] == 'd'};
  }
  return found;
}

}  // namespace bspnow::restore
