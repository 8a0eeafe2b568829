#include "worker/checkpoint/images_service.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/keepalive.h"
#include "files/file_streams.h"
#include "net/log/refusal_pace.h"
#include "net/rpc_listener.h"
#include "net/tls/revocations.h"
#include "proto/grpc_status.h"
#include "proto/workers.grpc.pb.h"
#include "worker/checkpoint/image_name.h"
#include "worker/checkpoint/image_reception.h"

namespace bspnow::worker {
namespace {

constexpr int kMessageBytesMax = 2 << 20;
static_assert(files::kChunkBytesMax < kMessageBytesMax);
/// A peer that is gone is noticed within both together.
constexpr int kPingIntervalMinMs = 500;

/// Each call has a thread of gRPC and waits for the disk.
class ImagesService final : public proto::Images::Service {
 public:
  /// `tls_dir`: empty if calls come in plain text.
  ImagesService(ImageStore& store, const std::string& tls_dir, ImagesServer::Received received)
      : store_(store), tls_dir_(tls_dir), revocations_(tls_dir), received_(std::move(received)) {}

  grpc::Status PutImage(grpc::ServerContext* context, grpc::ServerReader<proto::FileChunk>* reader,
                        proto::PutImageReply*) override {
    if (absl::Status s = CheckCaller(*context); !s.ok()) return ToGrpc(s);
    return ToGrpc(Take(*reader));
  }

  grpc::Status GetImage(grpc::ServerContext* context, const proto::GetImageRequest* request,
                        grpc::ServerWriter<proto::FileChunk>* writer) override {
    if (absl::Status s = CheckCaller(*context); !s.ok()) return ToGrpc(s);
    return ToGrpc(Give(*request, *writer));
  }

  grpc::Status ListImages(grpc::ServerContext* context, const proto::ListImagesRequest* request,
                          proto::ListImagesReply* reply) override {
    if (absl::Status s = CheckCaller(*context); !s.ok()) return ToGrpc(s);
    if (absl::Status s = CheckCluster(request->cluster()); !s.ok()) return ToGrpc(s);
    absl::StatusOr<std::vector<std::string>> names = store_.Names(JobId{request->job()});
    if (!names.ok()) return ToGrpc(names.status());
    for (std::string& name : *names) reply->add_names(std::move(name));
    return grpc::Status::OK;
  }

  std::uint64_t refused() const { return refusals_.count(); }

 private:
  absl::Status CheckCaller(const grpc::ServerContext& context) {
    absl::Status proven = CheckProof(context);
    if (proven.ok()) return proven;
    if (const auto refused = refusals_.Next())
      spdlog::warn("event=images_refused peer={} refused={} reason=\"{}\"", context.peer(),
                   *refused, std::string(proven.message()));
    return proven;
  }

  /// Images are what jobs have in memory: for workers of this cluster alone, who prove its key, and
  /// with TLS by a certificate that they are workers now: who had the key may have been shut out.
  absl::Status CheckProof(const grpc::ServerContext& context) {
    if (absl::Status s = CheckCertificate(context); !s.ok()) return s;
    const auto [begin, end] = context.client_metadata().equal_range("authorization");
    for (auto sent = begin; sent != end; ++sent)
      if (store_.token().Opens({sent->second.data(), sent->second.size()})) return absl::OkStatus();
    return absl::UnauthenticatedError(
        "images are for the workers of this cluster: the call does not prove its key");
  }

  absl::Status CheckCertificate(const grpc::ServerContext& context) {
    if (tls_dir_.empty()) return absl::OkStatus();
    const ShownCertificate shown = CertificateOf(*context.auth_context(), tls_dir_);
    if (!shown.ok()) return shown.status();
    const std::optional<CertificateFacts>& facts = *shown;
    if (!facts)
      return absl::UnauthenticatedError("images are for workers: the caller shows no certificate");
    if (const absl::Status s = CheckRole(*facts, CertificateRole::kWorker); !s.ok())
      return absl::UnauthenticatedError(absl::StrCat(
          "images are for workers: the certificate of the caller ", std::string(s.message())));
    return revocations_.Check(*facts);
  }

  /// Jobs of different clusters may have the same number.
  absl::Status CheckCluster(const std::string& cluster) const {
    if (cluster == store_.cluster()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        "images here are of cluster ", store_.cluster(), ", and it asks as one of ", cluster));
  }

  absl::Status Take(grpc::ServerReader<proto::FileChunk>& reader) {
    proto::FileChunk chunk;
    if (!reader.Read(&chunk)) return absl::InvalidArgumentError("nothing came");
    const std::string cluster = chunk.cluster();
    if (absl::Status s = CheckCluster(cluster); !s.ok()) return s;
    const JobId job{chunk.job()};
    const std::optional<StoredName> name = ParseStoredName(chunk.name());
    if (chunk.job() == 0 || !name)
      return absl::InvalidArgumentError("the first chunk names no image");
    if (store_.Has(job, chunk.name())) return absl::OkStatus();
    ImageReception reception(store_, job, chunk.name(), Durability::kSynced);
    do {
      if (absl::Status taken = files::TakeChunk(chunk, reception); !taken.ok()) return taken;
    } while (reader.Read(&chunk));
    absl::Status kept = Finish(cluster, reception);
    if (kept.ok()) received_(job, name->checkpoint);
    return kept;
  }

  /// It may have joined another since the transfer began, and must not while this gets its name.
  absl::Status Finish(const std::string& cluster, ImageReception& reception) {
    const auto staying = store_.cluster_note().Stay();
    if (absl::Status s = CheckCluster(cluster); !s.ok()) return s;
    return reception.Finish();
  }

  absl::Status Give(const proto::GetImageRequest& request,
                    grpc::ServerWriter<proto::FileChunk>& writer) {
    if (absl::Status s = CheckCluster(request.cluster()); !s.ok()) return s;
    absl::StatusOr<files::OutgoingFile> file =
        store_.OpenToSend(JobId{request.job()}, request.name());
    if (!file.ok()) return file.status();
    return files::SendFile(*file, {}, writer);
  }

  ImageStore& store_;
  const std::string tls_dir_;
  Revocations revocations_;
  const ImagesServer::Received received_;
  RefusalPace refusals_;
};

}  // namespace

struct ImagesServer::Parts {
  std::unique_ptr<ImagesService> service;
  std::unique_ptr<RpcListener> listener;
};

absl::StatusOr<std::unique_ptr<ImagesServer>> ImagesServer::Start(EventLoop& loop,
                                                                  ImageStore& store,
                                                                  const HostPort& listen,
                                                                  const RpcCredentials& credentials,
                                                                  Received received) {
  auto parts = std::make_unique<Parts>();
  parts->service =
      std::make_unique<ImagesService>(store, credentials.directory(), std::move(received));
  const RpcListener::Settings settings{.message_bytes_max = kMessageBytesMax,
                                       .keepalive = kImagesKeepalive,
                                       .ping_interval_min_ms = kPingIntervalMinMs,
                                       .arguments = {},
                                       .credentials = credentials};
  auto listener = RpcListener::Start(loop, listen, settings, {parts->service.get()}, nullptr);
  if (!listener.ok()) return listener.status();
  parts->listener = *std::move(listener);
  return std::make_unique<ImagesServer>(std::move(parts));
}

ImagesServer::ImagesServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ImagesServer::~ImagesServer() { Shutdown(); }

const HostPort& ImagesServer::address() const { return parts_->listener->address(); }

std::uint64_t ImagesServer::refused() const { return parts_->service->refused(); }

void ImagesServer::Shutdown() { parts_->listener->Shutdown(); }

}  // namespace bspnow::worker
