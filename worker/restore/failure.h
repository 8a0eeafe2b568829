// The end of bsp-restore when something cannot be put back: one line on standard error.
#ifndef WORKER_RESTORE_FAILURE_H_
#define WORKER_RESTORE_FAILURE_H_

#include "base/freestanding/text.h"

namespace bspnow::worker::restore {

using Line = FixedText<1024>;

/// Writes the line to standard error and ends the process.
[[noreturn]] void FailWith(const Line& line);

/// Fail("mapping 0x", Hex{address}, ": ", CallError{result}).
template <class... Parts>
[[noreturn]] void Fail(Parts... parts) {
  Line line;
  line << "bsp-restore: ";
  (line << ... << parts);
  FailWith(line);
}

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_FAILURE_H_
