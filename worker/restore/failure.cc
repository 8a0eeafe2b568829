#include "worker/restore/failure.h"

#include <sys/uio.h>

#include "base/exit_status.h"
#include "base/freestanding/raw_call.h"

namespace bspnow::worker::restore {

void FailWith(const Line& line) {
  char newline = '\n';
  const iovec pieces[] = {{const_cast<char*>(line.text()), line.size()}, {&newline, 1}};
  RawCall(SYS_writev, 2, pieces, 2);
  for (;;) RawCall(SYS_exit_group, kRestoreFailedStatus);
}

}  // namespace bspnow::worker::restore
