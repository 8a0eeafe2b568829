// Channels of gRPC whose calls bear a token.
#ifndef NET_LOGIN_TOKEN_CHANNEL_H_
#define NET_LOGIN_TOKEN_CHANNEL_H_

#include <memory>
#include <string>

#include "net/login/login.h"
#include "net/tls/rpc_credentials.h"

namespace grpc {
class Channel;
class ChannelArguments;
}  // namespace grpc

namespace bspnow {

/// To HOST:PORT. Each call gets a token of its own; without one, which TokenSource::Token explains
/// better, it is refused by the coordinator.
std::shared_ptr<grpc::Channel> MakeTokenChannel(const std::string& address,
                                                const RpcCredentials& credentials,
                                                const grpc::ChannelArguments& arguments,
                                                TokenSource tokens);

}  // namespace bspnow

#endif  // NET_LOGIN_TOKEN_CHANNEL_H_
