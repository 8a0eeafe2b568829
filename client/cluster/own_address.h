// Whether a node of the cluster is this machine.
#ifndef CLIENT_CLUSTER_OWN_ADDRESS_H_
#define CLIENT_CLUSTER_OWN_ADDRESS_H_

#include <string>

namespace bspnow::client {

/// The host, a name or an address, is one of this machine's. Asks the resolver.
bool IsThisMachine(const std::string& host);

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_OWN_ADDRESS_H_
