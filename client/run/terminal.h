// Which descriptors are terminals, also after their users have gone.
#ifndef CLIENT_RUN_TERMINAL_H_
#define CLIENT_RUN_TERMINAL_H_

namespace bspnow::client {

/// True for a terminal, and for one that was hung up: there isatty fails with EIO, as writes do and
/// reads may. So callers can tell the EIO of a hang-up from the EIO of a bad disk.
bool IsOrWasTerminal(int fd);

}  // namespace bspnow::client

#endif  // CLIENT_RUN_TERMINAL_H_
