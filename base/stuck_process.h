// Processes of which each waits for another one, and none ever goes on; found on one node, or by
// the coordinator.
#ifndef BASE_STUCK_PROCESS_H_
#define BASE_STUCK_PROCESS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bspnow {

struct StuckProcess {
  std::uint32_t pid;
  std::string where;     ///< "at the end of superstep 3 of group 2 (pids 0-3)"
  std::uint32_t awaits;  ///< One of the others.

  bool operator==(const StuckProcess&) const = default;
};

/// For the user: how many they are, and one circle of them. `stuck` is not empty.
std::string DeadlockText(const std::vector<StuckProcess>& stuck);

/// "pid 3", "pids 0-3", "pids 0-3 7 9": of ascending pids; the end is left out if it is long.
std::string PidsText(const std::vector<std::uint32_t>& pids);

}  // namespace bspnow

#endif  // BASE_STUCK_PROCESS_H_
