// An array that grows, in memory of its own from mmap: libbsp must not use the user's malloc, nor
// libstdc++'s containers (see "libbsp is alone" in docs/design.md).
#ifndef BASE_GROW_ARRAY_H_
#define BASE_GROW_ARRAY_H_

#include <cstddef>
#include <type_traits>

#include "base/check.h"
#include "base/mapped_region.h"

namespace bspnow {

/// What an array maps first.
inline constexpr std::size_t kFirstArrayBytes = 4096;

template <typename T>
class GrowArray {
  static_assert(std::is_trivially_copyable_v<T>, "elements move by mremap");

 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return items()[i]; }
  const T& operator[](std::size_t i) const { return items()[i]; }
  T& back() { return items()[size_ - 1]; }
  T* begin() { return items(); }
  T* end() { return items() + size_; }
  const T* begin() const { return items(); }
  const T* end() const { return items() + size_; }

  void push_back(const T& item) {
    if (size_ == capacity_) Reserve(size_ + 1);
    items()[size_++] = item;
  }

  void pop_back() { --size_; }
  void clear() { size_ = 0; }

  /// New elements are zero bytes.
  void Resize(std::size_t size) {
    Reserve(size);
    for (std::size_t i = size_; i < size; ++i) items()[i] = T{};
    size_ = size;
  }

  /// In place of what it would map itself, of an array without memory. Invalid: it maps.
  void UseMemory(MappedRegion region) {
    region_ = static_cast<MappedRegion&&>(region);
    capacity_ = region_.bytes() / sizeof(T);
  }
  /// The array is empty, and without memory, afterwards.
  MappedRegion ReleaseMemory() {
    size_ = capacity_ = 0;
    return static_cast<MappedRegion&&>(region_);
  }

 private:
  T* items() { return reinterpret_cast<T*>(region_.data()); }
  const T* items() const { return reinterpret_cast<const T*>(region_.data()); }

  void Reserve(std::size_t size) {
    if (size <= capacity_) return;
    std::size_t bytes = region_.valid() ? region_.bytes() * 2 : kFirstArrayBytes;
    while (bytes < size * sizeof(T)) bytes *= 2;
    if (region_.valid()) {
      if (!region_.Resize(bytes)) OutOfMemory(bytes);
    } else {
      region_ = MappedRegion::Private(bytes);
      if (!region_.valid()) OutOfMemory(bytes);
    }
    capacity_ = bytes / sizeof(T);
  }

  MappedRegion region_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace bspnow

#endif  // BASE_GROW_ARRAY_H_
