#include <grpcpp/grpcpp.h>

#include <mutex>

#include "files/file_chunks.h"
#include "proto/workers.grpc.pb.h"
#include "worker/rpc/testing/taking_coordinator.h"

namespace bspnow::worker {
namespace {

using Files = std::map<std::string, std::string>;

class Service final : public proto::Workers::Service {
 public:
  explicit Service(TakingCoordinator::Holes holes) : holes_(holes) {}

  std::uint64_t hole_bytes() const {
    const std::lock_guard lock(mutex_);
    return hole_bytes_;
  }

  Files files() const {
    const std::lock_guard lock(mutex_);
    return files_;
  }

  int calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  grpc::Status StoreFiles(grpc::ServerContext* context,
                          grpc::ServerReader<proto::FileChunk>* reader,
                          proto::StoreFilesReply*) override {
    {
      const std::lock_guard lock(mutex_);
      ++calls_;
    }
    Files files;
    std::string name;
    proto::FileChunk chunk;
    if (holes_ == TakingCoordinator::Holes::kTaken)
      context->AddInitialMetadata(files::kTakesHoles, "1");
    for (bool first = true; reader->Read(&chunk); first = false) {
      if (first) reader->SendInitialMetadata();
      if (!chunk.name().empty()) name = chunk.name();
      files[name] += std::string(chunk.hole(), 0) + chunk.data();
      const std::lock_guard lock(mutex_);
      hole_bytes_ += chunk.hole();
    }
    // Chunks come in order. Whether the call was cancelled is not sure to be known yet.
    if (!files.contains(TakingCoordinator::kLast)) return grpc::Status::CANCELLED;
    const std::lock_guard lock(mutex_);
    files_ = std::move(files);
    return grpc::Status::OK;
  }

  const TakingCoordinator::Holes holes_;
  mutable std::mutex mutex_;  ///< Guards the following.
  Files files_;
  int calls_ = 0;
  std::uint64_t hole_bytes_ = 0;
};

}  // namespace

struct TakingCoordinator::Parts {
  explicit Parts(Holes holes) : service(holes) {}

  Service service;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

TakingCoordinator::TakingCoordinator(Holes holes) : parts_(std::make_unique<Parts>(holes)) {
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

std::uint64_t TakingCoordinator::hole_bytes() const { return parts_->service.hole_bytes(); }

int TakingCoordinator::calls() const { return parts_->service.calls(); }

}  // namespace bspnow::worker
