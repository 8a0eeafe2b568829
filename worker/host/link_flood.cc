// link_flood KIND N: a process that sends N messages of that kind (LinkHello) over its link, as
// fast as they are taken, prints "done", and reads no answer. For tests.
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/link/link.h"
#include "worker/host/spawn.h"

int main(int argc, char** argv) {
  using namespace bspnow;
  if (argc != 3) return 2;
  const LinkHello hello{.magic = kLinkMagic,
                        .version = kLinkVersion,
                        .kind = static_cast<std::uint32_t>(atoi(argv[1])),
                        .os_pid = static_cast<std::uint32_t>(getpid())};
  for (int n = atoi(argv[2]); n > 0; --n) {
    if (send(worker::kLinkFd, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) return 1;
  }
  puts("done");
  fflush(stdout);
  pause();
  return 0;
}
