// Exit statuses of our programs and of jobs; docs/design.md, "Starting and ending", lists the
// cases.
#ifndef BASE_EXIT_STATUS_H_
#define BASE_EXIT_STATUS_H_

namespace bspnow {

inline constexpr int kFailureStatus = 1;
inline constexpr int kUsageStatus = 2;
inline constexpr int kAbortStatus = 6;  // bsp_abort, or a wrong use of BSPlib; as BSPonMPI's.
inline constexpr int kRestoreFailedStatus = 125;  // bsp-restore could not become the process.
inline constexpr int kNotExecutableStatus = 126;
inline constexpr int kNotFoundStatus = 127;
inline constexpr int kSignalStatus = 128;  // And the number of the signal that killed the process.

}  // namespace bspnow

#endif  // BASE_EXIT_STATUS_H_
