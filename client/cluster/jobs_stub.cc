#include "client/cluster/jobs_stub.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "client/cluster/attachment.h"
#include "client/cluster/noting_sink.h"
#include "files/file_streams.h"
#include "net/login/login.h"
#include "net/login/token_channel.h"
#include "net/rpc/keepalive.h"
#include "net/socket.h"
#include "net/tls/rpc_credentials.h"
#include "net/tls/tls_diagnosis.h"
#include "proto/grpc_status.h"
#include "proto/jobs.grpc.pb.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kConnectMs = 5'000;
constexpr std::uint64_t kRetryMs = 200;
constexpr std::uint64_t kMsPerSecond = 1'000;
constexpr std::uint64_t kStoodMs = 1'000;  // A call that lasted this long had reached somebody.
constexpr std::uint64_t kCallSeconds = 30;
constexpr int kReplyBytesMax = 64 << 20;  // A page of many jobs.
constexpr std::size_t kJobsOfPage = 1'000;

// A name that cannot be resolved is another mistake than a coordinator that is not there.
absl::Status NobodyAt(const CoordinatorPlace& place) {
  const std::string& coordinator = place.address;
  const absl::StatusOr<HostPort> host_port = ParseHostPort(coordinator);
  if (!host_port.ok()) return host_port.status();
  if (const auto resolved = Resolve(*host_port); !resolved.ok()) {
    return absl::NotFoundError(absl::StrCat("the coordinator ", resolved.status().message(),
                                            "; --coordinator or BSP_COORDINATOR name it"));
  }
  if (const std::string why = DiagnoseTls(*host_port, place.tls_dir); !why.empty())
    return absl::FailedPreconditionError(why);
  return absl::UnavailableError(
      absl::StrCat("no coordinator answers at ", coordinator,
                   "; is bsp-coordinator running there? --coordinator, BSP_COORDINATOR or "
                   "/etc/bspnow/client.toml name it"));
}

gpr_timespec After(std::uint64_t ms) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(static_cast<std::int64_t>(ms), GPR_TIMESPAN));
}

// It prints on standard error what goes wrong with TLS; the user is told that in our words.
void KeepGrpcQuiet() {
  if (getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& coordinator,
                                           const RpcCredentials& credentials, TokenSource tokens) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kRetryMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  SetKeepalive(kClientKeepalive, arguments);
  arguments.SetMaxReceiveMessageSize(kReplyBytesMax);
  return MakeTokenChannel(coordinator, credentials, arguments, std::move(tokens));
}

// Waits until the channel is connected; gives up when the attempt is refused.
bool Connected(grpc::Channel& channel) {
  const gpr_timespec deadline = After(kConnectMs);
  grpc_connectivity_state state = channel.GetState(true);
  while (state != GRPC_CHANNEL_READY) {
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) return false;
    if (!channel.WaitForStateChange(state, deadline)) return false;
    state = channel.GetState(true);
  }
  return true;
}

template <typename Request, typename Reply>
using Method = grpc::Status (proto::Jobs::Stub::*)(grpc::ClientContext*, const Request&, Reply*);

// Who gives no answer for as long as usual is lost. `timeout_s` is a caller's own; 0: none.
template <typename Request, typename Reply>
absl::StatusOr<Reply> Call(const JobsStub& stub, Method<Request, Reply> method,
                           const Request& request,
                           std::optional<std::uint64_t> timeout_s = std::nullopt) {
  grpc::ClientContext context;
  if (timeout_s != 0)
    context.set_deadline(std::chrono::system_clock::now() +  // tidy: gRPC's own clock.
                         std::chrono::seconds(timeout_s.value_or(kCallSeconds)));
  Reply reply;
  const absl::Status status =
      FromGrpc((proto::Jobs::NewStub(stub.channel()).get()->*method)(&context, request, &reply));
  if (status.ok()) return reply;
  if (timeout_s || !absl::IsDeadlineExceeded(status)) return stub.InOurWords(status);
  const std::string why = absl::StrCat("no answer for ", kCallSeconds, " s");
  return absl::UnavailableError(LostCoordinator(stub.coordinator(), why));
}

// Hands over each piece; one that is not taken ends the call.
template <typename Piece>
absl::Status ReadAll(grpc::ClientContext& context, grpc::ClientReader<Piece>& reader,
                     const std::function<absl::Status(const Piece&)>& take) {
  absl::Status taken;
  Piece piece;
  while (taken.ok() && reader.Read(&piece)) taken = take(piece);
  if (!taken.ok()) context.TryCancel();
  const absl::Status ended = FromGrpc(reader.Finish());
  return taken.ok() ? ended : taken;
}

}  // namespace

JobsStub::JobsStub(CoordinatorPlace place, std::shared_ptr<grpc::Channel> channel, Say say)
    : place_(std::move(place)), channel_(std::move(channel)), say_(std::move(say)) {}

// A certificate may end while a program runs: gRPC says of the next connection "Socket closed".
absl::Status JobsStub::Explained(const absl::Status& status) const {
  const absl::StatusOr<HostPort> host_port = ParseHostPort(place_.address);
  if (!absl::IsUnavailable(status) || place_.tls_dir.empty() || !host_port.ok()) return status;
  const std::string why = DiagnoseTls(*host_port, place_.tls_dir);
  return why.empty() ? status : absl::UnavailableError(why);
}

// gRPC says "keepalive watchdog timeout" or, of a coordinator that is stopped, "CANCELLED".
absl::Status JobsStub::LostOr(const absl::Status& status) const {
  const absl::Status why = Explained(status);
  if (!absl::IsUnavailable(why) && !absl::IsCancelled(why)) return why;
  return absl::UnavailableError(LostCoordinator(place_.address, std::string(why.message())));
}

// One that is there may say itself that something is unavailable.
absl::Status JobsStub::InOurWords(const absl::Status& status) const {
  const bool is_there = channel_->GetState(false) == GRPC_CHANNEL_READY;
  return is_there && absl::IsUnavailable(status) ? status : LostOr(status);
}

absl::StatusOr<JobsStub> JobsStub::Connect(const CoordinatorPlace& place, Say say,
                                           std::uint64_t patience_ms) {
  const std::string& coordinator = place.address;
  const auto credentials = RpcCredentials::Load(place.tls_dir, TlsUse::kCall);
  if (!credentials.ok()) return credentials.status();
  const TokenSource tokens(coordinator, LoginTo(place, *credentials));
  KeepGrpcQuiet();
  std::shared_ptr<grpc::Channel> channel = MakeChannel(coordinator, *credentials, tokens);
  Reconnection reconnection(coordinator, patience_ms);
  while (!Connected(*channel)) {
    const absl::Status nobody = NobodyAt(place);
    if (!reconnection.MayComeBack(nobody)) return nobody;
    const auto retry = reconnection.OnLost(nobody, NowNs());
    if (!retry) return nobody;
    if (!retry->say.empty()) {
      say(absl::StrCat("no coordinator answers at ", coordinator, "; trying again for ",
                       patience_ms / kMsPerSecond, " s"));
    }
    channel->WaitForStateChange(channel->GetState(true), After(retry->after_ms));
  }
  // Only now: a coordinator that is not there has no login socket.
  const absl::Status token = tokens.Token().status();
  if (!token.ok() && !credentials->has_certificate()) return token;
  return JobsStub(place, std::move(channel), std::move(say));
}

// Repeats a call that may be repeated, as long as the coordinator cannot be reached.
absl::Status JobsStub::UntilAnswered(const std::function<absl::Status(Reconnection&)>& call) {
  Reconnection reconnection(place_.address, reconnect_ms_);
  while (true) {
    const std::uint64_t asked_ns = NowNs();
    const absl::Status failed = call(reconnection);
    const bool stood = NowNs() - asked_ns > kStoodMs * kNsPerMs;
    const absl::Status status = Explained(failed);
    if (!reconnection.MayComeBack(status)) return status;
    if (stood) reconnection.OnBack();
    do {
      const auto retry = reconnection.OnLost(status, NowNs());
      if (!retry) return reconnection.GaveUp(status);
      if (!retry->say.empty()) say_(retry->say);
      channel_->WaitForStateChange(channel_->GetState(true), After(retry->after_ms));
    } while (channel_->GetState(true) != GRPC_CHANNEL_READY);
  }
}

template <typename Reply, typename Request, typename Method>
absl::StatusOr<Reply> JobsStub::CallUntilAnswered(Method method, const Request& request) {
  Reply reply;
  const absl::Status answered = UntilAnswered([&](Reconnection&) {
    grpc::ClientContext context;
    return FromGrpc((proto::Jobs::NewStub(channel_).get()->*method)(&context, request, &reply));
  });
  if (!answered.ok()) return answered;
  return reply;
}

// ---- Contents -----------------------------------------------------------------------------------

absl::Status JobsStub::UploadOne(const Content& content,
                                 const std::function<absl::Status(std::uint64_t)>& sent) {
  UniqueFd opened(open(content.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.valid())
    return absl::NotFoundError(absl::StrCat("file ", content.path, ": ", strerror(errno)));
  absl::StatusOr<files::OutgoingFile> file =
      files::OutgoingFile::Of(std::move(opened), content.sha256);
  if (!file.ok()) return file.status();
  if (file->head().bytes != content.bytes)
    return absl::DataLossError(absl::StrCat("file ", content.path, " changed before it was sent"));
  grpc::ClientContext context;
  proto::UploadBlobReply reply;
  const std::unique_ptr<proto::Jobs::Stub> stub = proto::Jobs::NewStub(channel_);
  const auto writer = stub->UploadBlob(&context, &reply);
  return files::EndSending(files::SendFile(*file, {}, *writer, sent), context, *writer, "");
}

// What has arrived is not missing when this is tried again.
absl::Status JobsStub::Upload(const std::vector<Content>& contents, const Progress& sent) {
  absl::Status unwanted;  // By the caller, and not to be tried again.
  const Progress progress = [&](std::uint64_t done, std::uint64_t all) {
    return unwanted = sent(done, all);
  };
  const absl::Status answered = UntilAnswered([&](Reconnection&) {
    const absl::Status uploaded = UploadMissing(contents, progress);
    return unwanted.ok() ? uploaded : absl::OkStatus();
  });
  return unwanted.ok() ? answered : unwanted;
}

absl::Status JobsStub::UploadMissing(const std::vector<Content>& contents, const Progress& sent) {
  proto::FindMissingBlobsRequest request;
  for (const Content& content : contents) request.add_sha256(content.sha256);
  const absl::StatusOr<proto::FindMissingBlobsReply> missing =
      Call(*this, &proto::Jobs::Stub::FindMissingBlobs, request);
  if (!missing.ok()) return missing.status();
  std::vector<const Content*> needed;
  std::uint64_t all = 0;
  for (const std::string& sha256 : missing->sha256()) {
    for (const Content& content : contents) {
      if (content.sha256 != sha256) continue;
      needed.push_back(&content);
      all += content.bytes;
      break;  // Two files may hold the same.
    }
  }
  std::uint64_t done = 0;
  for (const Content* content : needed) {
    const absl::Status uploaded = UploadOne(*content, [&](std::uint64_t bytes) {
      done += bytes;
      return sent(done, all);
    });
    if (!uploaded.ok()) {
      return absl::Status(uploaded.code(),
                          absl::StrCat("uploading ", content->path, ": ", uploaded.message()));
    }
  }
  return absl::OkStatus();
}

// ---- Jobs ---------------------------------------------------------------------------------------

absl::StatusOr<proto::SubmitJobReply> JobsStub::Submit(const proto::SubmitJobRequest& request) {
  return CallUntilAnswered<proto::SubmitJobReply>(&proto::Jobs::Stub::SubmitJob, request);
}

absl::StatusOr<JobList> JobsStub::ListJobs(proto::ListJobsRequest request, std::size_t last) {
  const std::size_t wanted = last == 0 ? std::numeric_limits<std::size_t>::max() : last;
  JobList list;
  std::vector<proto::Job>& jobs = list.jobs;
  do {
    request.set_page_size(static_cast<std::uint32_t>(std::min(wanted - jobs.size(), kJobsOfPage)));
    absl::StatusOr<proto::ListJobsReply> page = Call(*this, &proto::Jobs::Stub::ListJobs, request);
    if (!page.ok()) return page.status();
    for (proto::Job& job : *page->mutable_jobs()) jobs.push_back(std::move(job));
    list.damaged.insert(list.damaged.begin(), page->damaged().rbegin(), page->damaged().rend());
    request.set_before(page->next());
  } while (request.before() != 0 && jobs.size() < wanted);
  std::reverse(jobs.begin(), jobs.end());  // They came with the newest first.
  return list;
}

absl::StatusOr<std::string> JobsStub::Caller() {
  proto::ListJobsRequest request;
  request.set_page_size(1);
  const auto page = Call(*this, &proto::Jobs::Stub::ListJobs, request);
  if (!page.ok()) return page.status();
  return page->caller();
}

absl::StatusOr<proto::Job> JobsStub::Show(const proto::ShowJobRequest& request) {
  return Call(*this, &proto::Jobs::Stub::ShowJob, request);
}

absl::StatusOr<proto::Job> JobsStub::Wait(const proto::WaitJobRequest& request) {
  return CallUntilAnswered<proto::Job>(&proto::Jobs::Stub::WaitJob, request);
}

absl::StatusOr<proto::Job> JobsStub::Cancel(const proto::CancelJobRequest& request) {
  return Call(*this, &proto::Jobs::Stub::CancelJob, request);
}

absl::StatusOr<proto::Job> JobsStub::Alter(const proto::AlterJobRequest& request) {
  return Call(*this, &proto::Jobs::Stub::AlterJob, request);
}

absl::StatusOr<proto::Job> JobsStub::Checkpoint(const proto::CheckpointJobRequest& request,
                                                std::uint64_t timeout_s) {
  return Call(*this, &proto::Jobs::Stub::CheckpointJob, request, timeout_s);
}

absl::StatusOr<proto::Job> JobsStub::Suspend(const proto::SuspendJobRequest& request,
                                             std::uint64_t timeout_s) {
  return Call(*this, &proto::Jobs::Stub::SuspendJob, request, timeout_s);
}

absl::StatusOr<proto::Job> JobsStub::Resume(const proto::ResumeJobRequest& request) {
  return Call(*this, &proto::Jobs::Stub::ResumeJob, request);
}

absl::Status JobsStub::ReadLog(const proto::ReadLogRequest& request,
                               const std::function<absl::Status(const proto::LogLine&)>& line) {
  proto::ReadLogRequest next = request;
  SeenOutput seen;
  absl::Status unwanted;  // By the caller, and not to be tried again.
  const absl::Status answered = UntilAnswered([&](Reconnection& reconnection) -> absl::Status {
    const std::vector<proto::StreamEnd> ends = seen.Ends();
    next.mutable_seen()->Assign(ends.begin(), ends.end());
    grpc::ClientContext context;
    const std::unique_ptr<proto::Jobs::Stub> stub = proto::Jobs::NewStub(channel_);
    const auto reader = stub->ReadLog(&context, next);
    absl::Status read = ReadAll<proto::LogLine>(context, *reader, [&](const proto::LogLine& piece) {
      reconnection.OnBack();
      seen.Add(piece);
      return unwanted = line(piece);
    });
    return unwanted.ok() ? read : absl::OkStatus();
  });
  return unwanted.ok() ? answered : unwanted;
}

absl::StatusOr<std::string> JobsStub::Fetch(const proto::FetchFilesRequest& request,
                                            files::FileSink& sink) {
  grpc::ClientContext context;
  const std::unique_ptr<proto::Jobs::Stub> stub = proto::Jobs::NewStub(channel_);
  const auto reader = stub->FetchFiles(&context, request);
  NotingSink noting(sink);
  const absl::Status taken = files::TakeFiles(context, *reader, noting, "");
  if (taken.ok()) return noting.unread();
  return noting.refused() ? taken : LostOr(taken);
}

absl::Status JobsStub::ReadProfile(const proto::ReadProfileRequest& request,
                                   files::FileSink& sink) {
  grpc::ClientContext context;
  const std::unique_ptr<proto::Jobs::Stub> stub = proto::Jobs::NewStub(channel_);
  const auto reader = stub->ReadProfile(&context, request);
  NotingSink noting(sink);
  const absl::Status taken = files::TakeFiles(context, *reader, noting, "reading the profile");
  return noting.refused() ? taken : LostOr(taken);
}

// ---- Nodes --------------------------------------------------------------------------------------

absl::StatusOr<proto::ListNodesReply> JobsStub::ListNodes() {
  return Call(*this, &proto::Jobs::Stub::ListNodes, proto::ListNodesRequest());
}

absl::StatusOr<proto::Node> JobsStub::Drain(const proto::DrainNodeRequest& request) {
  return Call(*this, &proto::Jobs::Stub::DrainNode, request);
}

absl::StatusOr<proto::Node> JobsStub::Forget(const proto::ForgetNodeRequest& request) {
  return Call(*this, &proto::Jobs::Stub::ForgetNode, request);
}

absl::Status JobsStub::StoreParameters(const proto::MachineParameters& parameters) {
  return Call(*this, &proto::Jobs::Stub::StoreParameters, parameters).status();
}

absl::StatusOr<proto::MachineParameters> JobsStub::ShowParameters(
    const proto::ShowParametersRequest& request) {
  return Call(*this, &proto::Jobs::Stub::ShowParameters, request);
}

absl::StatusOr<proto::OpenPageReply> JobsStub::OpenPage() {
  return Call(*this, &proto::Jobs::Stub::OpenPage, proto::OpenPageRequest());
}

}  // namespace bspnow::client
