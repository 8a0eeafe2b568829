// Which descriptors are terminals, also after their users have gone.
#ifndef CLIENT_RUN_TERMINAL_H_
#define CLIENT_RUN_TERMINAL_H_

namespace bspnow::client {

/// Whether it is a terminal or was one until it was hung up: of that, isatty fails with EIO, as
/// writes do and reads may. With this an EIO that means the hang-up is told from one of a bad disk.
bool IsOrWasTerminal(int fd);

}  // namespace bspnow::client

#endif  // CLIENT_RUN_TERMINAL_H_
