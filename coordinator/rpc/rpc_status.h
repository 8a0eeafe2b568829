// Our errors as gRPC's: the same codes and words.
#ifndef COORDINATOR_RPC_RPC_STATUS_H_
#define COORDINATOR_RPC_RPC_STATUS_H_

#include <absl/status/status.h>

namespace grpc {
class Status;
}

namespace bspnow::coordinator {

grpc::Status ToGrpc(const absl::Status& status);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_RPC_STATUS_H_
