#include <grpcpp/grpcpp.h>

#include <mutex>

#include "proto/workers.grpc.pb.h"
#include "worker/rpc/testing/taking_coordinator.h"

namespace bspnow::worker {
namespace {

using Files = std::map<std::string, std::string>;

class Service final : public proto::Workers::Service {
 public:
  Files files() const {
    const std::lock_guard lock(mutex_);
    return files_;
  }

  int calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  grpc::Status StoreFiles(grpc::ServerContext*, grpc::ServerReader<proto::FileChunk>* reader,
                          proto::StoreFilesReply*) override {
    {
      const std::lock_guard lock(mutex_);
      ++calls_;
    }
    Files files;
    std::string name;
    proto::FileChunk chunk;
    while (reader->Read(&chunk)) {
      if (!chunk.name().empty()) name = chunk.name();
      files[name] += chunk.data();
    }
    // Chunks come in order. Whether the call was cancelled is not sure to be known yet.
    if (!files.contains(TakingCoordinator::kLast)) return grpc::Status::CANCELLED;
    const std::lock_guard lock(mutex_);
    files_ = std::move(files);
    return grpc::Status::OK;
  }

  mutable std::mutex mutex_;  ///< Guards the following.
  Files files_;
  int calls_ = 0;
};

}  // namespace

struct TakingCoordinator::Parts {
  Service service;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

TakingCoordinator::TakingCoordinator() : parts_(std::make_unique<Parts>()) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &parts_->port);
  builder.RegisterService(&parts_->service);
  parts_->server = builder.BuildAndStart();
}

TakingCoordinator::~TakingCoordinator() = default;

std::string TakingCoordinator::address() const {
  return "127.0.0.1:" + std::to_string(parts_->port);
}

Files TakingCoordinator::files() const { return parts_->service.files(); }

int TakingCoordinator::calls() const { return parts_->service.calls(); }

}  // namespace bspnow::worker
