// How a caller by gRPC notices that the other machine is gone.
#ifndef NET_RPC_KEEPALIVE_H_
#define NET_RPC_KEEPALIVE_H_

#include "base/keepalive.h"

namespace grpc {
class ChannelArguments;
}

namespace bspnow {

/// Pings while a call is under way, however long it waits for its answer: without data gRPC would
/// stop after two pings, and a call that waits would then never notice.
void SetKeepalive(Keepalive keepalive, grpc::ChannelArguments& arguments);

}  // namespace bspnow

#endif  // NET_RPC_KEEPALIVE_H_
