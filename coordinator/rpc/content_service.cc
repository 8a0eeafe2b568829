#include "coordinator/rpc/content_service.h"

#include <errno.h>
#include <fcntl.h>
#include <grpcpp/support/server_callback.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>
#include "coordinator/file_store.h"
#include "coordinator/rpc/rpc_status.h"
#include "coordinator/rpc/self_owned.h"

namespace bspnow {
namespace {

constexpr std::size_t kChunkBytes = 256 << 10;
constexpr std::size_t kChunkBytesMax = 1 << 20;

absl::Status CheckChunk(const std::string& data) {
  if (data.size() <= kChunkBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a chunk has at most ", kChunkBytesMax, " bytes"));
}

/// The next bytes of a file; none at its end.
absl::StatusOr<std::string> ReadChunk(int fd) {
  std::string data(kChunkBytes, '\0');
  const ssize_t n = read(fd, data.data(), data.size());
  if (n < 0) return absl::ErrnoToStatus(errno, "reading");
  data.resize(static_cast<std::size_t>(n));
  return data;
}

// ---- Contents -----------------------------------------------------------------------------------

class BlobTaking final : public SelfOwned<grpc::ServerReadReactor<proto::BlobChunk>, BlobTaking> {
 public:
  explicit BlobTaking(const BlobStore& blobs) : blobs_(blobs) { StartRead(&chunk_); }

  void OnReadDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok) return Finish(ToGrpc(Commit()));
    absl::Status taken = Take();
    if (!taken.ok()) return Finish(ToGrpc(taken));
    StartRead(&chunk_);
  }

 private:
  absl::Status Take() {
    if (absl::Status checked = CheckChunk(chunk_.data()); !checked.ok()) return checked;
    if (!upload_) {
      auto upload = blobs_.Upload(chunk_.sha256(), chunk_.bytes());
      if (!upload.ok()) return upload.status();
      upload_.emplace(*std::move(upload));
    }
    return upload_->Append(chunk_.data());
  }

  absl::Status Commit() {
    if (!upload_) return absl::InvalidArgumentError("no chunk came");
    return upload_->Commit(Durability::kSynced);
  }

  const BlobStore& blobs_;
  proto::BlobChunk chunk_;
  std::optional<BlobUpload> upload_;
};

class BlobSending final
    : public SelfOwned<grpc::ServerWriteReactor<proto::BlobChunk>, BlobSending> {
 public:
  void Begin(const BlobStore& blobs, const std::string& sha256) {
    auto fd = blobs.Open(sha256);
    struct stat status;
    if (!fd.ok()) return Finish(ToGrpc(fd.status()));
    fd_ = *std::move(fd);
    if (fstat(fd_.get(), &status) != 0) return Finish(ToGrpc(absl::ErrnoToStatus(errno, "fstat")));
    chunk_.set_sha256(sha256);
    chunk_.set_bytes(static_cast<std::uint64_t>(status.st_size));
    SendNext();
  }

  void OnWriteDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok) return Finish(grpc::Status::CANCELLED);
    chunk_.Clear();
    SendNext();
  }

 private:
  void SendNext() {
    auto data = ReadChunk(fd_.get());
    if (!data.ok()) return Finish(ToGrpc(data.status()));
    if (data->empty() && chunk_.sha256().empty()) return Finish(grpc::Status::OK);
    chunk_.set_data(*std::move(data));
    StartWrite(&chunk_);
  }

  UniqueFd fd_;
  proto::BlobChunk chunk_;
};

// ---- Files of a job -----------------------------------------------------------------------------

class FilesTaking final : public SelfOwned<grpc::ServerReadReactor<proto::FileChunk>, FilesTaking> {
 public:
  FilesTaking(EventLoop& loop, const Daemon& daemon) : loop_(loop), daemon_(daemon) {
    StartRead(&chunk_);
  }

  void OnReadDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok) return Finish(ToGrpc(receiver_ ? receiver_->Finish() : absl::OkStatus()));
    if (receiver_) return Take();
    // The loop knows whether this job's files may come; the stream waits for it.
    loop_.Post([this] {
      const JobId job{chunk_.job()};
      absl::Status may = daemon_.cluster().MayStoreFiles(job);
      if (!may.ok()) return Finish(ToGrpc(may));
      receiver_.emplace(daemon_.files_of(job), daemon_.files_bytes_max());
      StartSendInitialMetadata();  // Goes on in a thread of gRPC: files are not the loop's affair.
    });
  }

  void OnSendInitialMetadataDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok) return Finish(grpc::Status::CANCELLED);
    Take();
  }

 private:
  void Take() {
    absl::Status taken = TakeChunk();
    if (!taken.ok()) return Finish(ToGrpc(taken));
    StartRead(&chunk_);
  }

  absl::Status TakeChunk() {
    if (absl::Status checked = CheckChunk(chunk_.data()); !checked.ok()) return checked;
    if (!chunk_.name().empty()) {
      absl::Status begun =
          receiver_->Begin({.name = chunk_.name(), .bytes = chunk_.bytes(), .mode = chunk_.mode()});
      if (!begun.ok()) return begun;
    }
    return chunk_.data().empty() ? absl::OkStatus() : receiver_->Append(chunk_.data());
  }

  EventLoop& loop_;
  const Daemon& daemon_;
  proto::FileChunk chunk_;
  std::optional<FileReceiver> receiver_;
};

class FilesSending final
    : public SelfOwned<grpc::ServerWriteReactor<proto::FileChunk>, FilesSending> {
 public:
  FilesSending(EventLoop& loop, const Daemon& daemon, const proto::FetchFilesRequest& request)
      : directory_(daemon.files_of(JobId{request.job()})),
        names_(request.names().begin(), request.names().end()) {
    chunk_.set_job(request.job());
    loop.Post([this, &daemon] {
      absl::Status ended = daemon.cluster().MayFetchFiles(JobId{chunk_.job()});
      if (!ended.ok()) return Finish(ToGrpc(ended));
      StartSendInitialMetadata();  // Goes on in a thread of gRPC, as above.
    });
  }

  void OnSendInitialMetadataDone(bool ok) override {  // tidy: gRPC's own signature
    auto files = ListFiles(directory_, names_);
    if (!ok) return Finish(grpc::Status::CANCELLED);
    if (!files.ok()) return Finish(ToGrpc(files.status()));
    files_ = *std::move(files);
    SendNext();
  }

  void OnWriteDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok) return Finish(grpc::Status::CANCELLED);
    SendNext();
  }

 private:
  void SendNext() {
    if (next_ == files_.size() && !fd_.valid()) return Finish(grpc::Status::OK);
    const std::uint64_t job = chunk_.job();
    chunk_.Clear();
    chunk_.set_job(job);
    absl::Status read = fd_.valid() ? absl::OkStatus() : OpenNext();
    if (read.ok()) read = ReadOn();
    if (!read.ok()) return Finish(ToGrpc(read));
    StartWrite(&chunk_);
  }

  absl::Status OpenNext() {
    const StoredFile& file = files_[next_++];
    fd_ = UniqueFd(open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd_.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", file.path));
    chunk_.set_name(file.name);
    chunk_.set_bytes(file.bytes);
    chunk_.set_mode(file.mode);
    left_bytes_ = file.bytes;
    return absl::OkStatus();
  }

  absl::Status ReadOn() {
    auto data = ReadChunk(fd_.get());
    if (!data.ok()) return data.status();
    if (data->size() > left_bytes_ || (data->empty() && left_bytes_ != 0))
      return absl::AbortedError("a file changed while it was read; fetch it again");
    left_bytes_ -= data->size();
    if (left_bytes_ == 0) fd_.Reset();
    chunk_.set_data(*std::move(data));
    return absl::OkStatus();
  }

  const std::string directory_;
  const std::vector<std::string> names_;
  std::vector<StoredFile> files_;
  std::size_t next_ = 0;
  UniqueFd fd_;  ///< Of files_[next_ - 1], if it is not all sent.
  std::uint64_t left_bytes_ = 0;
  proto::FileChunk chunk_;
};

}  // namespace

grpc::ServerReadReactor<proto::BlobChunk>* TakeBlob(const BlobStore& blobs) {
  return BlobTaking::Make(blobs).get();
}

grpc::ServerWriteReactor<proto::BlobChunk>* SendBlob(const BlobStore& blobs,
                                                     const proto::ReadBlobRequest& request) {
  const auto call = BlobSending::Make();
  call->Begin(blobs, request.sha256());
  return call.get();
}

grpc::ServerReadReactor<proto::FileChunk>* TakeFiles(EventLoop& loop, const Daemon& daemon) {
  return FilesTaking::Make(loop, daemon).get();
}

grpc::ServerWriteReactor<proto::FileChunk>* SendFiles(EventLoop& loop, const Daemon& daemon,
                                                      const proto::FetchFilesRequest& request) {
  return FilesSending::Make(loop, daemon, request).get();
}

}  // namespace bspnow
