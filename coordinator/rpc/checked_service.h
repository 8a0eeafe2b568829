// A gRPC service that asks who calls before it parses anything of a request. gRPC itself parses a
// request before it calls a method, and a message that is made for it takes eighty times its bytes
// of memory then: who has no credentials could end the coordinator.
#ifndef COORDINATOR_RPC_CHECKED_SERVICE_H_
#define COORDINATOR_RPC_CHECKED_SERVICE_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/server_context.h>           // tidy: both services are made of this template
#include <grpcpp/support/byte_buffer.h>      // tidy: as above
#include <grpcpp/support/server_callback.h>  // tidy: as above

#include <memory>
#include <optional>
#include <utility>

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include "base/check.h"
#include "coordinator/access/authority.h"
#include "coordinator/rpc/permission.h"
#include "coordinator/rpc/request_limits.h"
#include "proto/grpc_status.h"

namespace bspnow::coordinator {

/// A request as it came. gRPC hands it on as const.
template <typename Request>
class UnparsedRequest {
 public:
  void Take(grpc::ByteBuffer& bytes) { bytes_.Swap(&bytes); }

  /// OK if it is a request that the loop may see.
  absl::Status Parse() const {
    if (bytes_.Length() > kCallBytesMax<Request>)
      return absl::ResourceExhaustedError(absl::StrCat("the request has ", bytes_.Length(),
                                                       " bytes; at most ", kCallBytesMax<Request>,
                                                       " are allowed"));
    if (!grpc::SerializationTraits<Request>::Deserialize(&bytes_, &parsed_.emplace()).ok()) {
      parsed_.reset();
      return absl::InvalidArgumentError(absl::StrCat("this is no ", Request::descriptor()->name()));
    }
    return CheckLimits(*parsed_);
  }

  /// Null before.
  const Request* parsed() const { return parsed_ ? &*parsed_ : nullptr; }

 private:
  mutable grpc::ByteBuffer bytes_;
  mutable std::optional<Request> parsed_;
};

/// `Definition`: of the service, as generated. `Calls` has its methods, which Serve names.
template <typename Definition, typename Calls>
class CheckedService final : public Definition::Service {
 public:
  using Context = grpc::CallbackServerContext;

  CheckedService(Authority& authority, Calls calls)
      : authority_(authority), calls_(std::move(calls)) {}

  template <typename Request, typename Reply>
  void Serve(const char* name, Scope scope,
             grpc::ServerUnaryReactor* (Calls::*method)(Context&, const Caller&, const Request&,
                                                        Reply*)) {
    Mark<grpc::internal::CallbackUnaryHandler<UnparsedRequest<Request>, Reply>>(
        name,
        [this, scope, method](Context* context, const UnparsedRequest<Request>* request,
                              Reply* reply) -> grpc::ServerUnaryReactor* {
          const absl::StatusOr<Caller> caller = Check(*context, scope, *request);
          if (caller.ok()) return (calls_.*method)(*context, *caller, *request->parsed(), reply);
          grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
          reactor->Finish(ToGrpc(caller.status()));
          return reactor;
        });
  }

  template <typename Request, typename Reply>
  void Serve(const char* name, Scope scope,
             grpc::ServerWriteReactor<Reply>* (Calls::*method)(const Caller&, const Request&)) {
    using Reactor = grpc::ServerWriteReactor<Reply>;
    Mark<grpc::internal::CallbackServerStreamingHandler<UnparsedRequest<Request>, Reply>>(
        name, [this, scope, method](Context* context, const UnparsedRequest<Request>* request) {
          const absl::StatusOr<Caller> caller = Check(*context, scope, *request);
          return caller.ok() ? (calls_.*method)(*caller, *request->parsed())
                             : Refuse<Reactor>(caller.status());
        });
  }

  template <typename Request, typename Reply>
  void Serve(const char* name, Scope scope,
             grpc::ServerReadReactor<Request>* (Calls::*method)(Context&, const Caller&, Reply*)) {
    using Reactor = grpc::ServerReadReactor<Request>;
    Mark<grpc::internal::CallbackClientStreamingHandler<Request, Reply>>(
        name, [this, scope, method](Context* context, Reply* reply) {
          const absl::StatusOr<Caller> caller = Permit(authority_, *context, scope);
          return caller.ok() ? (calls_.*method)(*context, *caller, reply)
                             : Refuse<Reactor>(caller.status());
        });
  }

  template <typename Request, typename Reply>
  void Serve(const char* name, Scope scope,
             grpc::ServerBidiReactor<Request, Reply>* (Calls::*method)(Context&, const Caller&)) {
    using Reactor = grpc::ServerBidiReactor<Request, Reply>;
    Mark<grpc::internal::CallbackBidiHandler<Request, Reply>>(name, [this, scope,
                                                                     method](Context* context) {
      const absl::StatusOr<Caller> caller = Permit(authority_, *context, scope);
      return caller.ok() ? (calls_.*method)(*context, *caller) : Refuse<Reactor>(caller.status());
    });
  }

 private:
  template <typename Request>
  absl::StatusOr<Caller> Check(const Context& context, Scope scope,
                               const UnparsedRequest<Request>& request) const {
    absl::StatusOr<Caller> caller = Permit(authority_, context, scope);
    if (!caller.ok()) {
      // For the audit log: what somebody who is known wanted, and may not have.
      if (IsKnown(context)) request.Parse().IgnoreError();
      return caller;
    }
    if (absl::Status parsed = request.Parse(); !parsed.ok()) return parsed;
    return caller;
  }

  bool IsKnown(const Context& context) const {
    const Proof proof(authority_, context);
    return authority_.Identify(proof.authorization, proof.certificate).ok();
  }

  template <typename Handler, typename Call>
  void Mark(const char* name, Call call) {
    const auto* const service =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
            Definition::service_full_name());
    BSP_CHECK(service != nullptr && service->FindMethodByName(name) != nullptr);
    this->MarkMethodCallback(  // Which owns the handler.
        service->FindMethodByName(name)->index(),
        std::make_unique<Handler>(std::move(call)).release());
  }

  Authority& authority_;
  Calls calls_;
};

}  // namespace bspnow::coordinator

namespace grpc {

template <typename Request>
class SerializationTraits<bspnow::coordinator::UnparsedRequest<Request>> {
 public:
  static Status Deserialize(ByteBuffer* bytes,
                            bspnow::coordinator::UnparsedRequest<Request>* request) {
    request->Take(*bytes);
    return Status::OK;
  }
};

}  // namespace grpc

#endif  // COORDINATOR_RPC_CHECKED_SERVICE_H_
