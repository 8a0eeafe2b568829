// What --timing prints: the measured job beside the cost model, w + h*g + l a superstep.
#ifndef CLIENT_VIEW_TIMING_REPORT_H_
#define CLIENT_VIEW_TIMING_REPORT_H_

#include <string>

#include "proto/jobs.pb.h"

namespace bspnow::client {

/// The sums, where the time went, and a line for each of w, h, g and l: "-", in JSON null, where
/// the supersteps say nothing of g or l.
std::string CostsAsText(const proto::JobTotals& totals);

/// The same, as bsprun prints it. In JSON with the names that `bsp show --json` has, and g.
std::string TimingAsText(const proto::JobTotals& totals);
std::string TimingAsJson(const proto::JobTotals& totals);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_TIMING_REPORT_H_
