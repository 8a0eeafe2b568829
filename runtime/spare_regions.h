// Memory of objects that a process makes and leaves again and again: groups, and what lies on top
// of them. To map a few pages, touch them and unmap them took most of the time of that. Threads may
// share it.
#ifndef RUNTIME_SPARE_REGIONS_H_
#define RUNTIME_SPARE_REGIONS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/grow_array.h"
#include "base/mapped_region.h"
#include "runtime/link/yield_lock.h"

namespace bspnow::runtime {

class SpareRegions {
 public:
  /// So many bytes of zeroes: what was given back, or what is mapped now. Invalid, with errno set,
  /// if the system refuses that.
  MappedRegion Take(std::size_t bytes) {
    MappedRegion region = TakeKept(bytes);
    if (!region.valid()) return MappedRegion::Private(bytes);
    std::memset(region.data(), 0, bytes);
    return region;
  }

  /// Lends an array its first memory.
  template <typename T>
  void Lend(GrowArray<T>& array) {
    array.UseMemory(Take(kFirstArrayBytes));
  }
  /// Takes it back. An array that has grown needed other memory.
  template <typename T>
  void TakeBack(GrowArray<T>& array) {
    MappedRegion region = array.ReleaseMemory();
    if (region.bytes() == kFirstArrayBytes) GiveBack(static_cast<MappedRegion&&>(region));
  }

  /// Kept, or unmapped if enough is.
  void GiveBack(MappedRegion region) {
    const YieldLock lock(lock_);
    for (MappedRegion& spare : spare_) {
      if (spare.valid()) continue;
      spare = static_cast<MappedRegion&&>(region);
      return;
    }
  }

 private:
  MappedRegion TakeKept(std::size_t bytes) {
    const YieldLock lock(lock_);
    for (MappedRegion& spare : spare_)
      if (spare.bytes() == bytes) return static_cast<MappedRegion&&>(spare);
    return {};
  }

  static constexpr std::size_t kSpareMax = 64;  // Of a few groups.
  std::atomic<std::uint32_t> lock_{0};
  MappedRegion spare_[kSpareMax];
};

/// Memory of what the program has names for, all of one size. It stays mapped, and nobody else uses
/// it, so a name of what is gone can be told from others. Threads may share it.
class NamedMemory {
 public:
  /// Zeroes, or what was given back. Null, with errno set, if the system refuses that.
  std::byte* Take(std::size_t bytes) {
    {
      const YieldLock lock(lock_);
      if (!free_.empty()) {
        std::byte* const memory = free_.back();
        free_.pop_back();
        return memory;
      }
    }
    return MappedRegion::Private(bytes).Release();
  }
  void GiveBack(std::byte* memory) {
    const YieldLock lock(lock_);
    free_.push_back(memory);
  }

  /// A new number for each name.
  std::uint64_t Count() { return 1 + count_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> lock_{0};
  std::atomic<std::uint64_t> count_{0};
  GrowArray<std::byte*> free_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_SPARE_REGIONS_H_
