#include "worker/exchange/arrival_figures.h"

#include <algorithm>

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
    if (pid == pids.front()) {
      sums.start_ns = ReadOnce(m.start_ns);
      sums.total_ns = compute_ns + wait_ns + exchange_ns;
    }
    sums.compute_ns = std::max(sums.compute_ns, compute_ns);
    sums.wait_ns = std::max(sums.wait_ns, wait_ns);
    sums.exchange_ns = std::max(sums.exchange_ns, exchange_ns);
    sums.h_bytes = std::max({sums.h_bytes, ReadOnce(m.bytes_out), ReadOnce(m.bytes_in)});
    sums.messages += ReadOnce(m.messages_out);
  }
  return sums;
}

ProgressBody ProgressOf(const JobMeasurements& measured) {
  return ProgressBody{.supersteps = measured.totals.supersteps,
                      .total_ns = measured.totals.total_ns,
                      .w_ns = measured.totals.w_ns,
                      .h_bytes = measured.totals.h_bytes,
                      .beyond_ns = measured.totals.beyond_ns,
                      .l_ns = measured.totals.l_ns,
                      .silent = measured.totals.silent,
                      .messages = measured.totals.messages,
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
