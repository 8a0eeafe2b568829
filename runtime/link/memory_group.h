// The control group that limits what the processes of a job on one node may have.
#ifndef RUNTIME_LINK_MEMORY_GROUP_H_
#define RUNTIME_LINK_MEMORY_GROUP_H_

#include <atomic>
#include <cstdint>

namespace bspnow {

/// The worker fills in the first two, before any process runs.
struct alignas(64) MemoryGroup {
  static constexpr std::uint64_t kPathBytes = 312;

  std::uint64_t limit_bytes;  ///< 0: none, or it cannot be looked at.
  char path[kPathBytes];      ///< Its directory, ended by 0.
  /// Of the heaps, by processes, ever; what was given back has been claimed all the same.
  alignas(64) std::atomic<std::uint64_t> claimed_bytes;
  std::atomic<std::uint64_t> looks_at;       ///< Who claims up to here need not look at the group.
  std::atomic<std::uint64_t> filling_bytes;  ///< Taken, and not yet counted by the group.
  std::atomic<std::uint64_t> images;         ///< The worker's: checkpoints that are being made.
};

}  // namespace bspnow

#endif  // RUNTIME_LINK_MEMORY_GROUP_H_
