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

}  // namespace bspnow::runtime

#endif  // RUNTIME_SPARE_REGIONS_H_
