#include "base/mapped_region.h"

#include <sys/mman.h>

namespace bspnow {

MappedRegion MappedRegion::Shared(int fd, std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return at == MAP_FAILED ? MappedRegion() : MappedRegion(at, bytes);
}

MappedRegion MappedRegion::Private(std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? MappedRegion() : MappedRegion(at, bytes);
}

bool MappedRegion::Resize(std::size_t bytes) {
  void* at = mremap(data_, bytes_, bytes, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) return false;
  data_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
  return true;
}

void MappedRegion::Reset() {
  if (data_ != nullptr) munmap(std::exchange(data_, nullptr), std::exchange(bytes_, 0));
}

}  // namespace bspnow
