// A histogram for metrics: recorded by one thread in a few plain instructions, looked at by any.
#ifndef COORDINATOR_CORE_HISTOGRAM_H_
#define COORDINATOR_CORE_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bspnow::coordinator {

/// Its buckets end at 2^i times a base.
class Histogram {
 public:
  static constexpr std::size_t kBuckets = 32;  ///< The last one has no upper bound.

  /// `base`: the upper bound of the first bucket, in the recorded unit.
  explicit Histogram(std::uint64_t base) : base_(base) {}

  /// `value`, that many times.
  void Record(std::uint64_t value, std::uint64_t times);

  struct Snapshot {
    std::array<std::uint64_t, kBuckets> bounds;  ///< Upper, inclusive; the last one is the maximum.
    std::array<std::uint64_t, kBuckets> counts;  ///< Of this bucket alone.
    std::uint64_t sum;
  };
  Snapshot Look() const;

 private:
  std::uint64_t base_;
  std::array<std::atomic<std::uint64_t>, kBuckets> counts_{};
  std::atomic<std::uint64_t> sum_{0};
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_HISTOGRAM_H_
