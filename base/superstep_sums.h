// What processes measured in one superstep, added up; and over all supersteps of a job.
#ifndef BASE_SUPERSTEP_SUMS_H_
#define BASE_SUPERSTEP_SUMS_H_

#include <algorithm>
#include <cstdint>

#include "base/superstep_times.h"

namespace bspnow {

/// Of some processes in one superstep. Lengths of time only: clocks of different nodes are never
/// compared. On the wire, too (net/frame.h): 64-bit words without padding.
struct SuperstepSums {
  std::uint64_t superstep;
  std::uint64_t compute_ns;  ///< Of all processes, as are the next two.
  std::uint64_t wait_ns;
  std::uint64_t exchange_ns;
  std::uint64_t w_ns;      ///< Computing of the slowest process.
  std::uint64_t total_ns;  ///< Of one process: where pid 0 is among them, of pid 0.
  std::uint64_t h_bytes;   ///< The largest of bytes out or in.
  std::uint64_t messages;  ///< The sum.
};

/// Adds what others measured in the same superstep: w and h of the slowest, sums of all.
/// `superstep` and `total_ns` stay: the caller takes those of pid 0's node, so that the time of the
/// whole is one clock's.
inline void FoldSums(const SuperstepSums& of_others, SuperstepSums& into) {
  into.compute_ns += of_others.compute_ns;
  into.wait_ns += of_others.wait_ns;
  into.exchange_ns += of_others.exchange_ns;
  into.w_ns = std::max(into.w_ns, of_others.w_ns);
  into.h_bytes = std::max(into.h_bytes, of_others.h_bytes);
  into.messages += of_others.messages;
}

/// Adds a superstep of all p processes to the JobTotals (runtime/link/link.h) of their job.
template <typename Totals>
void AddSuperstep(const SuperstepSums& sums, std::uint64_t p, Totals& totals) {
  totals.supersteps += 1;
  totals.total_ns += sums.total_ns;
  totals.compute_ns += sums.compute_ns;
  totals.wait_ns += sums.wait_ns;
  totals.exchange_ns += sums.exchange_ns;
  totals.w_ns += sums.w_ns;
  totals.h_bytes += sums.h_bytes;
  totals.messages += sums.messages;
  if (sums.h_bytes != 0) return;
  const std::uint64_t of_all_ns = sums.compute_ns + sums.wait_ns + sums.exchange_ns;
  totals.silent += 1;
  totals.silent_by_time[DurationBucket(BeyondNs(of_all_ns, p, sums.w_ns))] += 1;
}

/// Of other supersteps, to `into`.
template <typename Totals>
void AddTotals(const Totals& others, Totals& into) {
  into.supersteps += others.supersteps;
  into.total_ns += others.total_ns;
  into.compute_ns += others.compute_ns;
  into.wait_ns += others.wait_ns;
  into.exchange_ns += others.exchange_ns;
  into.w_ns += others.w_ns;
  into.h_bytes += others.h_bytes;
  into.messages += others.messages;
  into.silent += others.silent;
  for (std::size_t i = 0; i < kDurationBuckets; ++i)
    into.silent_by_time[i] += others.silent_by_time[i];
}

}  // namespace bspnow

#endif  // BASE_SUPERSTEP_SUMS_H_
