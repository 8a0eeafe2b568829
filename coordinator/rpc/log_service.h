// The calls that follow what a job prints: ReadLog and AttachJob. They read the log's file on
// gRPC's threads, one message ahead of the client: a slow one takes no memory.
#ifndef COORDINATOR_RPC_LOG_SERVICE_H_
#define COORDINATOR_RPC_LOG_SERVICE_H_

#include <string>

#include "coordinator/core/caller.h"
#include "coordinator/daemon.h"
#include "net/event_loop.h"
#include "proto/jobs.pb.h"

namespace grpc {
template <class Response>
class ServerWriteReactor;
template <class Request, class Response>
class ServerBidiReactor;
}  // namespace grpc

namespace bspnow::coordinator {

grpc::ServerWriteReactor<proto::LogLine>* SendLog(EventLoop& loop, Daemon& daemon,
                                                  const Caller& caller,
                                                  const proto::ReadLogRequest& request);
grpc::ServerBidiReactor<proto::ToJob, proto::FromJob>* AttachClient(EventLoop& loop, Daemon& daemon,
                                                                    const Caller& caller,
                                                                    std::string from);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_LOG_SERVICE_H_
