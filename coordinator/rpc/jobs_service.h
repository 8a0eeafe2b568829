// The gRPC service Jobs of proto/jobs.proto: turns messages into calls of the Cluster.
#ifndef COORDINATOR_RPC_JOBS_SERVICE_H_
#define COORDINATOR_RPC_JOBS_SERVICE_H_

#include <memory>

#include "coordinator/access/authority.h"
#include "coordinator/daemon.h"
#include "coordinator/web/web_server.h"
#include "net/event_loop.h"

namespace grpc {
class Service;
}

namespace bspnow::coordinator {

/// `page`: null if there is none.
std::unique_ptr<grpc::Service> MakeJobsService(EventLoop& loop, Daemon& daemon,
                                               Authority& authority, WebServer* page);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_JOBS_SERVICE_H_
