// XXH3, from a header alone: libbsp links with no library.
#ifndef RUNTIME_IMAGE_FILE_IMAGE_HASH_H_
#define RUNTIME_IMAGE_FILE_IMAGE_HASH_H_

#include <cstddef>
#include <cstdint>

#include "base/freestanding/text.h"

namespace bspnow::runtime {

std::uint64_t ImageHash(const void* data, std::size_t bytes);

/// Of the program's memory, piece by piece through `buffer`.
Hash128 ImageHashText(const void* data, std::size_t bytes, std::byte* buffer,
                      std::size_t buffer_bytes);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_FILE_IMAGE_HASH_H_
