#include "worker/exchange/arrival_figures.h"

namespace bspnow::worker {

ProgressBody ProgressOf(const JobMeasurements& measured) {
  return ProgressBody{.superstep = measured.totals.supersteps,
                      .processes = measured.processes,
                      .reserved = 0,
                      .totals = measured.totals};
}

void MarkEnding(const Segment& segment, std::span<const Pid> pids, std::span<std::byte> bitmap) {
  for (const Pid pid : pids) {
    if (ReadOnce(segment.cell(pid).in_end) == 0) continue;
    bitmap[Value(pid) / 8] |= std::byte{1} << Value(pid) % 8;
  }
}

}  // namespace bspnow::worker
