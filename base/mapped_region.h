// Memory from mmap with one owner; the only place that calls munmap.
#ifndef BASE_MAPPED_REGION_H_
#define BASE_MAPPED_REGION_H_

#include <cstddef>
#include <utility>

namespace bspnow {

class MappedRegion {
 public:
  MappedRegion() = default;
  MappedRegion(MappedRegion&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedRegion& operator=(MappedRegion&& other) noexcept {
    if (this != &other) {
      Reset();
      data_ = std::exchange(other.data_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  MappedRegion(const MappedRegion&) = delete;
  MappedRegion& operator=(const MappedRegion&) = delete;
  ~MappedRegion() { Reset(); }

  /// Maps the first `bytes` bytes of `fd` for reading and writing, shared; reserves no memory.
  /// Invalid, with errno set, if the system refuses.
  static MappedRegion Shared(int fd, std::size_t bytes);

  /// Maps `bytes` bytes of private zeroes. Invalid, with errno set, if the system refuses.
  static MappedRegion Private(std::size_t bytes);

  /// Changes the size; may move. False, with errno set and the region unchanged, if refused.
  bool Resize(std::size_t bytes);

  bool valid() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  void Reset();

  /// Gives the memory up without unmapping it.
  std::byte* Release() {
    bytes_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  MappedRegion(void* data, std::size_t bytes)
      : data_(static_cast<std::byte*>(data)), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace bspnow

#endif  // BASE_MAPPED_REGION_H_
