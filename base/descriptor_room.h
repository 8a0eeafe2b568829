// Whether a program that is about to begin can open what it needs. Checked once, since libraries
// that find no descriptor later abort, or hide the reason.
#ifndef BASE_DESCRIPTOR_ROOM_H_
#define BASE_DESCRIPTOR_ROOM_H_

#include <cstdint>
#include <string>

namespace bspnow {

/// Of daemons at rest (bsp-coordinator has 22, and takes some twice as many while gRPC begins), and
/// of who calls one.
inline constexpr std::uint64_t kDescriptorsOfDaemon = 56;
inline constexpr std::uint64_t kDescriptorsOfClient = 24;

enum class DescriptorLimit {
  kAsItIs,
  kRaised,  ///< As base/raised_limits.h does it.
};

/// What is wrong if this process may not have `needed` descriptors more; empty: nothing.
std::string LackOfDescriptors(std::uint64_t needed, DescriptorLimit which);

}  // namespace bspnow

#endif  // BASE_DESCRIPTOR_ROOM_H_
