// What a process has in it of the libbsp that it was linked with: images of it go on only where the
// worker speaks to that libbsp. To the coordinator it is one more feature that a node has or lacks.
#ifndef BASE_LINK_FEATURE_H_
#define BASE_LINK_FEATURE_H_

#include <cstdint>
#include <string>

namespace bspnow {

/// No CPU feature has a blank in its name.
inline constexpr char kLinkFeature[] = "link version ";

inline std::string LinkFeature(std::uint32_t version) {
  return kLinkFeature + std::to_string(version);
}

}  // namespace bspnow

#endif  // BASE_LINK_FEATURE_H_
