// TLS of a server that is not gRPC, for clients that show no certificate, as browsers: certificate
// and key of a --tls directory, read again when they change. At least version 1.2.
#ifndef NET_TLS_SERVER_CONTEXT_H_
#define NET_TLS_SERVER_CONTEXT_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "net/tls/openssl.h"

namespace bspnow {

class ServerContext {
 public:
  /// The error says what is wrong with the files.
  static absl::StatusOr<std::unique_ptr<ServerContext>> Load(const std::string& directory);
  /// For Load.
  explicit ServerContext(std::string directory) : directory_(std::move(directory)) {}

  /// The server's end of TLS on a connected socket, which is the caller's. From any thread.
  SslPtr Begin(int fd);

 private:
  absl::Status ReadAgain();

  const std::string directory_;
  std::mutex mutex_;  ///< Guards the following.
  SslContextPtr context_;
  struct stat certificate_ {};  ///< The file that it has.
};

}  // namespace bspnow

#endif  // NET_TLS_SERVER_CONTEXT_H_
