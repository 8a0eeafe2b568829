// What --timing prints: the measured job beside the cost model, w + h*g + l a superstep.
#ifndef CLIENT_TIMING_REPORT_H_
#define CLIENT_TIMING_REPORT_H_

#include <string>

#include "worker/node_segment.h"

namespace bspnow {

std::string TimingAsText(const JobMeasurements& job);
std::string TimingAsJson(const JobMeasurements& job);

}  // namespace bspnow

#endif  // CLIENT_TIMING_REPORT_H_
