#include "coordinator/testing/outsider_stub.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <memory>

#include "base/check.h"
#include "proto/grpc_status.h"
#include "proto/jobs.pb.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {
namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr char kImages[] = "Images";  // Workers serve it to each other.

/// Whether what was begun has come to something.
bool Await(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  BSP_CHECK(queue.Next(&tag, &ok));
  return ok;
}

/// What a call bears.
struct Burden {
  std::string token;
  grpc::Slice message;
};

absl::Status Call(grpc::GenericStub& stub, const std::string& method, const Burden& burden) {
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);  // tidy: gRPC's unit
  if (!burden.token.empty()) context.AddMetadata("authorization", "Bearer " + burden.token);
  const auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  Await(queue);
  call->WriteLast(grpc::ByteBuffer(&burden.message, 1), {}, nullptr);
  Await(queue);
  // A status comes after the replies, and waits for somebody to read them.
  grpc::ByteBuffer reply;
  do call->Read(&reply, nullptr);
  while (Await(queue));
  grpc::Status status;
  call->Finish(&status, nullptr);
  Await(queue);
  return FromGrpc(status);
}

const google::protobuf::ServiceDescriptor& JobsService() {
  return *proto::JobSpec::descriptor()->file()->FindServiceByName("Jobs");
}

/// "job" of the request of a method; null if it has none.
const google::protobuf::FieldDescriptor* JobFieldOf(
    const google::protobuf::MethodDescriptor& method) {
  return method.input_type()->FindFieldByName("job");
}

std::map<std::string, absl::Status> CallEach(const std::string& address, const Burden& burden) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  std::map<std::string, absl::Status> ends;
  for (const auto* const file :
       {proto::JobSpec::descriptor()->file(), proto::RegisterRequest::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      const auto& service = *file->service(i);
      for (int k = 0; service.name() != kImages && k < service.method_count(); ++k) {
        const std::string method = "/" + service.method(k)->name();
        ends[service.name() + method] = Call(stub, "/" + service.full_name() + method, burden);
      }
    }
  }
  return ends;
}

}  // namespace

std::map<std::string, absl::Status> CallAll(const std::string& address, const std::string& token) {
  return CallEach(address, {.token = token, .message = grpc::Slice()});
}

std::map<std::string, absl::Status> CallAllWithNonsense(const std::string& address,
                                                        const std::string& token) {
  return CallEach(address, {.token = token, .message = grpc::Slice("\xFF")});  // No field's tag.
}

std::vector<std::string> MethodsOfJobs() {
  std::vector<std::string> methods;
  for (int i = 0; i < JobsService().method_count(); ++i) {
    const auto& method = *JobsService().method(i);
    if (JobFieldOf(method) != nullptr) methods.push_back(method.name());
  }
  return methods;
}

absl::Status CallOf(const std::string& address, const std::string& token, const std::string& method,
                    JobId job) {
  const auto& known = *JobsService().FindMethodByName(method);
  const std::unique_ptr<google::protobuf::Message> request(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(known.input_type())
          ->New());
  request->GetReflection()->SetUInt64(request.get(), JobFieldOf(known), Value(job));
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  return Call(stub, "/" + JobsService().full_name() + "/" + method,
              {.token = token, .message = grpc::Slice(request->SerializeAsString())});
}

}  // namespace bspnow::coordinator
