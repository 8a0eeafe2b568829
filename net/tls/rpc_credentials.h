// What gRPC is told of TLS, from the directory of --tls: mutual TLS, at least version 1.2. The
// files are read again when they change, for the connections that are made then.
#ifndef NET_TLS_RPC_CREDENTIALS_H_
#define NET_TLS_RPC_CREDENTIALS_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "net/tls/certificate.h"
#include "net/tls/tls_directory.h"

namespace grpc {
class AuthContext;
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace bspnow {

/// Copies share gRPC's objects.
class RpcCredentials {
 public:
  /// Plain text: nobody proves who they are, and everybody on the way reads along.
  static RpcCredentials Plain();

  /// Of a directory whose files can be used now; plain text if it is empty.
  static absl::StatusOr<RpcCredentials> Load(const std::string& directory, TlsUse use);

  /// A server asks its clients for certificates, and lets connect who has none, or any: each call
  /// must ask CertificateOf.
  const std::shared_ptr<grpc::ServerCredentials>& server() const { return server_; }

  /// A client wants a server whose certificate its CA has signed, for the host by which the client
  /// names it and for the role that it has there: a coordinator or a worker.
  const std::shared_ptr<grpc::ChannelCredentials>& channel(CertificateRole server) const;

  /// Empty: plain text.
  const std::string& directory() const { return directory_; }

  /// Whoever is called is shown a certificate, which may do in place of a token.
  bool has_certificate() const;

 private:
  struct Channels {
    std::shared_ptr<grpc::ChannelCredentials> to_coordinator;
    std::shared_ptr<grpc::ChannelCredentials> to_worker;
  };

  RpcCredentials(std::string directory, std::shared_ptr<grpc::ServerCredentials> server,
                 Channels channels);

  std::string directory_;
  std::shared_ptr<grpc::ServerCredentials> server_;  ///< Null if it is for calls alone.
  Channels channels_;
};

/// Who has called a server with this directory, proved by a certificate of its CA, which may be
/// revoked; nothing if the client has shown none, one without an identity, or speaks plain text. An
/// error, as CheckShown, if he has shown another: whoever he is besides, he is to be refused.
ShownCertificate CertificateOf(const grpc::AuthContext& context, const std::string& directory);

}  // namespace bspnow

#endif  // NET_TLS_RPC_CREDENTIALS_H_
