#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <string>
#include <string_view>

#include <absl/strings/str_cat.h>
#include "coordinator/rpc/audited_calls.h"
#include "coordinator/rpc/permission.h"
#include "proto/grpc_status.h"
#include "proto/jobs.pb.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

/// A call that changes something, and what its request is about.
struct Act {
  std::string_view call;
  std::string (*what)(const void* request);
};

template <typename Request>
std::string JobOf(const void* request) {
  return absl::StrCat("job ", static_cast<const Request*>(request)->job());
}

std::string NodeOfDrain(const void* request) {
  const auto& drain = *static_cast<const proto::DrainNodeRequest*>(request);
  return absl::StrCat("node ", drain.name(), drain.undo() ? ", undo" : "");
}

std::string NodeOfForget(const void* request) {
  return absl::StrCat("node ", static_cast<const proto::ForgetNodeRequest*>(request)->name());
}

std::string NodeOfRegister(const void* request) {
  return absl::StrCat("node ", static_cast<const proto::RegisterRequest*>(request)->node().name());
}

std::string ProgramOfSubmit(const void* request) {
  const proto::JobSpec& spec = static_cast<const proto::SubmitJobRequest*>(request)->spec();
  return absl::StrCat("program ", spec.program().name(), " of ", spec.nprocs(), " processes");
}

std::string Nothing(const void*) { return {}; }

constexpr std::string_view kSubmit = "SubmitJob";
constexpr Act kActs[] = {
    {kSubmit, ProgramOfSubmit},
    {"CancelJob", JobOf<proto::CancelJobRequest>},
    {"AlterJob", JobOf<proto::AlterJobRequest>},
    {"CheckpointJob", JobOf<proto::CheckpointJobRequest>},
    {"SuspendJob", JobOf<proto::SuspendJobRequest>},
    {"ResumeJob", JobOf<proto::ResumeJobRequest>},
    {"DrainNode", NodeOfDrain},
    {"ForgetNode", NodeOfForget},
    {"StoreParameters", Nothing},
    {"OpenPage", Nothing},
    {"Register", NodeOfRegister},
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
    if (act_ != nullptr && is(InterceptionHookPoints::POST_RECV_MESSAGE) &&
        step->GetRecvMessage() != nullptr)
      what_ = act_->what(step->GetRecvMessage());
    if (name_ == kSubmit && is(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      if (const auto* reply = static_cast<const proto::SubmitJobReply*>(step->GetSendMessage()))
        absl::StrAppend(&what_, ", job ", reply->job());
    }
    if (is(InterceptionHookPoints::PRE_SEND_STATUS)) OnEnd(step->GetSendStatus());
    step->Proceed();
  }

 private:
  void OnEnd(const grpc::Status& status) const {
    if (act_ == nullptr && !IsRefusal(status)) return;
    const grpc::ServerContextBase& context = *call_.server_context();
    const Proof proof(authority_, context);
    const auto caller = authority_.Identify(proof.authorization, proof.certificate);
    log_.Write({.user = caller.ok() ? caller->user : "",
                .from = context.peer(),
                .call = std::string(name_),
                .what = caller.ok() ? what_ : "",  // Anybody's words would fill the file.
                .outcome = FromGrpc(status)});
  }

  const Authority& authority_;
  AuditLog& log_;
  ServerRpcInfo& call_;
  std::string_view name_;
  const Act* act_;
  std::string what_;
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
