// The version of bspnow: coordinator and workers of one cluster must have the same.
#ifndef BASE_VERSION_H_
#define BASE_VERSION_H_

namespace bspnow {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace bspnow

#endif  // BASE_VERSION_H_
