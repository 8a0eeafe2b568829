// A profile in the Trace Event Format, which Perfetto and chrome://tracing open: a track for each
// process, with its supersteps and the parts of these.
#ifndef CLIENT_PROFILE_TRACE_JSON_H_
#define CLIENT_PROFILE_TRACE_JSON_H_

#include <string>

#include "client/profile/job_profile.h"

namespace bspnow::client {

/// Each track is by its process's own clock, and all begin at 0 in bsp_begin: clocks of nodes are
/// not compared. Supersteps are merged until the viewers can bear their number. Checkpoints and
/// returns from them are marked where they were; with the reason of each loss that is still known.
std::string TraceJson(const JobProfile& profile);

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_TRACE_JSON_H_
