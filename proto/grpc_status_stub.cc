#include <grpcpp/support/status.h>

#include <string>

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include "proto/grpc_status.h"

namespace bspnow {
namespace {

// As gRPC begins when HTTP was answered with another status than 200.
constexpr char kNoGrpc[] = "Received http2 header with status:";

}  // namespace

static_assert(static_cast<int>(grpc::StatusCode::UNAUTHENTICATED) ==
              static_cast<int>(absl::StatusCode::kUnauthenticated));

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

absl::Status FromGrpc(const grpc::Status& status) {
  return WithOwnWords(
      absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message()));
}

absl::Status WithOwnWords(const absl::Status& status) {
  if (absl::IsUnimplemented(status) && status.message().empty())
    return absl::UnimplementedError(
        "the daemon that was asked is of an older version, which does not know this; upgrade it");
  if (!absl::StartsWith(status.message(), kNoGrpc)) return status;
  return absl::Status(status.code(), absl::StrCat("what answers there is a web server or proxy, no "
                                                  "daemon of bspnow; check host and port (gRPC "
                                                  "says: ",
                                                  status.message(), ")"));
}

}  // namespace bspnow
