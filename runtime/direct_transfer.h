// Unbuffered transfers: bsp_hpput and bsp_hpget from memory to memory, without a buffer and with
// one copy (BSPlib 1997: "unbuffered on source, unbuffered on destination"; design section 4). They
// take effect in bsp_sync, before the barrier, by the process that issued them: it writes into the
// destination or reads from the source, so no second barrier is needed.
//
// The kernel copies (process_vm_readv, process_vm_writev). Yama or a seccomp profile may forbid
// that; then the transfers go through the outbox.
#ifndef RUNTIME_DIRECT_TRANSFER_H_
#define RUNTIME_DIRECT_TRANSFER_H_

#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "runtime/outbox.h"

namespace bspnow {

enum class Direction : std::uint32_t { kPut, kGet };

struct DirectTransfer {
  RemoteRange remote;
  void* local;  ///< Source of a put, destination of a get.
  Direction direction;
  std::uint64_t call_site;
};

/// Below this a buffered transfer is faster than a system call.
inline constexpr std::uint64_t kDirectBytesMin = 16 << 10;

/// How a copy between two processes ended.
enum class DirectResult { kDone, kRefused, kBadAddress };

/// Copies `transfer.remote.bytes` bytes between this process and process `os_pid`, at
/// `remote_address` there. Partial transfers are continued. If that process has ended the job is
/// ending, too: then this call does not return.
DirectResult Perform(const DirectTransfer& transfer, std::uint32_t os_pid,
                     std::uint64_t remote_address);

/// Lets the other processes of the job do that where Yama would forbid it.
void AllowDirectTransfers();

}  // namespace bspnow

#endif  // RUNTIME_DIRECT_TRANSFER_H_
