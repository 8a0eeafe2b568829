// CRC32C (Castagnoli), by the processor's instruction where there is one: of what travels between
// processes without a worker.
#ifndef RUNTIME_LINK_CRC32C_H_
#define RUNTIME_LINK_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace bspnow {

/// Goes on from the checksum of the bytes before; 0 at the first ones.
std::uint32_t Crc32c(std::uint32_t before, const std::byte* bytes, std::size_t count);

/// From now on this process may run on another processor: what that has is found out anew.
void ForgetProcessor();

}  // namespace bspnow

#endif  // RUNTIME_LINK_CRC32C_H_
