// The connection to the coordinator, as each of the stubs that call it makes one.
#ifndef WORKER_RPC_COORDINATOR_CHANNEL_H_
#define WORKER_RPC_COORDINATOR_CHANNEL_H_

#include <memory>
#include <string>

namespace grpc {
class Channel;
}

namespace bspnow::worker {

/// To HOST:PORT, made when it is needed and again when it broke. A coordinator whose machine has
/// gone without a word is noticed within ten seconds, if a call is under way.
std::shared_ptr<grpc::Channel> ChannelToCoordinator(const std::string& address);

}  // namespace bspnow::worker

#endif  // WORKER_RPC_COORDINATOR_CHANNEL_H_
