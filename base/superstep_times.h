// What is counted of supersteps' times: what goes beyond w, and durations by size, so that their
// median can be told without keeping them, to a sixteenth, whatever the range.
#ifndef BASE_SUPERSTEP_TIMES_H_
#define BASE_SUPERSTEP_TIMES_H_

#include <bit>
#include <cstddef>
#include <cstdint>

namespace bspnow {

/// What a superstep took beyond w, h*g + l: a process's time on average, which one process's skew
/// does not make shorter, less w. 0 where the clocks leave nothing.
constexpr std::uint64_t BeyondNs(std::uint64_t of_all_ns, std::uint64_t p, std::uint64_t w_ns) {
  return of_all_ns / p > w_ns ? of_all_ns / p - w_ns : 0;
}

// Below kExactNs each nanosecond has a bucket of its own; above, each power of two has eight; the
// last bucket holds all from 2^40 ns (18 minutes) on, too.
inline constexpr std::uint64_t kExactNs = 16;
inline constexpr unsigned kExactBits = 4;
inline constexpr unsigned kBucketBits = 3;
inline constexpr unsigned kLastBits = 39;
inline constexpr std::size_t kDurationBuckets =
    kExactNs + ((kLastBits - kExactBits + 1) << kBucketBits);

constexpr std::size_t DurationBucket(std::uint64_t ns) {
  if (ns < kExactNs) return ns;
  const auto bits = static_cast<unsigned>(std::bit_width(ns)) - 1;
  if (bits > kLastBits) return kDurationBuckets - 1;
  const std::uint64_t eighth = ns >> (bits - kBucketBits) & ((1u << kBucketBits) - 1);
  return kExactNs + ((bits - kExactBits) << kBucketBits) + eighth;
}

/// The middle of a bucket.
constexpr std::uint64_t DurationOf(std::size_t bucket) {
  if (bucket < kExactNs) return bucket;
  const std::uint64_t eighths = bucket - kExactNs;
  const auto shift = static_cast<unsigned>(eighths >> kBucketBits) + kExactBits - kBucketBits;
  const std::uint64_t low = (eighths & ((1u << kBucketBits) - 1)) + (1u << kBucketBits);
  return (low << shift) + (std::uint64_t{1} << shift) / 2;
}

/// Of the kDurationBuckets counts, which add up to `count`; 0 if that is 0.
template <typename Counts>
std::uint64_t MedianOf(const Counts& counts, std::uint64_t count) {
  std::uint64_t below = 0;
  for (std::size_t bucket = 0; bucket < kDurationBuckets; ++bucket) {
    below += counts[bucket];
    if (2 * below >= count && below != 0) return DurationOf(bucket);
  }
  return 0;
}

}  // namespace bspnow

#endif  // BASE_SUPERSTEP_TIMES_H_
