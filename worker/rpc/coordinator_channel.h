// The connection to the coordinator, as each of the stubs that call it makes one.
#ifndef WORKER_RPC_COORDINATOR_CHANNEL_H_
#define WORKER_RPC_COORDINATOR_CHANNEL_H_

#include <memory>
#include <string>

#include "net/login/login.h"
#include "net/tls/rpc_credentials.h"

namespace grpc {
class Channel;
}

namespace bspnow::worker {

struct CoordinatorAddress {
  std::string address;  ///< HOST:PORT.
  LoginSettings login;  ///< How this worker proves that it may join.
  RpcCredentials credentials;
};

/// Made when it is needed and again when it broke. A coordinator whose machine has
/// gone without a word is noticed within ten seconds, if a call is under way.
std::shared_ptr<grpc::Channel> ChannelToCoordinator(const CoordinatorAddress& coordinator);

}  // namespace bspnow::worker

#endif  // WORKER_RPC_COORDINATOR_CHANNEL_H_
