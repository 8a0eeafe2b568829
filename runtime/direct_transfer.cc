#include "runtime/direct_transfer.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace bspnow {
namespace {

// The kernel moves at most 2 GiB a call.
constexpr std::uint64_t kCallBytesMax = std::uint64_t{1} << 30;

}  // namespace

DirectResult Perform(const DirectTransfer& transfer, std::uint32_t os_pid,
                     std::uint64_t remote_address) {
  auto* local_at = static_cast<std::byte*>(transfer.local);
  std::uint64_t remote_at = remote_address;
  std::uint64_t left = transfer.remote.bytes;
  while (left != 0) {
    errno = 0;
    const std::uint64_t bytes = std::min(left, kCallBytesMax);
    const iovec local{local_at, bytes};
    const iovec remote{reinterpret_cast<void*>(remote_at), bytes};
    const auto pid = static_cast<pid_t>(os_pid);
    const ssize_t moved = transfer.direction == Direction::kPut
                              ? process_vm_writev(pid, &local, 1, &remote, 1, 0)
                              : process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (moved < 0 && errno == ESRCH) {
      for (;;) pause();
    }
    if (moved <= 0) return errno == EFAULT ? DirectResult::kBadAddress : DirectResult::kRefused;
    local_at += moved;
    remote_at += static_cast<std::uint64_t>(moved);
    left -= static_cast<std::uint64_t>(moved);
  }
  return DirectResult::kDone;
}

void AllowDirectTransfers() { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

}  // namespace bspnow
