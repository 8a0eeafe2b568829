// What a process says of its waits in supersteps that end by counting; a part of its cell (link.h).
#ifndef RUNTIME_LINK_COUNTED_WAIT_H_
#define RUNTIME_LINK_COUNTED_WAIT_H_

#include <atomic>
#include <cstdint>

namespace bspnow {

/// A process that waits at the end of a counted superstep; for whoever asks who is late. If that is
/// the superstep after the one that runs, it went ahead of a barrier, and waits for its end.
struct CountedWait {
  std::atomic<std::uint64_t> superstep;  ///< Plus 1; 0: it does not wait.
  std::atomic<std::uint64_t> expected;   ///< Messages,
  std::atomic<std::uint64_t> here;       ///< and how many have been sent to it.
  /// Or waits for a member that is behind to begin a superstep: see WordOf. 0: for none.
  std::atomic<std::uint64_t> behind;

  /// `begins`: as ProcessCell::started of that member has to be.
  static constexpr std::uint64_t WordOf(std::uint32_t member, std::uint32_t begins) {
    return (std::uint64_t{member} + 1) << 32 | begins;
  }
  static constexpr std::uint32_t MemberOf(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32) - 1;
  }
};

}  // namespace bspnow

#endif  // RUNTIME_LINK_COUNTED_WAIT_H_
