#include "runtime/image/image_work.h"

#include <sys/mman.h>

#include "base/freestanding/raw_call.h"

namespace bspnow::runtime {
namespace {

// Address space; memory is taken only by what is used.
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSelfBytes = kMiB;
constexpr std::size_t kStackBytes = kMiB;
constexpr std::size_t kTextBufferBytes = kMiB;
constexpr std::size_t kMappingsBytes = 16 * kMiB;
constexpr std::size_t kRegionsBytes = 16 * kMiB;
constexpr std::size_t kTextsBytes = 4 * kMiB;
constexpr std::size_t kFilesBytes = 64 * kMiB;
constexpr std::size_t kOpenFilesBytes = 8 * kMiB;
static_assert(kOpenFilesBytes / sizeof(std::uint32_t) >= kFilesBytes / sizeof(ImageFile));
constexpr std::size_t kAreasBytes = 16 * kMiB;
constexpr std::size_t kRangesBytes = 256 * kMiB;
constexpr std::size_t kRunsBytes = 512 * kMiB;
constexpr std::size_t kStringsBytes = 64 * kMiB;
constexpr std::size_t kChunksBytes = 16 * kMiB;  // 2 TiB of file.
constexpr std::size_t kTotalBytes = kSelfBytes + kStackBytes + kTextBufferBytes + kMappingsBytes +
                                    kRegionsBytes + kTextsBytes + kFilesBytes + kOpenFilesBytes +
                                    kAreasBytes + kRangesBytes + kRunsBytes + kStringsBytes +
                                    kChunksBytes + 2 * kImageBufferBytes;
static_assert(sizeof(ImageWork) <= kSelfBytes);

class Places {
 public:
  explicit Places(std::byte* next) : next_(next) {}
  std::byte* Take(std::size_t bytes) {
    std::byte* const at = next_;
    next_ += bytes;
    return at;
  }

 private:
  std::byte* next_;
};

}  // namespace

// Shared, with the writer alone: as private memory all of it would count to the process's limit of
// data (RLIMIT_DATA), of which it is to take no more than it uses.
ImageWork* ImageWork::Map(const ImageRequest& request) {
  const long at = RawCall(SYS_mmap, 0, kTotalBytes, PROT_NONE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (IsError(at)) return nullptr;
  // Of a process that locks all that it maps the kernel would fill it, see base/mapped_region.cc.
  RawCall(SYS_munlock, at, kTotalBytes);
  if (RawCall(SYS_mprotect, at, kTotalBytes, PROT_READ | PROT_WRITE) != 0) {
    RawCall(SYS_munmap, at, kTotalBytes);
    return nullptr;
  }
  std::byte* const base = reinterpret_cast<std::byte*>(at);
  ImageWork& work = *reinterpret_cast<ImageWork*>(base);
  work.mapping = {static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(at) + kTotalBytes};
  work.request = request;
  Places places(base + kSelfBytes);
  work.stack_top = places.Take(kStackBytes) + kStackBytes;
  for (std::byte*& buffer : work.io_buffers) buffer = places.Take(kImageBufferBytes);
  work.text_buffer = reinterpret_cast<char*>(places.Take(kTextBufferBytes));
  work.text_buffer_bytes = kTextBufferBytes;
  work.mappings.Place(places.Take(kMappingsBytes), kMappingsBytes);
  work.regions.Place(places.Take(kRegionsBytes), kRegionsBytes);
  work.texts.Place(places.Take(kTextsBytes), kTextsBytes);
  work.files.Place(places.Take(kFilesBytes), kFilesBytes);
  work.open_files.Place(places.Take(kOpenFilesBytes), kOpenFilesBytes);
  work.areas.Place(places.Take(kAreasBytes), kAreasBytes);
  work.ranges.Place(places.Take(kRangesBytes), kRangesBytes);
  work.runs.Place(places.Take(kRunsBytes), kRunsBytes);
  work.strings.Place(places.Take(kStringsBytes), kStringsBytes);
  work.chunks.Place(places.Take(kChunksBytes), kChunksBytes);
  work.EndString();  // The empty text.
  return &work;
}

void ImageWork::Unmap() { RawCall(SYS_munmap, mapping.start, mapping.end - mapping.start); }

std::uint64_t ImageWork::AddString(TextPiece text) {
  if (text.bytes == 0) return 0;
  const std::uint64_t at = strings.size();
  for (std::size_t i = 0; i < text.bytes; ++i) strings.Add(text.data[i]);
  EndString();
  return at;
}

TextPiece ImageWork::StringAt(std::uint64_t offset) const {
  std::uint64_t end = offset;
  while (strings[end] != '\0') ++end;
  return {&strings[offset], end - offset};
}

bool ImageWork::Overflown() const {
  return mappings.overflown() || regions.overflown() || texts.overflown() || files.overflown() ||
         areas.overflown() || ranges.overflown() || runs.overflown() || strings.overflown() ||
         chunks.overflown();
}

}  // namespace bspnow::runtime
