// What gRPC has to say, in the log of a daemon.
#ifndef NET_RPC_GRPC_LOG_H_
#define NET_RPC_GRPC_LOG_H_

namespace bspnow {

/// For the whole process, after SetUpLog: what gRPC would write on standard error itself becomes
/// lines of the log, event=grpc. Whoever reaches the port brings them about, by a handshake that
/// fails, so at most one a second is written; the next one says how many there were in between.
/// Nothing changes where GRPC_VERBOSITY is set: somebody wants to see what gRPC does.
void LogGrpc();

}  // namespace bspnow

#endif  // NET_RPC_GRPC_LOG_H_
