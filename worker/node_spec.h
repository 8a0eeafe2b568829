// What this node says of itself to the coordinator.
#ifndef WORKER_NODE_SPEC_H_
#define WORKER_NODE_SPEC_H_

#include <cstdint>
#include <string>

#include "proto/jobs.pb.h"
#include "worker/settings.h"

namespace bspnow::worker {

/// Of this run of the daemon.
std::uint64_t RandomIncarnation();

/// `flops_file`: where the rate of a core is noted. `accounts`: as whom programs run here.
proto::NodeSpec NodeSpecOf(const WorkerSettings& settings, const std::string& flops_file,
                           const std::string& accounts);

}  // namespace bspnow::worker

#endif  // WORKER_NODE_SPEC_H_
