#include <grpcpp/grpcpp.h>

#include <atomic>
#include <thread>

#include "proto/workers.grpc.pb.h"
#include "worker/checkpoint/testing/silent_images.h"

namespace bspnow::worker {
namespace {

class Service final : public proto::Images::Service {
 public:
  std::atomic<int> calls = 0;

 private:
  grpc::Status PutImage(grpc::ServerContext* context, grpc::ServerReader<proto::FileChunk>*,
                        proto::PutImageReply*) override {
    return Hang(*context);
  }
  grpc::Status GetImage(grpc::ServerContext* context, const proto::GetImageRequest*,
                        grpc::ServerWriter<proto::FileChunk>*) override {
    return Hang(*context);
  }
  grpc::Status Hang(const grpc::ServerContext& context) {
    calls += 1;
    while (!context.IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  }
};

}  // namespace

struct SilentImages::Parts {
  Service service;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

SilentImages::SilentImages() : parts_(std::make_unique<Parts>()) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &parts_->port);
  builder.RegisterService(&parts_->service);
  parts_->server = builder.BuildAndStart();
}

SilentImages::~SilentImages() = default;

int SilentImages::calls() const { return parts_->service.calls; }

std::string SilentImages::address() const { return "127.0.0.1:" + std::to_string(parts_->port); }

}  // namespace bspnow::worker
