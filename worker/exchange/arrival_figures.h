// What Arrive and Progress tell of the processes of a node, from what they wrote into the segment.
// They may have written anything: it is shown, and not relied upon.
#ifndef WORKER_EXCHANGE_ARRIVAL_FIGURES_H_
#define WORKER_EXCHANGE_ARRIVAL_FIGURES_H_

#include <cstddef>
#include <span>

#include "base/ids.h"
#include "net/frame.h"
#include "runtime/link/link_segment.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {

/// Of a job that releases itself.
ProgressBody ProgressOf(const JobMeasurements& measured);

/// Sets the bits, by pid, of those that are in bsp_end.
void MarkEnding(const Segment& segment, std::span<const Pid> pids, std::span<std::byte> bitmap);

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_ARRIVAL_FIGURES_H_
