// The totals of a job, between the struct that is added up and the message that is stored and
// shown.
#ifndef COORDINATOR_CORE_TOTALS_MESSAGE_H_
#define COORDINATOR_CORE_TOTALS_MESSAGE_H_

#include <cstdint>

#include "base/superstep_totals.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

/// Of a job of p processes; 0 before bsp_begin. With all that follows from the sums: g and l, the
/// time that they predict, the imbalance. Where stragglers are is not known here.
proto::JobTotals TotalsMessage(const SuperstepTotals& totals, std::uint32_t processes);

/// Back again, to go on from there; also from what an older version stored.
SuperstepTotals TotalsFrom(const proto::JobTotals& message);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_TOTALS_MESSAGE_H_
