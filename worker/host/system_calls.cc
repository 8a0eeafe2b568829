#include "worker/host/system_calls.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "base/unique_fd.h"

namespace bspnow::worker {
namespace {

constexpr int kDenied[] = {
    // File systems.
    SCMP_SYS(mount), SCMP_SYS(umount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    SCMP_SYS(move_mount), SCMP_SYS(mount_setattr), SCMP_SYS(open_tree), SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(swapon), SCMP_SYS(swapoff),
    SCMP_SYS(quotactl), SCMP_SYS(open_by_handle_at),
    // The kernel itself.
    SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(init_module), SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(reboot), SCMP_SYS(bpf), SCMP_SYS(perf_event_open),
    SCMP_SYS(acct), SCMP_SYS(syslog),
    // What is asked of the kernel through a ring, no filter sees; nor can it be saved in an image.
    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
    // Keys: a process finds those of its session, which are the daemon's.
    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key),
    // Other namespaces.
    SCMP_SYS(setns)};

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};

// In a namespace of its own a user is root to large parts of the kernel.
bool DenyNamespaces(scmp_filter_ctx filter) {
  const auto new_user = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER);
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 1, new_user) == 0 &&
         seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, new_user) == 0 &&
         // Its flags lie in memory, which a filter cannot read. glibc then calls clone.
         seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

// Images need it for faults of the process itself (runtime/image/proc/page_scan.h).
bool DenyFaultsOfKernel(scmp_filter_ctx filter) {
  const auto any = SCMP_A0(SCMP_CMP_MASKED_EQ, UFFD_USER_MODE_ONLY, 0);
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(userfaultfd), 1, any) == 0;
}

bool AddRules(scmp_filter_ctx filter) {
  // A program of 32 bits may run, too, and finds no way around.
  if (seccomp_arch_add(filter, SCMP_ARCH_X86) != 0) return false;
  if (seccomp_arch_add(filter, SCMP_ARCH_X32) != 0) return false;
  for (const int call : kDenied) {
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0) != 0) return false;
  }
  return DenyNamespaces(filter) && DenyFaultsOfKernel(filter);
}

}  // namespace

absl::StatusOr<std::vector<sock_filter>> SystemCallFilter() {
  const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_ALLOW));
  const UniqueFd file(memfd_create("bspnow-filter", MFD_CLOEXEC));
  struct stat status {};
  if (!filter || !file.valid() || !AddRules(filter.get()) ||
      seccomp_export_bpf(filter.get(), file.get()) != 0 || fstat(file.get(), &status) != 0)
    return absl::InternalError("making the filter of system calls");
  std::vector<sock_filter> steps(static_cast<std::size_t>(status.st_size) / sizeof(sock_filter));
  if (pread(file.get(), steps.data(), steps.size() * sizeof(sock_filter), 0) != status.st_size)
    return absl::InternalError("reading the filter of system calls");
  return steps;
}

}  // namespace bspnow::worker
