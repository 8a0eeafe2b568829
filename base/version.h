// The version of bspnow, and what daemons of different versions have in common.
#ifndef BASE_VERSION_H_
#define BASE_VERSION_H_

#include <cstdint>

namespace bspnow {

inline constexpr char kVersion[] = "0.1.0";

/// What the daemons of a cluster say to each other, and mean by it: frames, lanes, orders, events
/// and images. The coordinator's number is the whole cluster's; raised with each change that a
/// daemon of the number before would not understand.
inline constexpr std::uint32_t kProtocol = 4;

/// Workers of this version also understand coordinators of numbers down to this one: workers are
/// upgraded one by one, and the coordinator last.
inline constexpr std::uint32_t kProtocolOldest = 4;

}  // namespace bspnow

#endif  // BASE_VERSION_H_
