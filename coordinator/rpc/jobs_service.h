// The gRPC service Jobs of proto/jobs.proto: turns messages into calls of the Cluster.
#ifndef COORDINATOR_RPC_JOBS_SERVICE_H_
#define COORDINATOR_RPC_JOBS_SERVICE_H_

#include <memory>

#include "coordinator/access/authority.h"
#include "coordinator/daemon.h"
#include "net/event_loop.h"

namespace grpc {
class Service;
}

namespace bspnow::coordinator {

std::unique_ptr<grpc::Service> MakeJobsService(EventLoop& loop, Daemon& daemon,
                                               Authority& authority);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_JOBS_SERVICE_H_
