// Sees each call of the coordinator's gRPC server, and writes what changes something, and what is
// refused, into the audit log.
#ifndef COORDINATOR_RPC_AUDITED_CALLS_H_
#define COORDINATOR_RPC_AUDITED_CALLS_H_

#include <memory>

#include "coordinator/access/audit_log.h"
#include "coordinator/access/authority.h"

namespace grpc::experimental {
class ServerInterceptorFactoryInterface;
}

namespace bspnow::coordinator {

/// For RpcListener. Both outlive it.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> AuditCalls(
    const Authority& authority, AuditLog& log);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_AUDITED_CALLS_H_
