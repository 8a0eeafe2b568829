#include "base/mapped_region.h"

#include <errno.h>
#include <sys/mman.h>

namespace bspnow {

// Of a process that locks all that it maps (mlockall(MCL_FUTURE)) the kernel fills what may be
// touched at once, be it sparse and of many TiB. What may not be touched yet it can unlock first.
MappedRegion MappedRegion::Shared(int fd, std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) return MappedRegion();
  MappedRegion region(at, bytes);
  munlock(at, bytes);
  if (mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0) return region;
  const int error = errno;
  region.Reset();
  errno = error;
  return MappedRegion();
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
