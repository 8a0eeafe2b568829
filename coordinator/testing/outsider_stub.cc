#include "coordinator/testing/outsider_stub.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <chrono>

#include "base/check.h"
#include "proto/grpc_status.h"
#include "proto/jobs.pb.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {
namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr char kImages[] = "Images";  // Workers serve it to each other.

void Await(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  BSP_CHECK(queue.Next(&tag, &ok));
}

absl::Status Call(grpc::GenericStub& stub, const std::string& method, const std::string& token) {
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);  // tidy: gRPC's unit
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  const auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  Await(queue);
  const grpc::Slice nothing;
  call->WriteLast(grpc::ByteBuffer(&nothing, 1), {}, nullptr);
  Await(queue);
  grpc::Status status;
  call->Finish(&status, nullptr);
  Await(queue);
  return FromGrpc(status);
}

}  // namespace

std::map<std::string, absl::Status> CallAll(const std::string& address, const std::string& token) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  std::map<std::string, absl::Status> ends;
  for (const auto* const file :
       {proto::JobSpec::descriptor()->file(), proto::RegisterRequest::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      const auto& service = *file->service(i);
      for (int k = 0; service.name() != kImages && k < service.method_count(); ++k) {
        const std::string method = "/" + service.method(k)->name();
        ends[service.name() + method] = Call(stub, "/" + service.full_name() + method, token);
      }
    }
  }
  return ends;
}

}  // namespace bspnow::coordinator
