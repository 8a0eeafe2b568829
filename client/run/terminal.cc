#include "client/run/terminal.h"

#include <errno.h>
#include <unistd.h>

namespace bspnow::client {

bool IsOrWasTerminal(int fd) { return isatty(fd) == 1 || errno == EIO; }

}  // namespace bspnow::client
