#include "worker/exchange/doorbell_ends.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

namespace bspnow::worker {

namespace {

// Of the mailbox: messages are small, but each is charged with what keeps it.
constexpr int kMailboxBytes = 4 << 20;

}  // namespace

absl::StatusOr<DoorbellEnds> MakeDoorbell() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("making a doorbell: ", strerror(errno)));
  }
  return DoorbellEnds{.worker = UniqueFd(ends[0]), .processes = UniqueFd(ends[1])};
}

absl::StatusOr<MailboxEnds> MakeMailbox() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("making a mailbox: ", strerror(errno)));
  }
  setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &kMailboxBytes, sizeof kMailboxBytes);
  return MailboxEnds{.worker = UniqueFd(ends[0]), .processes = UniqueFd(ends[1])};
}

bool AnswerDoorbell(int worker_end) {
  char rings[256];
  const ssize_t n = recv(worker_end, rings, sizeof rings, MSG_DONTWAIT);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace bspnow::worker
