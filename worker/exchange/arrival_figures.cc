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
  SuperstepSums sums{};
  sums.superstep = superstep;
  for (const Pid pid : pids) {
    const Measurement& m = segment.measurement(pid, superstep);
    const std::uint64_t compute_ns = ReadOnce(m.compute_ns);
    const std::uint64_t wait_ns = ReadOnce(m.wait_ns);
    const std::uint64_t exchange_ns = ReadOnce(m.exchange_ns);
    if (pid == pids.front()) sums.total_ns = compute_ns + wait_ns + exchange_ns;
    sums.w_ns = std::max(sums.w_ns, compute_ns);
    sums.compute_ns += compute_ns;
    sums.wait_ns += wait_ns;
    sums.exchange_ns += exchange_ns;
    sums.h_bytes = std::max({sums.h_bytes, ReadOnce(m.bytes_out), ReadOnce(m.bytes_in)});
    sums.messages += ReadOnce(m.messages_out);
  }
  return sums;
}

ProgressBody ProgressOf(const JobMeasurements& measured) {
  const JobTotals& totals = measured.totals;
  const std::uint64_t p = std::max(measured.processes, 1u);
  return ProgressBody{.supersteps = totals.supersteps,
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
