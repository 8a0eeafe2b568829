// What --timing prints: the measured job beside the cost model, w + h*g + l a superstep.
#ifndef CLIENT_VIEW_TIMING_REPORT_H_
#define CLIENT_VIEW_TIMING_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "proto/jobs.pb.h"

namespace bspnow::client {

/// The sums, a line for each of w, h, g and l, where the time went, what the model predicts, and
/// whom the others waited for. "-" where the supersteps say nothing of g or l.
std::string CostsAsText(const proto::JobTotals& totals);

/// The same, as bsprun prints it.
std::string TimingAsText(const proto::JobTotals& totals);

/// All totals, as `bsp show --json` and `bsprun --timing --json` have them; null where nothing is
/// known.
nlohmann::json TotalsJson(const proto::JobTotals& totals);
std::string TimingAsJson(const proto::JobTotals& totals);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_TIMING_REPORT_H_
