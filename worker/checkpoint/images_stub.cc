#include "worker/checkpoint/images_stub.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <optional>

#include "files/file_streams.h"
#include "net/rpc/keepalive.h"
#include "proto/grpc_status.h"
#include "proto/workers.grpc.pb.h"
#include "worker/checkpoint/image_name.h"
#include "worker/checkpoint/image_reception.h"
#include "worker/rpc/silence_watch.h"

namespace bspnow::worker {
namespace {

constexpr int kMessageBytesMax = 2 << 20;
constexpr int kConnectTimeoutMs = 3'000;
constexpr std::int64_t kListTimeoutMs = 10'000;

/// A connection of its own: several files go side by side.
std::unique_ptr<proto::Images::Stub> Connect(const std::string& address,
                                             const RpcCredentials& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);  // Bounds connecting.
  SetKeepalive(kImagesKeepalive, arguments);
  return proto::Images::NewStub(
      grpc::CreateCustomChannel(address, credentials.channel(CertificateRole::kWorker), arguments));
}

void Authorize(grpc::ClientContext& context, const ImageStore& store) {
  const std::string authorization = store.token().authorization();
  if (!authorization.empty()) context.AddMetadata("authorization", authorization);
}

/// Of gRPC; tells the watch of each piece.
struct WatchedReader {
  grpc::ClientReader<proto::FileChunk>& reader;
  SilenceWatch& watch;

  bool Read(proto::FileChunk* chunk) {
    const bool read = reader.Read(chunk);
    watch.Moved();
    return read;
  }
  grpc::Status Finish() { return reader.Finish(); }
};

/// What the watch has cancelled was too slow.
absl::Status UnlessSilent(const SilenceWatch& watch, const std::string& what,
                          const absl::Status& status) {
  if (status.ok() || !watch.fired()) return status;
  if (!watch.watches())
    return absl::UnavailableError(absl::StrCat(what, ": there is no thread to be had"));
  return absl::DeadlineExceededError(absl::StrCat(what, ": it does not move any more"));
}

}  // namespace

absl::Status ImagesStub::Put(const std::string& address, const ImageStore& from, JobId job,
                             const std::string& name) {
  absl::StatusOr<files::OutgoingFile> file = from.OpenToSend(job, name);
  if (!file.ok()) return file.status();
  const auto stub = Connect(address, credentials_);
  grpc::ClientContext context;
  SilenceWatch watch(patience_, [&context] { context.TryCancel(); });
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  Authorize(context, from);
  proto::PutImageReply reply;
  const auto writer = stub->PutImage(&context, &reply);
  proto::FileChunk first;
  first.set_job(Value(job));
  first.set_cluster(from.cluster());
  const absl::Status sent = files::SendFile(*file, first, *writer, [&watch](std::uint64_t) {
    watch.Moved();
    return absl::OkStatus();
  });
  watch.ExpectSync(file->head().bytes);
  const std::string what = absl::StrCat("giving ", address, " ", name);
  return UnlessSilent(watch, what, files::EndSending(sent, context, *writer, what));
}

absl::Status ImagesStub::Get(const std::string& address, ImageStore& into, JobId job,
                             const std::string& name, OpenCalls& restore) {
  const auto stub = Connect(address, credentials_);
  grpc::ClientContext context;
  SilenceWatch watch(patience_, [&context] { context.TryCancel(); });
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  const OpenCall of_restore(restore, [&context] { context.TryCancel(); });
  Authorize(context, into);
  proto::GetImageRequest request;
  request.set_job(Value(job));
  request.set_name(name);
  request.set_cluster(into.cluster());
  // Later checkpoints rely on a text that is here, so it must be durable.
  const std::optional<StoredName> parsed = ParseStoredName(name);
  const bool is_text = parsed && parsed->kind == StoredName::Kind::kText;
  ImageReception reception(into, job, name, is_text ? Durability::kSynced : Durability::kCached);
  const auto reader = stub->GetImage(&context, request);
  WatchedReader watched{.reader = *reader, .watch = watch};
  const std::string what = absl::StrCat("getting ", name, " from ", address);
  return UnlessSilent(watch, what, files::TakeFiles(context, watched, reception, what));
}

absl::StatusOr<std::vector<std::string>> ImagesStub::List(const std::string& address,
                                                          const ImageStore& of, JobId job) {
  const auto stub = Connect(address, credentials_);
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(kListTimeoutMs, GPR_TIMESPAN));
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  Authorize(context, of);
  proto::ListImagesRequest request;
  request.set_job(Value(job));
  request.set_cluster(of.cluster());
  proto::ListImagesReply reply;
  const grpc::Status status = stub->ListImages(&context, request, &reply);
  if (!status.ok())
    return files::While(absl::StrCat("asking ", address, " for its images"), FromGrpc(status));
  return std::vector<std::string>(reply.names().begin(), reply.names().end());
}

}  // namespace bspnow::worker
