// What is known of this machine's g, l, n1/2 and s: without a coordinator `bsp probe` keeps what it
// measured in files of the user's, one for each p.
#ifndef CLIENT_RUN_LOCAL_MACHINE_H_
#define CLIENT_RUN_LOCAL_MACHINE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "client/options/job_options.h"
#include "proto/jobs.pb.h"

namespace bspnow::client {

/// In $XDG_STATE_HOME/bspnow, or ~/.local/state/bspnow, under the name of this host. A user without
/// such a place keeps nothing.
absl::Status KeepParameters(const proto::MachineParameters& parameters);

/// What was kept for p; for 0: what was measured last.
absl::StatusOr<proto::MachineParameters> KeptParameters(std::uint32_t p);

/// BSP_MACHINE=..., for processes that run here: of the machine that is simulated, or else of this
/// one, as measured with as many processes. Empty: the user has set it, or nothing is known.
std::string MachineOf(const JobOptions& options);

}  // namespace bspnow::client

#endif  // CLIENT_RUN_LOCAL_MACHINE_H_
