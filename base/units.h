// Times are nanoseconds unless their names say otherwise.
#ifndef BASE_UNITS_H_
#define BASE_UNITS_H_

#include <cstdint>

namespace bspnow {

inline constexpr std::uint64_t kNsPerMs = 1'000'000;
inline constexpr std::uint64_t kNsPerS = 1'000'000'000;

}  // namespace bspnow

#endif  // BASE_UNITS_H_
