// Reading and writing the memory of a process of this node, for unbuffered puts between nodes. Who
// it is comes from the kernel, never from what the process wrote.
#ifndef WORKER_EXCHANGE_PROCESS_MEMORY_H_
#define WORKER_EXCHANGE_PROCESS_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bspnow {

/// Whether this worker may read that process, and it is the one that holds `value` at `address`
/// (another pid namespace may have the same number for another process).
bool MayReadProcess(pid_t os_pid, std::uint64_t address, std::uint64_t value);

/// All or nothing: false if the memory is not there, or is forbidden.
bool ReadProcess(pid_t os_pid, std::uint64_t address, std::span<std::byte> to);
bool WriteProcess(pid_t os_pid, std::uint64_t address, std::span<const std::byte> from);

}  // namespace bspnow

#endif  // WORKER_EXCHANGE_PROCESS_MEMORY_H_
