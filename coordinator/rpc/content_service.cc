#include "coordinator/rpc/content_service.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/rpc/left_files.h"
#include "coordinator/rpc/self_owned.h"
#include "files/file_chunks.h"
#include "files/file_store.h"
#include "proto/grpc_status.h"

namespace bspnow::coordinator {
namespace {

// Of one node: as many processes as a node can have, with all of their records.
constexpr std::uint64_t kProfileBytesMax = std::uint64_t{64} << 20;

// ---- In -----------------------------------------------------------------------------------------

using OnSink = std::function<void(absl::StatusOr<std::unique_ptr<files::FileSink>>)>;
/// Says who takes the files of a stream, once its first chunk is here.
using FindSink = std::function<void(const proto::FileChunk& first, OnSink then)>;

class Taking final : public SelfOwned<grpc::ServerReadReactor<proto::FileChunk>, Taking> {
 public:
  /// A stream without a chunk ends with `of_none`.
  Taking(FindSink find, absl::Status of_none)
      : find_(std::move(find)), of_none_(std::move(of_none)) {
    StartRead(&chunk_);
  }

  void OnReadDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok) return Finish(ToGrpc(sink_ ? sink_->Finish() : of_none_));
    if (sink_) return Take();
    find_(chunk_, [this](absl::StatusOr<std::unique_ptr<files::FileSink>> sink) {
      if (!sink.ok()) return Finish(ToGrpc(sink.status()));
      sink_ = *std::move(sink);
      StartSendInitialMetadata();  // Goes on in a thread of gRPC: files are not the loop's affair.
    });
  }

  void OnSendInitialMetadataDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok) return Finish(grpc::Status::CANCELLED);
    Take();
  }

 private:
  void Take() {
    absl::Status taken = files::TakeChunk(chunk_, *sink_);
    if (!taken.ok()) return Finish(ToGrpc(taken));
    StartRead(&chunk_);
  }

  const FindSink find_;
  const absl::Status of_none_;
  std::unique_ptr<files::FileSink> sink_;
  proto::FileChunk chunk_;
};

// ---- Out ----------------------------------------------------------------------------------------

/// Of a chunk: small, because all workers may fetch a program at once.
constexpr std::size_t kSentBytes = 256 << 10;

/// Fills the next chunk; false after the last.
using NextChunk = std::function<absl::StatusOr<bool>(proto::FileChunk& chunk)>;

class Sending final : public SelfOwned<grpc::ServerWriteReactor<proto::FileChunk>, Sending> {
 public:
  explicit Sending(NextChunk next) : next_(std::move(next)) {}

  void Begin(const absl::Status& may) {
    if (!may.ok()) return Finish(ToGrpc(may));
    StartSendInitialMetadata();  // Goes on in a thread of gRPC, as above.
  }

  void OnSendInitialMetadataDone(bool ok) override { SendNext(ok); }  // tidy: gRPC's own signature
  void OnWriteDone(bool ok) override { SendNext(ok); }                // tidy: gRPC's own signature

 private:
  void SendNext(bool ok) {  // tidy: as gRPC says it
    if (!ok) return Finish(grpc::Status::CANCELLED);
    const absl::StatusOr<bool> next = next_(chunk_);
    if (!next.ok() || !*next) return Finish(ToGrpc(next.status()));
    StartWrite(&chunk_);
  }

  const NextChunk next_;
  proto::FileChunk chunk_;
};

/// The next file to send; nothing after the last.
using NextFile = std::function<absl::StatusOr<std::optional<files::OutgoingFile>>()>;

/// Of each file; the first that cannot be read is an error.
NextChunk ChunksOf(NextFile next) {
  const auto file = std::make_shared<std::optional<files::OutgoingFile>>();
  return [next = std::move(next), file](proto::FileChunk& chunk) -> absl::StatusOr<bool> {
    if (!*file || (*file)->ended()) {
      absl::StatusOr<std::optional<files::OutgoingFile>> opened = next();
      if (!opened.ok()) return opened.status();
      *file = *std::move(opened);
    }
    if (!*file) return false;
    const absl::Status read = (*file)->Read(chunk, kSentBytes);
    if (!read.ok()) return read;
    return true;
  };
}

/// A content, and nothing else. DataLoss if it is not here: nobody but a client has it then.
NextFile OneBlob(const files::BlobStore& blobs, const std::string& sha256) {
  return [&blobs, sha256,
          sent = false]() mutable -> absl::StatusOr<std::optional<files::OutgoingFile>> {
    if (std::exchange(sent, true)) return std::nullopt;
    absl::StatusOr<UniqueFd> fd = blobs.Open(sha256);
    if (absl::IsNotFound(fd.status())) return absl::DataLossError(fd.status().message());
    if (!fd.ok()) return fd.status();
    return files::OutgoingFile::Of(*std::move(fd), sha256);
  };
}

/// Those below a directory.
NextFile EachFile(const std::string& directory) {
  return [directory, next = std::size_t{0}, files = std::vector<files::StoredFile>()]() mutable
         -> absl::StatusOr<std::optional<files::OutgoingFile>> {
    if (next == 0) {
      absl::StatusOr<std::vector<files::StoredFile>> listed = files::ListFiles(directory, {});
      if (!listed.ok()) return listed.status();
      files = *std::move(listed);
    }
    if (next == files.size()) return std::nullopt;
    const files::StoredFile& file = files[next++];
    return files::OutgoingFile::Open(file.path, file.name);
  };
}

/// Those of each node, and last the program, if it has a name and is still there.
NextFile ProfileFiles(const std::string& directory, const files::BlobStore& blobs,
                      const std::shared_ptr<const std::string>& program) {
  return [next = EachFile(directory), &blobs, program,
          sent = false]() mutable -> absl::StatusOr<std::optional<files::OutgoingFile>> {
    if (sent) return std::nullopt;
    absl::StatusOr<std::optional<files::OutgoingFile>> file = next();
    if (!file.ok() || file->has_value()) return file;
    sent = true;
    if (program->empty()) return std::nullopt;
    absl::StatusOr<UniqueFd> content = blobs.Open(*program);
    if (!content.ok()) return std::nullopt;
    return files::OutgoingFile::Of(*std::move(content), "program");
  };
}

/// Tells how it ended.
class ToldSink final : public files::FileSink {
 public:
  using Tell = std::function<void(const absl::Status& outcome)>;

  ToldSink(std::unique_ptr<files::FileSink> sink, Tell tell)
      : sink_(std::move(sink)), tell_(std::move(tell)) {}

  absl::Status Begin(const files::FileHead& head) override { return Failed(sink_->Begin(head)); }
  absl::Status Append(std::string_view bytes) override { return Failed(sink_->Append(bytes)); }
  absl::Status AppendHole(std::uint64_t bytes) override { return Failed(sink_->AppendHole(bytes)); }
  absl::Status Finish() override {
    absl::Status outcome = sink_->Finish();
    tell_(outcome);
    return outcome;
  }

 private:
  absl::Status Failed(absl::Status outcome) {
    if (!outcome.ok()) tell_(outcome);
    return outcome;
  }

  const std::unique_ptr<files::FileSink> sink_;
  const Tell tell_;
};

/// What a job left, on the loop.
using SinkOf = std::function<std::unique_ptr<files::FileSink>(JobId job)>;
grpc::ServerReadReactor<proto::FileChunk>* TakeOfJob(EventLoop& loop, const Daemon& daemon,
                                                     SinkOf sink_of) {
  // The loop knows whether this job's files may come; the stream waits for it.
  const auto find = [&loop, &daemon, sink_of = std::move(sink_of)](const proto::FileChunk& first,
                                                                   OnSink then) {
    loop.Post([&daemon, sink_of, job = JobId{first.job()}, then = std::move(then)] {
      absl::Status may = daemon.cluster().MayStoreFiles(job);
      if (!may.ok()) return then(may);
      then(sink_of(job));
    });
  };
  return Taking::Make(find, absl::OkStatus()).get();
}

}  // namespace

grpc::ServerReadReactor<proto::FileChunk>* TakeBlob(const Uploads& uploads, const Caller& caller) {
  const auto find = [&uploads, user = caller.user](const proto::FileChunk&, const OnSink& then) {
    then(uploads.Take(user));
  };
  return Taking::Make(find, absl::InvalidArgumentError("no chunk came")).get();
}

grpc::ServerWriteReactor<proto::FileChunk>* SendBlob(const Uploads& uploads,
                                                     const proto::ReadBlobRequest& request) {
  const std::string& sha256 = request.sha256();
  const NextFile next = OneBlob(uploads.contents(), sha256);
  const NextFile next_if_sound =
      [&uploads, sha256, next,
       checked = false]() mutable -> absl::StatusOr<std::optional<files::OutgoingFile>> {
    if (!std::exchange(checked, true))
      if (absl::Status sound = uploads.Recheck(sha256); !sound.ok()) return sound;
    return next();
  };
  const auto call = Sending::Make(ChunksOf(request.doubted() ? next_if_sound : next));
  call->Begin(absl::OkStatus());
  return call.get();
}

grpc::ServerReadReactor<proto::FileChunk>* TakeFiles(EventLoop& loop, Daemon& daemon,
                                                     grpc::CallbackServerContext& context) {
  context.AddInitialMetadata(files::kTakesHoles, "1");
  return TakeOfJob(loop, daemon, [&loop, &daemon](JobId job) {
    return std::make_unique<ToldSink>(
        std::make_unique<files::FileReceiver>(
            files::FileReceiver::Settings{.directory = daemon.files_of(job),
                                          .bytes_max = daemon.files_bytes_max(),
                                          .durability = Durability::kSynced}),
        [&loop, &daemon, job](const absl::Status& outcome) {
          loop.Post([&daemon, job, outcome] { daemon.cluster().OnFilesTaken(job, outcome); });
        });
  });
}

grpc::ServerReadReactor<proto::FileChunk>* TakeProfile(EventLoop& loop, const Daemon& daemon) {
  // Nobody waits for a disk on its account.
  return TakeOfJob(loop, daemon, [&daemon](JobId job) {
    return std::make_unique<files::FileReceiver>(
        files::FileReceiver::Settings{.directory = daemon.profile_of(job),
                                      .bytes_max = kProfileBytesMax,
                                      .durability = Durability::kCached});
  });
}

grpc::ServerWriteReactor<proto::FileChunk>* SendProfile(EventLoop& loop, Daemon& daemon,
                                                        const Caller& caller,
                                                        const proto::ReadProfileRequest& request) {
  const JobId job{request.job()};
  const auto program = std::make_shared<std::string>();  // Known before the first file is read.
  const auto call = Sending::Make(
      ChunksOf(ProfileFiles(daemon.profile_of(job), daemon.uploads().contents(), program)));
  loop.Post([call, &daemon, caller, job, program, wanted = request.program()] {
    daemon.cluster().Recall(job, [call, &daemon, caller, job, program, wanted] {
      if (const absl::Status s = CheckOwner(caller, daemon.cluster().OwnerOf(job), Value(job));
          !s.ok())
        return call->Begin(s);
      const absl::StatusOr<std::string> content = daemon.cluster().MayReadProfile(job);
      if (content.ok() && wanted) *program = *content;
      call->Begin(content.status());
    });
  });
  return call.get();
}

grpc::ServerWriteReactor<proto::FileChunk>* SendFiles(EventLoop& loop, Daemon& daemon,
                                                      const Caller& caller,
                                                      const proto::FetchFilesRequest& request) {
  const JobId job{request.job()};
  const auto left = std::make_shared<LeftFiles>(daemon.files_of(job), request);
  const auto call =
      Sending::Make([left](proto::FileChunk& chunk) { return left->Next(chunk, kSentBytes); });
  loop.Post([call, &daemon, caller, job] {
    daemon.cluster().Recall(job, [call, &daemon, caller, job] {
      absl::Status may = CheckOwner(caller, daemon.cluster().OwnerOf(job), Value(job));
      if (may.ok()) may = daemon.cluster().MayFetchFiles(job);
      call->Begin(may);
    });
  });
  return call.get();
}

}  // namespace bspnow::coordinator
