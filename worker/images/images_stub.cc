#include "worker/images/images_stub.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/unique_fd.h"
#include "proto/workers.grpc.pb.h"
#include "worker/images/image_name.h"
#include "worker/images/image_reception.h"

namespace bspnow {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr int kMessageBytesMax = 2 << 20;
constexpr int kConnectTimeoutMs = 3'000;
/// A peer that is gone is noticed within both together.
constexpr int kKeepaliveMs = 2'000;
constexpr int kKeepaliveTimeoutMs = 3'000;
/// Against a peer that is alive and gets nowhere: its disk hangs.
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
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return proto::Images::NewStub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

absl::Status FromGrpc(const grpc::Status& status, const std::string& what) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      absl::StrCat(what, ": ", status.error_message()));
}

}  // namespace

absl::Status ImagesStub::Put(const std::string& address, const ImageStore& from, JobId job,
                             const std::string& name) {
  const absl::StatusOr<UniqueFd> file = from.OpenToRead(job, name);
  if (!file.ok()) return file.status();
  struct stat status {};
  if (fstat(file->get(), &status) != 0) return absl::ErrnoToStatus(errno, name);
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  const auto stub = Connect(address);
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(
      kCallTimeoutMs + static_cast<std::int64_t>(bytes / kBytesPerMsLeast), GPR_TIMESPAN));
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::PutImageReply reply;
  const auto writer = stub->PutImage(&context, &reply);
  proto::ImagePiece piece;
  piece.set_job(Value(job));
  piece.set_name(name);
  piece.set_bytes(bytes);
  piece.set_cluster(from.cluster());
  std::uint64_t at = 0;
  do {
    piece.mutable_data()->resize(std::min<std::uint64_t>(kPieceBytes, bytes - at));
    const ssize_t n = pread(file->get(), piece.mutable_data()->data(), piece.data().size(),
                            static_cast<off_t>(at));
    if (n < 0 || static_cast<std::size_t>(n) < piece.data().size()) {
      const absl::Status failed = absl::ErrnoToStatus(n < 0 ? errno : EIO, "reading " + name);
      context.TryCancel();
      writer->Finish();
      return failed;
    }
    at += static_cast<std::uint64_t>(n);
    if (!writer->Write(piece)) break;  // Finish knows why.
    piece.clear_job();
    piece.clear_name();
    piece.clear_bytes();
    piece.clear_cluster();
  } while (at < bytes);
  writer->WritesDone();
  return FromGrpc(writer->Finish(), absl::StrCat("giving ", address, " ", name));
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
  const auto reader = stub->GetImage(&context, request);
  std::unique_ptr<ImageReception> reception;
  absl::Status taken;
  proto::ImagePiece piece;
  while (taken.ok() && reader->Read(&piece)) {
    if (!reception) {
      auto begun = into.Receive(job, name, piece.bytes());
      if (begun.ok()) reception = *std::move(begun);
      taken = begun.status();
    }
    if (taken.ok()) taken = reception->Append(piece.data());
  }
  if (!taken.ok()) context.TryCancel();
  const absl::Status given =
      FromGrpc(reader->Finish(), absl::StrCat("getting ", name, " from ", address));
  if (!taken.ok()) return taken;
  if (!given.ok()) return given;
  if (!reception) return absl::DataLossError(absl::StrCat(address, " sent nothing of ", name));
  // Checkpoints to come count on a text that is there.
  const std::optional<StoredName> parsed = ParseStoredName(name);
  const bool is_text = parsed && parsed->kind == StoredName::Kind::kText;
  const absl::Status kept = reception->Commit(is_text ? Durability::kSynced : Durability::kCached);
  if (kept.ok()) return kept;
  return absl::Status(kept.code(), absl::StrCat(kept.message(), ", as it came from ", address));
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
  if (!status.ok()) return FromGrpc(status, absl::StrCat("asking ", address, " for its images"));
  return std::vector<std::string>(reply.names().begin(), reply.names().end());
}

}  // namespace bspnow
