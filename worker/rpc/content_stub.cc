#include "worker/rpc/content_stub.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <string_view>

#include "base/clock.h"
#include "base/units.h"
#include "files/file_sink.h"
#include "files/file_streams.h"
#include "proto/workers.grpc.pb.h"
#include "worker/job/blob_cache.h"
#include "worker/rpc/silence_watch.h"

namespace bspnow::worker {
namespace {

constexpr std::chrono::milliseconds kPause{250};
constexpr std::uint32_t kProfileMode = 0600;
constexpr std::uint64_t kPatienceNs = 60 * kNsPerS;  // While the coordinator is away.
constexpr std::int64_t kProfileTimeoutMs = 20'000;
constexpr int kUncheckedTriesMax = 3;

/// A content comes if the disk has room for it (CheckRoomFor).
class WithinRoom final : public files::FileSink {
 public:
  WithinRoom(files::FileSink& sink, const std::string& directory)
      : sink_(sink), directory_(directory) {}

  absl::Status Begin(const files::FileHead& head) override {
    absl::Status room = CheckRoomFor(absl::StrCat(directory_, "/", head.name), head.bytes);
    return room.ok() ? sink_.Begin(head) : room;
  }
  absl::Status Append(std::string_view bytes) override { return sink_.Append(bytes); }
  absl::Status Finish() override { return sink_.Finish(); }

 private:
  files::FileSink& sink_;
  const std::string& directory_;
};

}  // namespace

ContentStub::ContentStub(const CoordinatorAddress& coordinator, std::chrono::milliseconds patience)
    : channel_(ChannelToCoordinator(coordinator)), patience_(patience) {}

// Tries again as long as the coordinator is away; a connection may break in the middle.
template <typename Try>
absl::Status ContentStub::UntilAvailable(OpenCalls& calls, Try call) {
  const std::uint64_t until_ns = NowNs() + kPatienceNs;
  for (;;) {
    const absl::Status status = call();
    if (!absl::IsUnavailable(status) || NowNs() >= until_ns) return status;
    if (calls_.stopping() || calls.stopping()) return status;
    calls.Pause(kPause);
  }
}

absl::Status ContentStub::ReadBlob(const std::string& sha256, const files::BlobStore& into,
                                   OpenCalls& calls) {
  proto::ReadBlobRequest request;
  request.set_sha256(sha256);
  const auto read_once = [&] { return TryReadBlob(request, into, calls); };
  const absl::Status read = UntilAvailable(calls, read_once);
  // Another content came, or it could not be read there.
  if (!absl::IsInvalidArgument(read) && !absl::IsUnknown(read)) return read;
  request.set_doubted(true);
  return UntilAvailable(calls, read_once);
}

absl::Status ContentStub::StoreProfile(JobId job, std::uint32_t host, const std::string& profile) {
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(kProfileTimeoutMs, GPR_TIMESPAN));
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::StoreFilesReply reply;
  const auto stub = proto::Workers::NewStub(channel_);
  const auto writer = stub->StoreProfile(&context, &reply);
  proto::FileChunk chunk;
  chunk.set_job(Value(job));
  chunk.set_name(absl::StrCat(host));
  chunk.set_bytes(profile.size());
  chunk.set_mode(kProfileMode);
  for (std::size_t at = 0; at < profile.size(); at += files::kChunkBytesMax) {
    chunk.set_data(profile.substr(at, files::kChunkBytesMax));
    if (!writer->Write(chunk)) break;  // Finish says why.
    chunk.Clear();
  }
  return files::EndSending(absl::OkStatus(), context, *writer, "storing the profile of a job");
}

absl::Status ContentStub::TryReadBlob(const proto::ReadBlobRequest& request,
                                      const files::BlobStore& into, OpenCalls& calls) {
  grpc::ClientContext context;
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  const OpenCall of_job(calls, [&context] { context.TryCancel(); });
  files::BlobSink content(into, Durability::kCached);
  WithinRoom sink(content, into.directory());
  const auto stub = proto::Workers::NewStub(channel_);
  const auto reader = stub->ReadBlob(&context, request);
  return files::TakeFiles(context, *reader, sink,
                          absl::StrCat("fetching content ", request.sha256()));
}

// A file is known to be unreadable, by a bad block, say, when a part of it is there already. So all
// others are sent anew. On a dying disk that would grow with the square of the files: where several
// are bad, each file is read once before the next try, which then meets only what went bad since.
absl::Status ContentStub::StoreFiles(JobId job, std::vector<LeftFile> files,
                                     const LeftFileReader& reader) {
  for (int tries = 1;; ++tries) {
    const Stored stored = TryStoreFiles(job, files, reader);
    if (!stored.unread.has_value()) return stored.status;
    const auto unread = files.begin() + static_cast<std::ptrdiff_t>(*stored.unread);
    reader.unread(*unread, stored.status);
    files.erase(unread);
    if (tries >= kUncheckedTriesMax)
      std::erase_if(files, [&](const LeftFile& file) { return !IsReadable(file, reader); });
    if (files.empty()) return absl::OkStatus();
  }
}

// Once stopped it need not know: the next call fails.
bool ContentStub::IsReadable(const LeftFile& file, const LeftFileReader& reader) const {
  absl::StatusOr<files::OutgoingFile> opened = reader.open(file);
  if (!opened.ok()) return false;
  opened->LeaveHoles();
  proto::FileChunk chunk;
  while (!opened->ended() && !calls_.stopping()) {
    const absl::Status read = opened->Read(chunk, files::kChunkBytesMax);
    if (read.ok()) continue;
    reader.unread(file, read);
    return false;
  }
  return true;
}

ContentStub::Stored ContentStub::TryStoreFiles(JobId job, const std::vector<LeftFile>& files,
                                               const LeftFileReader& reader) {
  grpc::ClientContext context;
  SilenceWatch watch(patience_, [&context] { context.TryCancel(); });
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  proto::StoreFilesReply reply;
  const auto stub = proto::Workers::NewStub(channel_);
  const auto writer = stub->StoreFiles(&context, &reply);
  proto::FileChunk first;
  first.set_job(Value(job));
  absl::Status sent;
  std::uint64_t bytes = 0;
  // A coordinator answers the first chunk of all, so nothing is asked before.
  auto takes_holes = [&, known = std::optional<bool>()]() mutable {
    if (!known.has_value()) {
      writer->WaitForInitialMetadata();
      known = context.GetServerInitialMetadata().contains(files::kTakesHoles);
    }
    return *known;
  };
  std::optional<std::size_t> unread;
  for (std::size_t i = 0; i < files.size() && sent.ok(); ++i) {
    absl::StatusOr<files::OutgoingFile> file = reader.open(files[i]);
    if (!file.ok()) continue;
    sent = files::SendFile(*file, first, *writer, [&](std::uint64_t more) {
      watch.Moved();
      bytes += more;
      if (file->sparse() && takes_holes()) file->LeaveHoles();
      return absl::OkStatus();
    });
    if (!sent.ok()) unread = i;
  }
  watch.ExpectSync(bytes);
  const absl::Status ended =
      files::EndSending(sent, context, *writer, "storing the files of a job");
  if (ended.ok() || unread.has_value() || !watch.fired()) return {ended, unread};
  const char* const why =
      watch.watches() ? "the coordinator takes no more of them" : "there is no thread to be had";
  return {absl::UnavailableError(absl::StrCat("storing the files of a job: ", why)), {}};
}

}  // namespace bspnow::worker
