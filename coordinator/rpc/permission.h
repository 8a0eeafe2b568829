// What a call may do, by the token that it bears.
#ifndef COORDINATOR_RPC_PERMISSION_H_
#define COORDINATOR_RPC_PERMISSION_H_

#include <optional>
#include <string_view>

#include <absl/status/statusor.h>
#include "coordinator/access/authority.h"
#include "coordinator/core/caller.h"
#include "coordinator/rpc/self_owned.h"
#include "net/tls/rpc_credentials.h"
#include "proto/grpc_status.h"

namespace bspnow::coordinator {

/// What gRPC's context of a call to the authority's server shows of who calls. Lives no longer than
/// the context.
template <typename Context>
struct Proof {
  Proof(const Authority& authority, const Context& context) {
    if (const auto proven = context.auth_context())
      certificate = CertificateOf(*proven, authority.tls_dir());
    const auto found = context.client_metadata().find("authorization");
    if (found != context.client_metadata().end())
      authorization = {found->second.data(), found->second.size()};
  }

  std::string_view authorization;
  ShownCertificate certificate = std::nullopt;
};

/// As Authority has it. `context`: gRPC's, of the call. From any thread.
template <typename Context>
absl::StatusOr<Caller> Permit(Authority& authority, const Context& context, Scope scope) {
  const Proof proof(authority, context);
  return authority.Permit(proof.authorization, proof.certificate, scope);
}

template <typename Reactor>
class RefusedCall final : public SelfOwned<Reactor, RefusedCall<Reactor>> {
 public:
  explicit RefusedCall(const absl::Status& reason) { this->Finish(ToGrpc(reason)); }
};

/// What the method of a call returns that is not permitted. `Reactor`: gRPC's, of such a call.
template <typename Reactor>
Reactor* Refuse(const absl::Status& reason) {
  return RefusedCall<Reactor>::Make(reason).get();
}

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_PERMISSION_H_
