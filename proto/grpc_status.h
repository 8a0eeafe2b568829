// Our errors as gRPC's, and back: the same codes and words. gRPC has no words of its own for a call
// the other side does not know.
#ifndef PROTO_GRPC_STATUS_H_
#define PROTO_GRPC_STATUS_H_

#include <absl/status/status.h>

namespace grpc {
class Status;
}

namespace bspnow {

grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);
/// What FromGrpc makes of what gRPC itself says.
absl::Status WithOwnWords(const absl::Status& status);

}  // namespace bspnow

#endif  // PROTO_GRPC_STATUS_H_
