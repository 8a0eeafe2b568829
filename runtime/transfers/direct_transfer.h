// Unbuffered transfers: bsp_hpput and bsp_hpget from memory to memory, without a buffer and with
// one copy (BSPlib 1997: "unbuffered on source, unbuffered on destination"; docs/design.md). They
// take effect in bsp_sync, before the barrier, by the process that issued them: it writes into the
// destination or reads from the source, so no second barrier is needed.
//
// The kernel copies (process_vm_readv, process_vm_writev). Yama or a seccomp profile may forbid
// that; then the transfers go through the outbox.
#ifndef RUNTIME_TRANSFERS_DIRECT_TRANSFER_H_
#define RUNTIME_TRANSFERS_DIRECT_TRANSFER_H_

#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "runtime/transfers/outbox.h"

namespace bspnow::runtime {

enum class Direction : std::uint32_t { kPut, kGet };

struct DirectTransfer {
  RemoteRange remote;
  void* local;  ///< Source of a put, destination of a get.
  Direction direction;
  std::uint64_t call_site;
};

/// Below this a buffered transfer is faster than a system call.
inline constexpr std::uint64_t kDirectBytesMin = 16 << 10;
/// The same between nodes, where what is buffered may go by lanes, and combined with more.
inline constexpr std::uint64_t kFarDirectBytesMin = 64 << 10;

/// How a copy between two processes ended.
enum class DirectResult { kDone, kRefused, kBadAddress };

/// The other processes of the job, as far as the system lets this one read and write their memory.
class DirectPeers {
 public:
  /// Lets the peers of all groups in where Yama would not.
  static void AllowIn();

  /// Publishes what peers need to recognise `self`.
  void Attach(const Segment& segment, Pid self, std::uint32_t p);

  /// Copies `transfer.remote.bytes` bytes between this process and transfer.remote.pid, at
  /// `remote_address` there. Partial transfers are continued. If that process has ended the job is
  /// ending, too: then this call does not return.
  DirectResult Perform(const DirectTransfer& transfer, std::uint64_t remote_address);

  /// Whether the memory of `pid` can be read; known after one try. Never on another node.
  bool Reaches(Pid pid);

 private:
  enum class Reach : std::uint8_t { kUnknown, kYes, kNo };

  bool Probe(Pid pid) const;

  const Segment* segment_ = nullptr;
  std::uint64_t probe_ = 0;
  std::uint32_t p_ = 0;
  GrowArray<Reach> reach_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_DIRECT_TRANSFER_H_
