// bsprun on a cluster: submits the job, and is its terminal until it ends. Input, output, signals
// and exit status are those of a run on this machine.
#ifndef CLIENT_RUN_CLUSTER_RUN_H_
#define CLIENT_RUN_CLUSTER_RUN_H_

#include "client/options/job_options.h"

namespace bspnow::client {

/// Runs the job on the cluster of options.coordinator to its end. Returns its exit status.
int RunOnCluster(const JobOptions& options);

}  // namespace bspnow::client

#endif  // CLIENT_RUN_CLUSTER_RUN_H_
