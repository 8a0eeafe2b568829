#include "worker/rpc/content_stub.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "files/file_streams.h"
#include "proto/workers.grpc.pb.h"
#include "worker/rpc/coordinator_channel.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {
namespace {

constexpr std::chrono::milliseconds kPause{250};
constexpr int kTries = 240;  // A minute, if the coordinator is away.

}  // namespace

class ContentStub::Impl {
 public:
  explicit Impl(const std::string& address)
      : stub_(proto::Workers::NewStub(ChannelToCoordinator(address))) {}

  void Stop() { calls_.Stop(); }

  /// Tries again as long as the coordinator is away; a connection may break in the middle.
  template <typename Try>
  absl::Status UntilAvailable(Try call) {
    for (int tries = 1;; ++tries) {
      const absl::Status status = call();
      if (!absl::IsUnavailable(status) || tries == kTries || calls_.stopping()) return status;
      calls_.Pause(kPause);
    }
  }

  absl::Status TryReadBlob(const std::string& sha256, const files::BlobStore& into);
  absl::Status TryStoreFiles(JobId job, const std::string& directory,
                             const std::vector<LeftFile>& files);

 private:
  const std::unique_ptr<proto::Workers::Stub> stub_;
  OpenCalls calls_;
};

absl::Status ContentStub::Impl::TryReadBlob(const std::string& sha256,
                                            const files::BlobStore& into) {
  grpc::ClientContext context;
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::ReadBlobRequest request;
  request.set_sha256(sha256);
  files::BlobSink sink(into, Durability::kCached);
  const auto reader = stub_->ReadBlob(&context, request);
  return files::TakeFiles(context, *reader, sink, absl::StrCat("fetching content ", sha256));
}

absl::Status ContentStub::Impl::TryStoreFiles(JobId job, const std::string& directory,
                                              const std::vector<LeftFile>& files) {
  grpc::ClientContext context;
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::StoreFilesReply reply;
  const auto writer = stub_->StoreFiles(&context, &reply);
  proto::FileChunk first;
  first.set_job(Value(job));
  absl::Status sent;
  for (const LeftFile& left : files) {
    absl::StatusOr<files::OutgoingFile> file =
        files::OutgoingFile::Open(absl::StrCat(directory, "/", left.name), left.name);
    if (!file.ok()) {
      spdlog::warn("event=file_left_out job={} file={} reason=\"{}\"", Value(job), left.name,
                   std::string(file.status().message()));
      continue;
    }
    sent = files::SendFile(*file, first, *writer);
    if (!sent.ok()) break;
  }
  return files::EndSending(sent, context, *writer, "storing the files of a job");
}

ContentStub::ContentStub(const std::string& address) : impl_(std::make_unique<Impl>(address)) {}

ContentStub::~ContentStub() = default;

void ContentStub::Stop() { impl_->Stop(); }

absl::Status ContentStub::ReadBlob(const std::string& sha256, const files::BlobStore& into) {
  return impl_->UntilAvailable([&] { return impl_->TryReadBlob(sha256, into); });
}

absl::Status ContentStub::StoreFiles(JobId job, const std::string& directory,
                                     const std::vector<LeftFile>& files) {
  return impl_->UntilAvailable([&] { return impl_->TryStoreFiles(job, directory, files); });
}

}  // namespace bspnow::worker
