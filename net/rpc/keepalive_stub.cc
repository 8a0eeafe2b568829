#include <grpcpp/support/channel_arguments.h>

#include "net/rpc/keepalive.h"

namespace bspnow {

void SetKeepalive(Keepalive keepalive, grpc::ChannelArguments& arguments) {
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.time_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive.timeout_ms);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // No limit.
}

}  // namespace bspnow
