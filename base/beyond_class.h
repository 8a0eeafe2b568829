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

/// Makes a batch of what is pending.
inline void Settle(BeyondClass& of) {
  const std::uint32_t n = of.Pending();
  if (n == 0) return;
  float* const ns = of.pending_ns;
  for (std::uint32_t i = 1; i < n; ++i)  // Short, and libbsp has no std::sort.
    for (std::uint32_t k = i; k > 0 && ns[k - 1] > ns[k]; --k) std::swap(ns[k - 1], ns[k]);
  const double median_ns = (double{ns[(n - 1) / 2]} + double{ns[n / 2]}) / 2;
  of.pending = 0;
  AddBatch(n, median_ns, double{ns[(3 * n - 1) / 4]} - double{ns[n / 4]}, of);
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
