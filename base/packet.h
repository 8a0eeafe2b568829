// What a network loses by its size.
#ifndef BASE_PACKET_H_
#define BASE_PACKET_H_

#include <cstddef>

namespace bspnow {

/// Larger than any packet of a network. Some paths deliver small packets and lose large ones: a
/// tunnel with a lower MTU, say, where a firewall drops the ICMP messages that would tell the
/// senders. A handshake succeeds there, and no data arrives. So a probe and the first message of a
/// control stream are this large: if the path loses them, that shows at once.
inline constexpr std::size_t kMoreThanAPacketBytes = 16 << 10;

}  // namespace bspnow

#endif  // BASE_PACKET_H_
