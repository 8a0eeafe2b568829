#include <grpcpp/support/status.h>

#include <string>

#include "proto/grpc_status.h"

namespace bspnow {

static_assert(static_cast<int>(grpc::StatusCode::UNAUTHENTICATED) ==
              static_cast<int>(absl::StatusCode::kUnauthenticated));

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED && status.error_message().empty())
    return absl::UnimplementedError(
        "the daemon that was asked is of an older version, which does not know this; upgrade it");
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace bspnow
