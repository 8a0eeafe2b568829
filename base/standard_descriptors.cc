#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace bspnow {

void OccupyStandardDescriptors(ClosedOutput closed) {
  const int mode = closed == ClosedOutput::kFails ? O_RDONLY : O_RDWR;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", mode);
  }
}

}  // namespace bspnow
