#include "coordinator/core/histogram.h"

#include <algorithm>
#include <bit>

namespace bspnow::coordinator {
namespace {

// One thread writes, so that no locked instruction is needed.
void Add(std::atomic<std::uint64_t>& counter, std::uint64_t value) {
  counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

}  // namespace

void Histogram::Record(std::uint64_t value, std::uint64_t times) {
  // The first i with value <= base * 2^i: the bits that (value - 1) / base has.
  const std::uint64_t units = value == 0 ? 0 : (value - 1) / base_;
  const auto bucket = static_cast<std::size_t>(std::bit_width(units));
  Add(counts_[std::min(bucket, kBuckets - 1)], times);
  Add(sum_, value * times);
}

Histogram::Snapshot Histogram::Look() const {
  Snapshot snapshot;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    snapshot.bounds[i] = base_ << i;
    snapshot.counts[i] = counts_[i].load(std::memory_order_relaxed);
  }
  snapshot.bounds.back() = ~std::uint64_t{0};
  snapshot.sum = sum_.load(std::memory_order_relaxed);
  return snapshot;
}

}  // namespace bspnow::coordinator
