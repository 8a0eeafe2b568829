#ifndef BASE_PACKET_H_
#define BASE_PACKET_H_

#include <cstddef>

namespace bspnow {

/// More than the largest packets of a network have. There are ways on which small ones arrive and
/// large ones never do, such as a tunnel whose lower limit (MTU) nobody is told: they let a
/// handshake through, and nothing of use. Who opens a connection sends that much, to find out.
inline constexpr std::size_t kMoreThanAPacketBytes = 16 << 10;

}  // namespace bspnow

#endif  // BASE_PACKET_H_
