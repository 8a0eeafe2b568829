#include <grpcpp/support/status.h>

#include <string>

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include "proto/grpc_status.h"

namespace bspnow {

static_assert(static_cast<int>(grpc::StatusCode::UNAUTHENTICATED) ==
              static_cast<int>(absl::StatusCode::kUnauthenticated));

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

// As gRPC begins when HTTP was answered with another status than 200.
constexpr char kNoGrpc[] = "Received http2 header with status:";

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED && status.error_message().empty())
    return absl::UnimplementedError(
        "the daemon that was asked is of an older version, which does not know this; upgrade it");
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  const std::string& words = status.error_message();
  if (absl::StartsWith(words, kNoGrpc))
    return absl::Status(code, absl::StrCat("what answers there is a web server or proxy, no daemon "
                                           "of bspnow; check host and port (gRPC says: ",
                                           words, ")"));
  return absl::Status(code, words);
}

}  // namespace bspnow
