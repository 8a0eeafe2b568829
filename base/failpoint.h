// Faults on demand, for tests of the daemons. A failpoint is a named place in the code; the
// environment chooses which of them fail, how, and at which visit:
//
//   BSPNOW_FAILPOINTS="worker.image.synced=crash@2,coordinator.checkpoint.before_commit=sleep:500"
//
// Actions: crash (SIGKILL to itself), stop (SIGSTOP), error (EIO), enospc, sleep:MILLISECONDS.
// Without @N it is every time. Unset, a failpoint costs one load. Safe from any thread.
#ifndef BASE_FAILPOINT_H_
#define BASE_FAILPOINT_H_

#include <absl/status/status.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace bspnow {

inline constexpr char kFailpointsVariable[] = "BSPNOW_FAILPOINTS";

/// The faults that one such text asks for.
class Failpoints {
 public:
  enum class Action { kNone, kCrash, kStop, kError, kFull, kSleep };
  struct Fault {
    Action action = Action::kNone;
    std::uint64_t sleep_ms = 0;
  };

  Failpoints() = default;
  /// The first part that nobody can read is returned in `malformed`.
  Failpoints(std::string_view text, std::string& malformed);

  /// The place was reached: the action that is due there now.
  Fault Reach(std::string_view name);

  bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    std::string name;
    Fault fault;
    std::uint64_t at = 0;  ///< 0: every time.
    std::atomic<std::uint64_t> reached{0};
  };
  bool Add(std::string_view rule);

  std::deque<Rule> rules_;
};

/// Does what the environment asks for at the place `name`. 0, or the errno of the call that is
/// taken to have failed there.
int Failpoint(std::string_view name);

/// The same, as a Status that names the place.
absl::Status FailpointStatus(std::string_view name);

}  // namespace bspnow

#endif  // BASE_FAILPOINT_H_
