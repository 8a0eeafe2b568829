// Where a program called bsp_sync, as records have it and as addr2line names it.
#ifndef BASE_RECORDED_SITE_H_
#define BASE_RECORDED_SITE_H_

#include <cstdint>
#include <cstring>

namespace bspnow {

/// Set in a recorded call site that counts from the program's own program headers: no address of a
/// process has this bit.
inline constexpr std::uint64_t kFromHeaders = std::uint64_t{1} << 63;

/// Whether "/usr/include/bsp/world.hpp:67" is in a header of ours, whose functions are inlined: the
/// place in the program is where those were called, on the next line of `addr2line -i`.
inline bool IsInOurHeaders(const char* line) {
  static constexpr const char* kHeaders[] = {
      "/bsp/basis.hpp:",       "/bsp/collectives.hpp:",    "/bsp/group.hpp:",
      "/bsp/group_calls.hpp:", "/bsp/group_messages.hpp:", "/bsp/memory.hpp:",
      "/bsp/messages.hpp:",    "/bsp/world.hpp:",          "/greenbsp.h:"};
  for (const char* const header : kHeaders) {
    if (std::strstr(line, header) != nullptr) return true;
  }
  return false;
}

}  // namespace bspnow

#endif  // BASE_RECORDED_SITE_H_
