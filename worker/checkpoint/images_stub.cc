#include "worker/checkpoint/images_stub.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <optional>

#include "base/keepalive.h"
#include "files/file_streams.h"
#include "proto/grpc_status.h"
#include "proto/workers.grpc.pb.h"
#include "worker/checkpoint/image_name.h"
#include "worker/checkpoint/image_reception.h"

namespace bspnow::worker {
namespace {

constexpr int kMessageBytesMax = 2 << 20;
constexpr int kConnectTimeoutMs = 3'000;
/// For a peer that is alive but makes no progress, because its disk hangs.
constexpr std::int64_t kCallTimeoutMs = 60'000;
constexpr std::uint64_t kBytesPerMsLeast = 4'000;
constexpr std::int64_t kListTimeoutMs = 10'000;
constexpr std::int64_t kGetTimeoutMs = 600'000;

/// A connection of its own: several files go side by side.
std::unique_ptr<proto::Images::Stub> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);  // Bounds connecting.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kImagesKeepalive.time_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kImagesKeepalive.timeout_ms);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return proto::Images::NewStub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

}  // namespace

absl::Status ImagesStub::Put(const std::string& address, const ImageStore& from, JobId job,
                             const std::string& name) {
  absl::StatusOr<files::OutgoingFile> file = from.OpenToSend(job, name);
  if (!file.ok()) return file.status();
  const auto stub = Connect(address);
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(
      kCallTimeoutMs + static_cast<std::int64_t>(file->head().bytes / kBytesPerMsLeast),
      GPR_TIMESPAN));
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::PutImageReply reply;
  const auto writer = stub->PutImage(&context, &reply);
  proto::FileChunk first;
  first.set_job(Value(job));
  first.set_cluster(from.cluster());
  return files::EndSending(files::SendFile(*file, first, *writer), context, *writer,
                           absl::StrCat("giving ", address, " ", name));
}

absl::Status ImagesStub::Get(const std::string& address, ImageStore& into, JobId job,
                             const std::string& name) {
  const auto stub = Connect(address);
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(kGetTimeoutMs, GPR_TIMESPAN));
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::GetImageRequest request;
  request.set_job(Value(job));
  request.set_name(name);
  request.set_cluster(into.cluster());
  // Later checkpoints rely on a text that is here, so it must be durable.
  const std::optional<StoredName> parsed = ParseStoredName(name);
  const bool is_text = parsed && parsed->kind == StoredName::Kind::kText;
  ImageReception reception(into, job, name, is_text ? Durability::kSynced : Durability::kCached);
  const auto reader = stub->GetImage(&context, request);
  return files::TakeFiles(context, *reader, reception,
                          absl::StrCat("getting ", name, " from ", address));
}

absl::StatusOr<std::vector<std::string>> ImagesStub::List(const std::string& address, JobId job,
                                                          const std::string& cluster) {
  const auto stub = Connect(address);
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(kListTimeoutMs, GPR_TIMESPAN));
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::ListImagesRequest request;
  request.set_job(Value(job));
  request.set_cluster(cluster);
  proto::ListImagesReply reply;
  const grpc::Status status = stub->ListImages(&context, request, &reply);
  if (!status.ok())
    return files::While(absl::StrCat("asking ", address, " for its images"), FromGrpc(status));
  return std::vector<std::string>(reply.names().begin(), reply.names().end());
}

}  // namespace bspnow::worker
