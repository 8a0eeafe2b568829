// For tests: a gRPC server of one method, which answers who called it.
#ifndef NET_TLS_TESTING_WHO_SERVICE_H_
#define NET_TLS_TESTING_WHO_SERVICE_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "net/socket.h"
#include "net/tls/rpc_credentials.h"

namespace bspnow {

/// Listens on all loopback addresses, behind a RpcListener, as the daemons do.
class WhoServer {
 public:
  explicit WhoServer(const RpcCredentials& credentials);
  WhoServer(const RpcCredentials& credentials, int connection_age_ms);
  ~WhoServer();

  /// With this name or address of it.
  HostPort At(const std::string& host) const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

/// "client anna bob" (role, name, user) or "nobody", over a connection of its own.
absl::StatusOr<std::string> Ask(const HostPort& server, const RpcCredentials& credentials);

/// Keeps its connection from one question to the next, as long as that lasts.
class Asker {
 public:
  Asker(const HostPort& server, const RpcCredentials& credentials);
  ~Asker();
  absl::StatusOr<std::string> Ask();

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace bspnow

#endif  // NET_TLS_TESTING_WHO_SERVICE_H_
