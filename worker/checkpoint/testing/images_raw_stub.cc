#include "worker/checkpoint/testing/images_raw_stub.h"

#include <grpcpp/grpcpp.h>

#include "proto/grpc_status.h"
#include "proto/workers.grpc.pb.h"
#include "worker/checkpoint/images_token.h"
#include "worker/checkpoint/testing/image_node.h"

namespace bspnow::worker {
namespace {

std::unique_ptr<proto::Images::Stub> Connect(const std::string& address) {
  return proto::Images::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
}

void Authorize(grpc::ClientContext& context) {
  ImagesToken token;
  token.Set(kImagesKey);
  context.AddMetadata("authorization", token.authorization());
}

}  // namespace

absl::Status PutPieces(const std::string& address, const std::vector<proto::FileChunk>& pieces) {
  const auto stub = Connect(address);
  grpc::ClientContext context;
  Authorize(context);
  proto::PutImageReply reply;
  const auto writer = stub->PutImage(&context, &reply);
  for (const proto::FileChunk& piece : pieces) writer->Write(piece);
  writer->WritesDone();
  return FromGrpc(writer->Finish());
}

absl::Status GetByName(const std::string& address, const std::string& name) {
  const auto stub = Connect(address);
  grpc::ClientContext context;
  Authorize(context);
  proto::GetImageRequest request;
  request.set_job(17);
  request.set_name(name);
  const auto reader = stub->GetImage(&context, request);
  proto::FileChunk piece;
  while (reader->Read(&piece)) continue;
  return FromGrpc(reader->Finish());
}

struct HalfAPut::Parts {
  std::unique_ptr<proto::Images::Stub> stub;
  grpc::ClientContext context;
  proto::PutImageReply reply;
  std::unique_ptr<grpc::ClientWriter<proto::FileChunk>> writer;
};

HalfAPut::HalfAPut(const std::string& address, const proto::FileChunk& piece)
    : parts_(std::make_unique<Parts>()) {
  parts_->stub = Connect(address);
  Authorize(parts_->context);
  parts_->writer = parts_->stub->PutImage(&parts_->context, &parts_->reply);
  parts_->writer->Write(piece);
}

HalfAPut::~HalfAPut() {
  if (!parts_->writer) return;
  parts_->context.TryCancel();
  parts_->writer->Finish();
}

absl::Status HalfAPut::SendRest(const proto::FileChunk& piece) {
  parts_->writer->Write(piece);
  parts_->writer->WritesDone();
  return FromGrpc(std::exchange(parts_->writer, nullptr)->Finish());
}

}  // namespace bspnow::worker
