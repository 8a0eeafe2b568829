#include "worker/restore/present_maps.h"

#include "base/freestanding/line_reader.h"
#include "worker/restore/failure.h"

namespace bspnow::worker::restore {

PresentVdso FindVdso() {
  char buffer[16384];
  LineReader lines("/proc/self/maps", buffer, sizeof buffer);
  PresentVdso found;
  TextPiece line;
  bool has_lines = false;
  while (lines.Next(line)) {
    has_lines = true;
    Range range;
    range.start = TakeNumber(line, 16);
    line.Skip('-');
    range.end = TakeNumber(line, 16);
    while (line.bytes > 0 && *line.data != '[') line.Cut(1);
    const bool is_code = line.StartsWith("[vdso");
    if (!is_code && !line.StartsWith("[vvar")) continue;
    if (found.count == 4) Fail("this kernel's vdso has more parts than are known");
    found.pieces[found.count++] = {range, is_code};
  }
  if (!has_lines) Fail("cannot read /proc/self/maps");
  return found;
}

}  // namespace bspnow::worker::restore
