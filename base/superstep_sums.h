// What processes measured in one superstep, added up. See "Measurement" in docs/design.md.
#ifndef BASE_SUPERSTEP_SUMS_H_
#define BASE_SUPERSTEP_SUMS_H_

#include <algorithm>
#include <cstdint>

namespace bspnow {

/// What processes did in the supersteps of groups other than the root group that they ended
/// meanwhile, each its own: a superstep of a group counts once for each of its members. The root
/// group's figures have nothing of it but the time, which is part of computing there.
struct GroupSums {
  std::uint64_t supersteps;
  std::uint64_t sync_ns;  ///< In the calls that ended them: waiting, release and exchange.
  std::uint64_t bytes_out;
  std::uint64_t bytes_in;
  std::uint64_t messages_out;
  std::uint64_t messages_in;
};

inline void AddTo(GroupSums& sum, const GroupSums& more) {
  sum.supersteps += more.supersteps;
  sum.sync_ns += more.sync_ns;
  sum.bytes_out += more.bytes_out;
  sum.bytes_in += more.bytes_in;
  sum.messages_out += more.messages_out;
  sum.messages_in += more.messages_in;
}

/// Of some processes in one superstep. Lengths of time only: clocks of different nodes are never
/// compared. On the wire, too (net/frame.h): 64-bit words without padding.
struct SuperstepSums {
  std::uint64_t superstep;
  std::uint64_t compute_ns;  ///< Of all these processes, as are the next three: with these it adds
  std::uint64_t waiting_ns;  ///< up to their time. For the last of them to arrive;
  std::uint64_t release_ns;  ///< from then to the release;
  std::uint64_t exchange_ns;
  std::uint64_t w_ns;     ///< Computing of the slowest process, w_pid.
  std::uint64_t span_ns;  ///< From the release before to the arrival of the last of them.
  std::uint64_t bytes_out;
  std::uint64_t bytes_in;
  std::uint64_t h_out_bytes;  ///< Of the process with the most;
  std::uint64_t h_in_bytes;   ///< and in.
  std::uint64_t messages_out;
  std::uint64_t messages_in;
  std::uint32_t w_pid;
  std::uint32_t processes;
  GroupSums groups;
};
static_assert(sizeof(SuperstepSums) == 160);

/// Adds what other processes of the same node measured in the same superstep.
inline void AddProcesses(const SuperstepSums& others, SuperstepSums& into) {
  into.compute_ns += others.compute_ns;
  into.waiting_ns += others.waiting_ns;
  into.release_ns += others.release_ns;
  into.exchange_ns += others.exchange_ns;
  if (others.w_ns > into.w_ns || into.processes == 0) into.w_pid = others.w_pid;
  into.w_ns = std::max(into.w_ns, others.w_ns);
  into.span_ns = std::max(into.span_ns, others.span_ns);
  into.bytes_out += others.bytes_out;
  into.bytes_in += others.bytes_in;
  into.h_out_bytes = std::max(into.h_out_bytes, others.h_out_bytes);
  into.h_in_bytes = std::max(into.h_in_bytes, others.h_in_bytes);
  into.messages_out += others.messages_out;
  into.messages_in += others.messages_in;
  into.processes += others.processes;
  AddTo(into.groups, others.groups);
}

/// These processes waited for others, whose node took that long from the release before to its last
/// arrival: so much of what had passed for their release was waiting.
inline void WaitForSpan(std::uint64_t span_ns, SuperstepSums& sums) {
  if (span_ns <= sums.span_ns) return;
  const std::uint64_t waited_ns =
      std::min((span_ns - sums.span_ns) * sums.processes, sums.release_ns);
  sums.waiting_ns += waited_ns;
  sums.release_ns -= waited_ns;
}

/// Adds what processes of another node measured in the same superstep. `into` may be empty.
inline void AddNode(SuperstepSums others, SuperstepSums& into) {
  WaitForSpan(into.span_ns, others);
  WaitForSpan(others.span_ns, into);
  AddProcesses(others, into);
}

}  // namespace bspnow

#endif  // BASE_SUPERSTEP_SUMS_H_
