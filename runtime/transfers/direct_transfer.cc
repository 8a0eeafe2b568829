#include "runtime/transfers/direct_transfer.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

// The kernel moves at most 2 GiB a call.
constexpr std::uint64_t kCallBytesMax = std::uint64_t{1} << 30;

}  // namespace

DirectResult DirectPeers::Perform(const DirectTransfer& transfer, std::uint64_t remote_address) {
  if (!Reaches(transfer.remote.pid)) return DirectResult::kRefused;
  const auto pid = static_cast<pid_t>(segment_->cell(transfer.remote.pid).os_pid);
  auto* local_at = static_cast<std::byte*>(transfer.local);
  std::uint64_t remote_at = remote_address;
  std::uint64_t left = transfer.remote.bytes;
  while (left != 0) {
    errno = 0;
    const std::uint64_t bytes = std::min(left, kCallBytesMax);
    const iovec local{local_at, bytes};
    const iovec remote{reinterpret_cast<void*>(remote_at), bytes};
    const ssize_t moved = transfer.direction == Direction::kPut
                              ? process_vm_writev(pid, &local, 1, &remote, 1, 0)
                              : process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (moved < 0 && errno == ESRCH) AwaitTheEnd();
    if (moved <= 0) return errno == EFAULT ? DirectResult::kBadAddress : DirectResult::kRefused;
    local_at += moved;
    remote_at += static_cast<std::uint64_t>(moved);
    left -= static_cast<std::uint64_t>(moved);
  }
  return DirectResult::kDone;
}

void DirectPeers::Attach(const Segment& segment, Pid self, std::uint32_t p) {
  segment_ = &segment;
  p_ = p;
  // No two processes have both the pid and the nanosecond in common.
  probe_ = NowNs() * kProcessesMax + Value(self);
  ProcessCell& cell = segment.cell(self);
  cell.probe_address = reinterpret_cast<std::uintptr_t>(&probe_);
  cell.probe_value = probe_;
}

void DirectPeers::AllowIn() { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

bool DirectPeers::Reaches(Pid pid) {
  if (reach_.empty()) reach_.Resize(p_);  // Few groups need it.
  Reach& reach = reach_[Value(pid)];
  if (reach == Reach::kUnknown) reach = Probe(pid) ? Reach::kYes : Reach::kNo;
  return reach == Reach::kYes;
}

bool DirectPeers::Probe(Pid pid) const {
  if (!segment_->IsHere(pid)) return false;
  const ProcessCell& cell = segment_->cell(pid);
  std::uint64_t value = 0;
  const iovec local{&value, sizeof value};
  const iovec remote{reinterpret_cast<void*>(cell.probe_address), sizeof value};
  const auto os_pid = static_cast<pid_t>(cell.os_pid);
  return process_vm_readv(os_pid, &local, 1, &remote, 1, 0) == sizeof value &&
         value == cell.probe_value;
}

}  // namespace bspnow::runtime
