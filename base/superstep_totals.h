// What processes measured, over all supersteps of a job. The same struct on a node, where libbsp or
// a worker adds a superstep at a time, on the wire (ProgressBody in net/frame.h), and with the
// coordinator.
#ifndef BASE_SUPERSTEP_TOTALS_H_
#define BASE_SUPERSTEP_TOTALS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/beyond_class.h"
#include "base/superstep_sums.h"

namespace bspnow {

/// Supersteps in which this process computed longest. All zero: none.
struct StragglerCount {
  std::uint32_t pid;
  std::uint32_t inherited;  ///< Of `supersteps`, those of whom it took the place of; or all ones.
  std::uint64_t supersteps;
  std::uint64_t cost_ns;  ///< That it computed longer than a process on average.
};

/// All of it is zero at first. Names and units as in SuperstepSums. Sums: see kSumsOfTotals.
struct SuperstepTotals {
  static constexpr std::size_t kStragglers = 8;

  std::uint64_t supersteps;
  std::uint64_t compute_ns;  ///< Of all processes, as are the next three: all add up to p times the
  std::uint64_t waiting_ns;  ///< supersteps' time.
  std::uint64_t release_ns;
  std::uint64_t exchange_ns;
  std::uint64_t w_ns;     ///< Of each superstep the slowest process, summed.
  std::uint64_t h_bytes;  ///< Of each superstep the most bytes out of or into a process, summed;
  std::uint64_t h_out_bytes;  ///< out alone;
  std::uint64_t h_in_bytes;   ///< in alone.
  std::uint64_t bytes_out;
  std::uint64_t bytes_in;
  std::uint64_t messages_out;
  std::uint64_t messages_in;
  std::uint64_t group_supersteps;  ///< As in GroupSums, as are the next five.
  std::uint64_t group_sync_ns;
  std::uint64_t group_bytes_out;
  std::uint64_t group_bytes_in;
  std::uint64_t group_messages_out;
  std::uint64_t group_messages_in;
  BeyondClass beyond[BeyondClass::kCount];  ///< By ClassOf(h).
  /// The most costly. Who finds no place takes that of the least one, and with it its counts, so
  /// that none is too low (Metwally, Agrawal, Abbadi 2005, "Space-Saving"). What it did itself is
  /// less than that by what it inherited: in cost that is at most the least one's.
  StragglerCount stragglers[kStragglers];
};

/// The members that are added up, whatever is added.
inline constexpr std::uint64_t SuperstepTotals::*kSumsOfTotals[] = {
    &SuperstepTotals::supersteps,        &SuperstepTotals::compute_ns,
    &SuperstepTotals::waiting_ns,        &SuperstepTotals::release_ns,
    &SuperstepTotals::exchange_ns,       &SuperstepTotals::w_ns,
    &SuperstepTotals::h_bytes,           &SuperstepTotals::h_out_bytes,
    &SuperstepTotals::h_in_bytes,        &SuperstepTotals::bytes_out,
    &SuperstepTotals::bytes_in,          &SuperstepTotals::messages_out,
    &SuperstepTotals::messages_in,       &SuperstepTotals::group_supersteps,
    &SuperstepTotals::group_sync_ns,     &SuperstepTotals::group_bytes_out,
    &SuperstepTotals::group_bytes_in,    &SuperstepTotals::group_messages_out,
    &SuperstepTotals::group_messages_in,
};

inline std::uint32_t Inherited(std::uint64_t supersteps) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(supersteps, ~std::uint32_t{0}));
}

inline void AddStraggler(const StragglerCount& more, SuperstepTotals& totals) {
  StragglerCount* least = totals.stragglers;
  for (StragglerCount& listed : totals.stragglers) {
    if (listed.pid == more.pid && listed.supersteps != 0) {
      least = &listed;
      break;
    }
    if (listed.cost_ns < least->cost_ns || listed.supersteps == 0) least = &listed;
    if (listed.supersteps == 0) break;  // The free ones come last.
  }
  const std::uint64_t others = least->pid == more.pid ? least->inherited : least->supersteps;
  least->inherited = Inherited(others + more.inherited);
  least->pid = more.pid;
  least->supersteps += more.supersteps;
  least->cost_ns += more.cost_ns;
}

inline void AddGroups(const GroupSums& groups, SuperstepTotals& totals) {
  totals.group_supersteps += groups.supersteps;
  totals.group_sync_ns += groups.sync_ns;
  totals.group_bytes_out += groups.bytes_out;
  totals.group_bytes_in += groups.bytes_in;
  totals.group_messages_out += groups.messages_out;
  totals.group_messages_in += groups.messages_in;
}

/// Adds a superstep of all processes.
inline void AddSuperstep(const SuperstepSums& sums, SuperstepTotals& totals) {
  totals.supersteps += 1;
  totals.compute_ns += sums.compute_ns;
  totals.waiting_ns += sums.waiting_ns;
  totals.release_ns += sums.release_ns;
  totals.exchange_ns += sums.exchange_ns;
  totals.w_ns += sums.w_ns;
  const std::uint64_t h_bytes = std::max(sums.h_out_bytes, sums.h_in_bytes);
  totals.h_bytes += h_bytes;
  totals.h_out_bytes += sums.h_out_bytes;
  totals.h_in_bytes += sums.h_in_bytes;
  totals.bytes_out += sums.bytes_out;
  totals.bytes_in += sums.bytes_in;
  totals.messages_out += sums.messages_out;
  totals.messages_in += sums.messages_in;
  AddGroups(sums.groups, totals);
  const double each = 1 / static_cast<double>(std::max(sums.processes, 1u));
  const auto w_ns = static_cast<double>(sums.w_ns);
  const double computing_ns = static_cast<double>(sums.compute_ns) * each;
  const double in_sync_ns =
      static_cast<double>(sums.waiting_ns + sums.release_ns + sums.exchange_ns) * each;
  // A process's time on average, which one process's skew does not make shorter, less w.
  AddBeyond(h_bytes, std::max(computing_ns + in_sync_ns - w_ns, 0.0),
            totals.beyond[ClassOf(h_bytes)]);
  if (sums.processes < 2) return;
  // By whole numbers: what comes from a lane may be anything, and more than a double can say.
  const std::uint64_t each_ns = sums.compute_ns / sums.processes;
  if (sums.w_ns <= each_ns) return;
  AddStraggler({.pid = sums.w_pid, .inherited = 0, .supersteps = 1, .cost_ns = sums.w_ns - each_ns},
               totals);
}

/// What each is known to have cost itself: who took another's place has that one's counts, too.
/// Where all compute alike, and are more than there are places, nothing is left worth naming.
inline std::array<StragglerCount, SuperstepTotals::kStragglers> OwnCounts(
    const SuperstepTotals& totals) {
  constexpr double kWorthNaming = 0.01;  // Of all that stragglers cost.
  std::array<StragglerCount, SuperstepTotals::kStragglers> own;
  std::copy(std::begin(totals.stragglers), std::end(totals.stragglers), own.begin());
  std::uint64_t least_ns = ~std::uint64_t{0};
  double all_ns = 0;
  for (const StragglerCount& listed : own) {
    least_ns = std::min(least_ns, listed.cost_ns);
    all_ns += static_cast<double>(listed.cost_ns);
  }
  for (StragglerCount& listed : own) {
    if (listed.inherited == 0) continue;
    listed.supersteps -= std::min<std::uint64_t>(listed.inherited, listed.supersteps);
    listed.cost_ns -= least_ns;
    listed.inherited = 0;
    if (static_cast<double>(listed.cost_ns) < kWorthNaming * all_ns) listed = {};
  }
  return own;
}

/// Of other supersteps, to `into`. Of stragglers their own counts alone: inherited ones would be
/// inherited again, by whom `into` has no place for, and be taken off only once.
inline void AddTotals(const SuperstepTotals& others, SuperstepTotals& into) {
  for (const auto sum : kSumsOfTotals) into.*sum += others.*sum;
  for (std::size_t i = 0; i < BeyondClass::kCount; ++i) AddClass(others.beyond[i], into.beyond[i]);
  for (const StragglerCount& own : OwnCounts(others))
    if (own.supersteps != 0 && own.cost_ns != 0) AddStraggler(own, into);
}

}  // namespace bspnow

#endif  // BASE_SUPERSTEP_TOTALS_H_
