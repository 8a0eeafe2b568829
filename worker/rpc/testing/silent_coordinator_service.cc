#include <grpcpp/grpcpp.h>

#include <thread>

#include "proto/workers.grpc.pb.h"
#include "worker/rpc/testing/silent_coordinator.h"

namespace bspnow::worker {
namespace {

class Service final : public proto::Workers::Service {
 private:
  grpc::Status StoreFiles(grpc::ServerContext* context, grpc::ServerReader<proto::FileChunk>*,
                          proto::StoreFilesReply*) override {
    while (!context->IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  }
};

}  // namespace

struct SilentCoordinator::Parts {
  Service service;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

SilentCoordinator::SilentCoordinator() : parts_(std::make_unique<Parts>()) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &parts_->port);
  builder.RegisterService(&parts_->service);
  parts_->server = builder.BuildAndStart();
}

SilentCoordinator::~SilentCoordinator() = default;

std::string SilentCoordinator::address() const {
  return "127.0.0.1:" + std::to_string(parts_->port);
}

}  // namespace bspnow::worker
