#include "runtime/image/file/image_hash.h"

#include <algorithm>

#include "base/freestanding/raw_call.h"

#define XXH_INLINE_ALL
#include <xxhash.h>  // tidy: all of it is compiled here, nothing is linked

namespace bspnow::runtime {

std::uint64_t ImageHash(const void* data, std::size_t bytes) { return XXH3_64bits(data, bytes); }

Hash128 ImageHashText(const void* data, std::size_t bytes, std::byte* buffer,
                      std::size_t buffer_bytes) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, buffer_bytes);
    CopyRaw(buffer, from, part);
    XXH3_128bits_update(&state, buffer, part);
    from += part;
    bytes -= part;
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  return {.high = hash.high64, .low = hash.low64};
}

}  // namespace bspnow::runtime
