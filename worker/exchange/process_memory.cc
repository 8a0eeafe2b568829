#include "worker/exchange/process_memory.h"

#include <sys/uio.h>

namespace bspnow {

bool MayReadProcess(pid_t os_pid, std::uint64_t address, std::uint64_t value) {
  std::uint64_t found = 0;
  return os_pid > 0 && ReadProcess(os_pid, address, std::as_writable_bytes(std::span(&found, 1))) &&
         found == value;
}

bool ReadProcess(pid_t os_pid, std::uint64_t address, std::span<std::byte> to) {
  const iovec local{to.data(), to.size()};
  const iovec remote{reinterpret_cast<void*>(address), to.size()};
  return process_vm_readv(os_pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(to.size());
}

bool WriteProcess(pid_t os_pid, std::uint64_t address, std::span<const std::byte> from) {
  const iovec local{const_cast<std::byte*>(from.data()), from.size()};
  const iovec remote{reinterpret_cast<void*>(address), from.size()};
  return process_vm_writev(os_pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(from.size());
}

}  // namespace bspnow
