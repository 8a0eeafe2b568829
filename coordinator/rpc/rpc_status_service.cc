#include <grpcpp/support/status.h>

#include <string>

#include "coordinator/rpc/rpc_status.h"

namespace bspnow::coordinator {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  static_assert(static_cast<int>(grpc::StatusCode::UNAUTHENTICATED) ==
                static_cast<int>(absl::StatusCode::kUnauthenticated));
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

}  // namespace bspnow::coordinator
