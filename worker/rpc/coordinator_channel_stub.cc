#include <grpcpp/grpcpp.h>

#include "net/login/token_channel.h"
#include "net/rpc/keepalive.h"
#include "worker/rpc/coordinator_channel.h"

namespace bspnow::worker {
namespace {

constexpr int kBackoffLeastMs = 50;
constexpr int kBackoffMostMs = 250;  // Jobs wait for a coordinator that was restarted.
constexpr int kConnectTimeoutMs = 1'000;
constexpr int kMessageBytesMax = 64 << 20;

}  // namespace

std::shared_ptr<grpc::Channel> ChannelToCoordinator(const CoordinatorAddress& coordinator) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // Contents do not hold up orders.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kBackoffMostMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kBackoffLeastMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  SetKeepalive(kWorkerKeepalive, arguments);
  return MakeTokenChannel(coordinator.address, coordinator.credentials, arguments,
                          TokenSource(coordinator.address, coordinator.login));
}

}  // namespace bspnow::worker
