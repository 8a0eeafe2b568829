// What the control group of a job leaves its processes on this node before the kernel kills one of
// them. See "A process and its worker" in docs/design.md.
#ifndef RUNTIME_LINK_MEMORY_ROOM_H_
#define RUNTIME_LINK_MEMORY_ROOM_H_

#include <cstdint>

#include "base/ids.h"
#include "runtime/link/link.h"

namespace bspnow::runtime {

/// Looks at the group now and then: so that little is taken between two looks, and a small claim
/// costs nothing.
class MemoryRoom {
 public:
  explicit MemoryRoom(MemoryGroup& group) : group_(group) {}

  /// For memory of the heaps that is claimed and not touched yet. False: the kernel would kill.
  [[nodiscard]] bool Take(std::uint64_t bytes);
  /// It is touched now, as far as it will be: the group itself counts it.
  void Filled(std::uint64_t bytes);

  /// As it was seen when Take said no.
  std::uint64_t left_bytes() const { return left_bytes_; }

 private:
  std::uint64_t Left(std::uint64_t wanted) const;

  MemoryGroup& group_;
  std::uint64_t left_bytes_ = 0;
};

/// Who takes memory, for what is said if there is none.
struct MemoryTaker {
  const char* call;
  Pid pid;
};

/// Memory that is being filled; without room for it the job ends with the call and the sizes.
class FillingMemory {
 public:
  FillingMemory(MemoryGroup& group, const MemoryTaker& taker, std::uint64_t bytes);
  ~FillingMemory() { MemoryRoom(group_).Filled(bytes_); }
  FillingMemory(const FillingMemory&) = delete;
  FillingMemory& operator=(const FillingMemory&) = delete;

 private:
  MemoryGroup& group_;
  std::uint64_t bytes_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_MEMORY_ROOM_H_
