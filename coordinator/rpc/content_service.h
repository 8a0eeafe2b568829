// The calls that carry contents and files. They work on gRPC's threads: a file in the making is its
// call's alone.
#ifndef COORDINATOR_RPC_CONTENT_SERVICE_H_
#define COORDINATOR_RPC_CONTENT_SERVICE_H_

#include "coordinator/core/caller.h"
#include "coordinator/daemon.h"
#include "net/event_loop.h"
#include "proto/jobs.pb.h"
#include "proto/workers.pb.h"

namespace grpc {
class CallbackServerContext;
template <class Request>
class ServerReadReactor;
template <class Response>
class ServerWriteReactor;
}  // namespace grpc

namespace bspnow::coordinator {

grpc::ServerReadReactor<proto::FileChunk>* TakeBlob(const Uploads& uploads, const Caller& caller);
grpc::ServerWriteReactor<proto::FileChunk>* SendBlob(const Uploads& uploads,
                                                     const proto::ReadBlobRequest& request);
grpc::ServerReadReactor<proto::FileChunk>* TakeFiles(EventLoop& loop, Daemon& daemon,
                                                     grpc::CallbackServerContext& context);
grpc::ServerReadReactor<proto::FileChunk>* TakeProfile(EventLoop& loop, const Daemon& daemon);
grpc::ServerWriteReactor<proto::FileChunk>* SendProfile(EventLoop& loop, Daemon& daemon,
                                                        const Caller& caller,
                                                        const proto::ReadProfileRequest& request);
grpc::ServerWriteReactor<proto::FileChunk>* SendFiles(EventLoop& loop, Daemon& daemon,
                                                      const Caller& caller,
                                                      const proto::FetchFilesRequest& request);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_CONTENT_SERVICE_H_
