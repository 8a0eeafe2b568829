// Why no connection with TLS comes about: gRPC says of most reasons nothing but "Socket closed".
// This connects once more, and looks.
#ifndef NET_TLS_TLS_DIAGNOSIS_H_
#define NET_TLS_TLS_DIAGNOSIS_H_

#include <string>

#include "net/socket.h"

namespace bspnow {

/// What keeps a client with this directory of --tls (empty: plain text) from a connection with the
/// server, in a sentence with the fix; empty if nothing does, nobody listens there, or there
/// is no memory to look. Of the client's own certificate calls say what is wrong. Blocks, for a few
/// seconds at most.
std::string DiagnoseTls(const HostPort& server, const std::string& directory);

}  // namespace bspnow

#endif  // NET_TLS_TLS_DIAGNOSIS_H_
