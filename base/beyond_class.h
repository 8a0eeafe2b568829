// What supersteps took beyond w, h*g + l, by the size of h: what g and l are fitted to
// (base/cost_fit.h). Medians, because a mean is what one page fault makes of it, and a least what
// skew does.
//
// A class keeps its newest times until it has a batch of them, and then the batch's median and
// spread, averaged over the batches. So classes can be added: those of two epochs, or of what ran
// before the coordinator was started again.
#ifndef BASE_BEYOND_CLASS_H_
#define BASE_BEYOND_CLASS_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

namespace bspnow {

/// Supersteps of about the same h. All zero: none.
struct BeyondClass {
  static constexpr std::uint32_t kBatch = 31;
  static constexpr std::size_t kCount = 41;  ///< The last one has no upper bound.

  std::uint64_t supersteps;  ///< Of which the batches are done.
  std::uint64_t h_bytes;     ///< Of all supersteps, summed.
  double median_ns;
  double spread_ns;       ///< Between the quartiles.
  std::uint32_t pending;  ///< Others. It may be anything where processes can write: see Pending.
  float pending_ns[kBatch];

  std::uint32_t Pending() const { return std::min(pending, kBatch); }
};

/// 0 for h = 0; else h is below 2^class, and not below half of that.
constexpr std::size_t ClassOf(std::uint64_t h_bytes) {
  return std::min(static_cast<std::size_t>(std::bit_width(h_bytes)), BeyondClass::kCount - 1);
}

/// Adds supersteps of which no more is known than this.
inline void AddBatch(std::uint64_t supersteps, double median_ns, double spread_ns,
                     BeyondClass& into) {
  if (supersteps == 0) return;
  into.supersteps += supersteps;
  const double share = static_cast<double>(supersteps) / static_cast<double>(into.supersteps);
  into.median_ns += (median_ns - into.median_ns) * share;
  into.spread_ns += (spread_ns - into.spread_ns) * share;
}

/// Makes a batch of what is pending. It is not sorted: to count for each time how many are below it
/// takes no branch that a processor could guess wrong.
inline void Settle(BeyondClass& of) {
  const std::uint32_t n = of.Pending();
  if (n == 0) return;
  constexpr std::uint32_t kPlaces = BeyondClass::kBatch + 1;
  float ns[kPlaces];
  std::fill(std::copy_n(of.pending_ns, n, ns), ns + kPlaces,
            std::numeric_limits<float>::infinity());
  const std::uint32_t wanted[] = {n / 4, (n - 1) / 2, n / 2, (3 * n - 1) / 4};
  double found[std::size(wanted)] = {};
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t below = 0, equal = 0;
    for (const float other : ns) {
      below += other < ns[i] ? 1 : 0;
      equal += other == ns[i] ? 1 : 0;
    }
    for (std::size_t k = 0; k < std::size(wanted); ++k)
      if (wanted[k] - below < equal) found[k] = double{ns[i]};
  }
  of.pending = 0;
  AddBatch(n, (found[1] + found[2]) / 2, found[3] - found[0], of);
}

inline void AddBeyond(std::uint64_t h_bytes, double beyond_ns, BeyondClass& into) {
  if (into.pending >= BeyondClass::kBatch) Settle(into);
  into.h_bytes += h_bytes;
  into.pending_ns[into.pending++] = static_cast<float>(beyond_ns);
}

inline void AddClass(BeyondClass others, BeyondClass& into) {
  Settle(others);
  into.h_bytes += others.h_bytes;
  AddBatch(others.supersteps, others.median_ns, others.spread_ns, into);
}

}  // namespace bspnow

#endif  // BASE_BEYOND_CLASS_H_
