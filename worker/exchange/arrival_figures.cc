#include "worker/exchange/arrival_figures.h"

#include <algorithm>

#include "base/superstep_times.h"

namespace bspnow::worker {
namespace {

template <typename T>
T ReadOnce(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

}  // namespace

SuperstepSums SumsOf(const Segment& segment, std::span<const Pid> pids, std::uint64_t superstep) {
  SuperstepSums sums = SumsOf(segment.measurement(pids.front(), superstep));
  for (const Pid pid : pids.subspan(1)) FoldSums(SumsOf(segment.measurement(pid, superstep)), sums);
  sums.superstep = superstep;
  return sums;
}

ProgressBody ProgressOf(const JobMeasurements& measured) {
  const JobTotals& totals = measured.totals;
  const std::uint64_t p = std::max(measured.processes, 1u);
  return ProgressBody{.superstep = totals.supersteps,
                      .supersteps = totals.supersteps,
                      .total_ns = totals.total_ns,
                      .compute_ns = totals.compute_ns / p,
                      .wait_ns = totals.wait_ns / p,
                      .exchange_ns = totals.exchange_ns / p,
                      .w_ns = totals.w_ns,
                      .h_bytes = totals.h_bytes,
                      .l_ns = MedianOf(totals.silent_by_time, totals.silent),
                      .silent = totals.silent,
                      .messages = totals.messages,
                      .processes = measured.processes,
                      .reserved = 0};
}

void MarkEnding(const Segment& segment, std::span<const Pid> pids, std::span<std::byte> bitmap) {
  for (const Pid pid : pids) {
    if (ReadOnce(segment.cell(pid).in_end) == 0) continue;
    bitmap[Value(pid) / 8] |= std::byte{1} << Value(pid) % 8;
  }
}

}  // namespace bspnow::worker
