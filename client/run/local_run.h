// The embedded default: a coordinator's job and a worker's host in this one program, nothing to
// start by hand. The only place that sees both rooms (docs/design.md, "Parts").
#ifndef CLIENT_RUN_LOCAL_RUN_H_
#define CLIENT_RUN_LOCAL_RUN_H_

#include <string>

#include "client/options/job_options.h"

namespace bspnow::client {

/// Runs the job on this machine to its end; `program` is the file found for options.program.
/// Returns its exit status (docs/design.md).
int RunLocally(const JobOptions& options, const std::string& program);

}  // namespace bspnow::client

#endif  // CLIENT_RUN_LOCAL_RUN_H_
