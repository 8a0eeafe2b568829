#include "worker/content_stub.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/unique_fd.h"
#include "proto/workers.grpc.pb.h"
#include "worker/coordinator_channel.h"
#include "worker/open_calls.h"

namespace bspnow {
namespace {

constexpr std::chrono::milliseconds kPause{250};
constexpr int kTries = 240;  // A minute, if the coordinator is away.
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

absl::Status FromGrpc(const grpc::Status& status, const std::string& what) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      absl::StrCat(what, ": ", status.error_message()));
}

}  // namespace

class ContentStub::Rim {
 public:
  explicit Rim(const std::string& address)
      : stub_(proto::Workers::NewStub(ChannelToCoordinator(address))) {}

  void Stop() { calls_.Stop(); }
  absl::Status ReadBlob(const std::string& sha256, const BlobStore& into);
  absl::Status StoreFiles(JobId job, const std::string& directory,
                          const std::vector<LeftFile>& files);

 private:
  absl::Status TryReadBlob(const std::string& sha256, const BlobStore& into);
  absl::Status TryStoreFiles(JobId job, const std::string& directory,
                             const std::vector<LeftFile>& files);

  const std::unique_ptr<proto::Workers::Stub> stub_;
  OpenCalls calls_;
};

// A connection may break in the middle.
absl::Status ContentStub::Rim::ReadBlob(const std::string& sha256, const BlobStore& into) {
  for (int tries = 1;; ++tries) {
    const absl::Status status = TryReadBlob(sha256, into);
    if (!absl::IsUnavailable(status) || tries == kTries || calls_.stopping()) return status;
    calls_.Pause(kPause);
  }
}

absl::Status ContentStub::Rim::TryReadBlob(const std::string& sha256, const BlobStore& into) {
  grpc::ClientContext context;
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::ReadBlobRequest request;
  request.set_sha256(sha256);
  const auto reader = stub_->ReadBlob(&context, request);
  proto::BlobChunk chunk;
  std::optional<BlobUpload> upload;
  absl::Status taken;
  while (taken.ok() && reader->Read(&chunk)) {
    if (!upload) {
      auto begun = into.Upload(sha256, chunk.bytes());
      if (begun.ok()) upload.emplace(*std::move(begun));
      taken = begun.status();
    }
    if (taken.ok()) taken = upload->Append(chunk.data());
  }
  if (!taken.ok()) context.TryCancel();
  const absl::Status given = FromGrpc(reader->Finish(), absl::StrCat("fetching content ", sha256));
  if (!taken.ok()) return taken;
  if (!given.ok()) return given;
  if (!upload) return absl::DataLossError(absl::StrCat("nothing came of content ", sha256));
  return upload->Commit(Durability::kCached);
}

absl::Status ContentStub::Rim::StoreFiles(JobId job, const std::string& directory,
                                          const std::vector<LeftFile>& files) {
  for (int tries = 1;; ++tries) {
    const absl::Status status = TryStoreFiles(job, directory, files);
    if (!absl::IsUnavailable(status) || tries == kTries || calls_.stopping()) return status;
    calls_.Pause(kPause);
  }
}

absl::Status ContentStub::Rim::TryStoreFiles(JobId job, const std::string& directory,
                                             const std::vector<LeftFile>& files) {
  grpc::ClientContext context;
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::StoreFilesReply reply;
  const auto writer = stub_->StoreFiles(&context, &reply);
  for (const LeftFile& left : files) {
    const std::string path = absl::StrCat(directory, "/", left.name);
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file.valid()) {
      spdlog::warn("event=file_left_out job={} file={} reason=\"{}\"", Value(job), left.name,
                   strerror(errno));
      continue;
    }
    proto::FileChunk chunk;
    chunk.set_job(Value(job));
    chunk.set_name(left.name);
    chunk.set_bytes(left.bytes);
    chunk.set_mode(left.mode);
    std::uint64_t rest = left.bytes;
    bool going = true;
    do {
      std::string& data = *chunk.mutable_data();
      data.resize(std::min<std::uint64_t>(kChunkBytes, rest));
      const ssize_t n = read(file.get(), data.data(), data.size());
      if (n != static_cast<ssize_t>(data.size())) {
        const absl::Status failed = absl::ErrnoToStatus(n < 0 ? errno : EIO, "reading " + path);
        context.TryCancel();
        writer->Finish();
        return failed;
      }
      rest -= data.size();
      going = writer->Write(chunk);
      chunk.Clear();
    } while (going && rest > 0);
    if (!going) break;
  }
  writer->WritesDone();
  return FromGrpc(writer->Finish(), "storing the files of a job");
}

ContentStub::ContentStub(const std::string& address) : rim_(std::make_unique<Rim>(address)) {}

ContentStub::~ContentStub() = default;

void ContentStub::Stop() { rim_->Stop(); }

absl::Status ContentStub::ReadBlob(const std::string& sha256, const BlobStore& into) {
  return rim_->ReadBlob(sha256, into);
}

absl::Status ContentStub::StoreFiles(JobId job, const std::string& directory,
                                     const std::vector<LeftFile>& files) {
  return rim_->StoreFiles(job, directory, files);
}

}  // namespace bspnow
