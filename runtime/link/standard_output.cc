#include "runtime/link/standard_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/link/link.h"

namespace bspnow::runtime {

// Only a pipe: where the output was sent to a file nobody waits for its lines. And only under a
// launcher: what is printed before that is started would be printed twice.
void WriteLinesAtOnce() {
  struct stat status;
  if (getenv(kLinkVariable) == nullptr) return;
  if (fstat(STDOUT_FILENO, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  setvbuf(stdout, nullptr, _IOLBF, 0);
}

}  // namespace bspnow::runtime
