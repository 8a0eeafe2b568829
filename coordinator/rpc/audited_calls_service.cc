#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/strings/str_cat.h>
#include "coordinator/rpc/audited_calls.h"
#include "coordinator/rpc/checked_service.h"
#include "coordinator/rpc/permission.h"
#include "proto/grpc_status.h"
#include "proto/jobs.pb.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

/// A call that changes something, and what its request is about, an UnparsedRequest.
struct Act {
  std::string_view call;
  std::string (*what)(const void* request);
};

template <typename Request>
std::string JobOf(const Request& request) {
  return absl::StrCat("job ", request.job());
}

std::string NodeOfDrain(const proto::DrainNodeRequest& request) {
  return absl::StrCat("node ", request.name(), request.undo() ? ", undo" : "");
}

std::string NodeOfForget(const proto::ForgetNodeRequest& request) {
  return absl::StrCat("node ", request.name());
}

std::string NodeOfRegister(const proto::RegisterRequest& request) {
  return absl::StrCat("node ", request.node().name());
}

std::string ProgramOfSubmit(const proto::SubmitJobRequest& request) {
  const proto::JobSpec& spec = request.spec();
  return absl::StrCat("program ", spec.program().name(), " of ", spec.nprocs(), " processes");
}

/// Nothing if it was not parsed: nobody knows the caller, or it is malformed.
template <typename Request, std::string (*kWhat)(const Request&)>
std::string WhatOf(const void* request) {
  const Request* const parsed = static_cast<const UnparsedRequest<Request>*>(request)->parsed();
  return parsed == nullptr ? std::string() : kWhat(*parsed);
}

template <typename Request>
constexpr Act JobAct(std::string_view call) {
  return {call, WhatOf<Request, JobOf<Request>>};
}

std::string Nothing(const void*) { return {}; }

constexpr std::string_view kSubmit = "SubmitJob";
constexpr Act kActs[] = {
    {kSubmit, WhatOf<proto::SubmitJobRequest, ProgramOfSubmit>},
    JobAct<proto::CancelJobRequest>("CancelJob"),
    JobAct<proto::AlterJobRequest>("AlterJob"),
    JobAct<proto::CheckpointJobRequest>("CheckpointJob"),
    JobAct<proto::SuspendJobRequest>("SuspendJob"),
    JobAct<proto::ResumeJobRequest>("ResumeJob"),
    {"DrainNode", WhatOf<proto::DrainNodeRequest, NodeOfDrain>},
    {"ForgetNode", WhatOf<proto::ForgetNodeRequest, NodeOfForget>},
    {"StoreParameters", Nothing},
    {"OpenPage", Nothing},
    {"Register", WhatOf<proto::RegisterRequest, NodeOfRegister>},
};

const Act* ActOf(std::string_view call) {
  for (const Act& act : kActs) {
    if (act.call == call) return &act;
  }
  return nullptr;
}

bool IsRefusal(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
         status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
}

class AuditedCall final : public grpc::experimental::Interceptor {
 public:
  AuditedCall(const Authority& authority, AuditLog& log, ServerRpcInfo& call)
      : authority_(authority), log_(log), call_(call) {
    const std::string_view method = call.method();  // "/bspnow.proto.Jobs/SubmitJob"
    name_ = method.substr(method.rfind('/') + 1);
    act_ = ActOf(name_);
  }

  void Intercept(InterceptorBatchMethods* step) override {
    const auto is = [step](InterceptionHookPoints point) {
      return step->QueryInterceptionHookPoint(point);
    };
    // By gRPC's thread: the end may come on the loop, and files prove who somebody is.
    if (is(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      const Proof proof(authority_, *call_.server_context());
      const auto caller = authority_.Identify(proof.authorization, proof.certificate);
      if (caller.ok()) user_ = caller->user;
    }
    if (act_ != nullptr && is(InterceptionHookPoints::POST_RECV_MESSAGE))
      request_ = step->GetRecvMessage();
    if (name_ == kSubmit && is(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      if (const auto* reply = static_cast<const proto::SubmitJobReply*>(step->GetSendMessage()))
        submitted_ = absl::StrCat(", job ", reply->job());
    }
    if (is(InterceptionHookPoints::PRE_SEND_STATUS)) OnEnd(step->GetSendStatus());
    step->Proceed();
  }

 private:
  void OnEnd(const grpc::Status& status) const {
    if (act_ == nullptr && !IsRefusal(status)) return;
    log_.Write(
        {.user = user_.value_or(""),
         .from = call_.server_context()->peer(),
         .call = std::string(name_),
         // Anybody's words would fill the file.
         .what = user_ && request_ != nullptr ? absl::StrCat(act_->what(request_), submitted_) : "",
         .outcome = FromGrpc(status)});
  }

  const Authority& authority_;
  AuditLog& log_;
  ServerRpcInfo& call_;
  std::string_view name_;
  const Act* act_;
  std::optional<std::string> user_;  ///< None: the call does not prove who it is of.
  const void* request_ = nullptr;    ///< An UnparsedRequest, until the call has ended.
  std::string submitted_;
};

class AuditedCalls final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  AuditedCalls(const Authority& authority, AuditLog& log) : authority_(authority), log_(log) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* call) override {
    return std::make_unique<AuditedCall>(authority_, log_, *call).release();  // gRPC's from now on.
  }

 private:
  const Authority& authority_;
  AuditLog& log_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> AuditCalls(
    const Authority& authority, AuditLog& log) {
  return std::make_unique<AuditedCalls>(authority, log);
}

}  // namespace bspnow::coordinator
