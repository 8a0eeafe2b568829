#include "worker/host/interpreter.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "base/unique_fd.h"

namespace bspnow::worker {
namespace {

constexpr int kSegmentsMax = 64;  // Linkers make a dozen.

// The kernel takes what stands between "#!" and the next blank, a carriage return included.
void ReadFirstLine(int file, InterpreterPath& found) {
  const ssize_t n = pread(file, found.text, sizeof found.text - 1, 2);
  found.text[std::max<ssize_t>(n, 0)] = '\0';
  const std::size_t blanks = strspn(found.text, " \t");
  const std::size_t bytes = strcspn(found.text + blanks, " \t\n");
  memmove(found.text, found.text + blanks, bytes);
  found.text[bytes] = '\0';
}

void ReadLoader(int file, const Elf64_Ehdr& header, InterpreterPath& found) {
  const int segments = std::min<int>(header.e_phnum, kSegmentsMax);
  for (int i = 0; i < segments; ++i) {
    Elf64_Phdr segment;
    const off_t at = static_cast<off_t>(header.e_phoff) + i * off_t{sizeof segment};
    if (pread(file, &segment, sizeof segment, at) != ssize_t{sizeof segment}) return;
    if (segment.p_type != PT_INTERP || segment.p_filesz >= sizeof found.text) continue;
    const ssize_t n =
        pread(file, found.text, segment.p_filesz, static_cast<off_t>(segment.p_offset));
    found.text[std::max<ssize_t>(n, 0)] = '\0';
    return;
  }
}

}  // namespace

InterpreterPath InterpreterOf(const char* program) {
  InterpreterPath found{};
  const UniqueFd file(open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Elf64_Ehdr header{};
  if (!file.valid() || pread(file.get(), &header, sizeof header, 0) < 2) return found;
  if (memcmp(header.e_ident, "#!", 2) == 0)
    ReadFirstLine(file.get(), found);
  else if (memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == sizeof(Elf64_Phdr))
    ReadLoader(file.get(), header, found);
  return found;
}

}  // namespace bspnow::worker
