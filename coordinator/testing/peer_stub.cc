#include "coordinator/testing/peer_stub.h"

#include <fcntl.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <utility>

#include "base/check.h"
#include "base/unique_fd.h"
#include "base/version.h"
#include "net/frame_check.h"
#include "net/login/token_channel.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"
#include "proto/grpc_status.h"
#include "proto/jobs.grpc.pb.h"
#include "proto/workers.grpc.pb.h"

namespace bspnow::coordinator {
namespace {

template <typename Reply>
absl::StatusOr<Reply> Result(const grpc::Status& status, Reply reply) {
  if (!status.ok()) return FromGrpc(status);
  return reply;
}

/// A channel of its own: two clients are two connections.
std::shared_ptr<grpc::Channel> Connect(const std::string& address, const LoginSettings& login) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return MakeTokenChannel(address, RpcCredentials::Plain(), arguments, TokenSource(address, login));
}

void SendFrame(int stream, FrameHeader header, std::span<const std::byte> payload) {
  SealFrame(header, payload);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(payload.data()), payload.size());
  BSP_CHECK_OP(send(stream, bytes.data(), bytes.size(), MSG_NOSIGNAL), ==,
               static_cast<ssize_t>(bytes.size()));
}

/// The bytes of all files.
template <typename Stream>
absl::StatusOr<std::string> AllOf(Stream& stream) {
  std::string content;
  proto::FileChunk chunk;
  while (stream.Read(&chunk)) content += chunk.data();
  const grpc::Status status = stream.Finish();
  return Result(status, std::move(content));
}

template <typename Stream>
absl::Status SendOne(Stream& stream, JobId job, const std::string& name,
                     const std::string& content) {
  proto::FileChunk chunk;
  chunk.set_job(Value(job));
  chunk.set_name(name);
  chunk.set_bytes(content.size());
  chunk.set_mode(0644);
  chunk.set_data(content);
  stream.Write(chunk);
  stream.WritesDone();
  return FromGrpc(stream.Finish());
}

}  // namespace

// ---- TestClient ---------------------------------------------------------------------------------

struct TestClient::Parts {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<proto::Jobs::Stub> jobs;
  grpc::ClientContext attached;
  std::unique_ptr<grpc::ClientReaderWriter<proto::ToJob, proto::FromJob>> stream;
};

TestClient::TestClient(const std::string& address)
    : TestClient(address, LoginSettingsOfEnvironment()) {}

TestClient::TestClient(const std::string& address, const LoginSettings& login)
    : parts_(std::make_unique<Parts>()) {
  parts_->channel = Connect(address, login);
  parts_->jobs = proto::Jobs::NewStub(parts_->channel);
}

TestClient::~TestClient() = default;

absl::Status TestClient::CheckHealth() {
  grpc::GenericStub stub(parts_->channel);
  grpc::ClientContext context;
  const grpc::Slice nothing;
  grpc::ByteBuffer request(&nothing, 1), reply;
  std::promise<grpc::Status> ended;
  stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &request, &reply,
                 [&](grpc::Status status) { ended.set_value(std::move(status)); });
  const grpc::Status status = ended.get_future().get();
  if (!status.ok()) return FromGrpc(status);
  grpc::Slice bytes;
  const bool serving = reply.DumpToSingleSlice(&bytes).ok() && bytes.size() == 2 &&
                       bytes.begin()[0] == 8 && bytes.begin()[1] == 1;
  return serving ? absl::OkStatus() : absl::UnavailableError("it does not say that it serves");
}

absl::Status TestClient::Upload(const std::string& sha256, const std::string& content) {
  grpc::ClientContext context;
  proto::UploadBlobReply reply;
  auto stream = parts_->jobs->UploadBlob(&context, &reply);
  proto::FileChunk chunk;
  chunk.set_name(sha256);
  chunk.set_bytes(content.size());
  chunk.set_data(content);
  stream->Write(chunk);
  stream->WritesDone();
  return FromGrpc(stream->Finish());
}

absl::StatusOr<proto::FindMissingBlobsReply> TestClient::FindMissing(const std::string& sha256) {
  grpc::ClientContext context;
  proto::FindMissingBlobsRequest request;
  proto::FindMissingBlobsReply reply;
  request.add_sha256(sha256);
  const grpc::Status status = parts_->jobs->FindMissingBlobs(&context, request, &reply);
  return Result(status, reply);
}

absl::StatusOr<JobId> TestClient::Submit(const proto::JobSpec& spec, const std::string& key) {
  grpc::ClientContext context;
  proto::SubmitJobRequest request;
  proto::SubmitJobReply reply;
  *request.mutable_spec() = spec;
  request.set_submission_key(key);
  const grpc::Status status = parts_->jobs->SubmitJob(&context, request, &reply);
  return Result(status, JobId{reply.job()});
}

absl::StatusOr<proto::Job> TestClient::Show(JobId job) {
  grpc::ClientContext context;
  proto::ShowJobRequest request;
  proto::Job reply;
  request.set_job(Value(job));
  const grpc::Status status = parts_->jobs->ShowJob(&context, request, &reply);
  return Result(status, std::move(reply));
}

absl::StatusOr<proto::Job> TestClient::Wait(JobId job) {
  grpc::ClientContext context;
  proto::WaitJobRequest request;
  proto::Job reply;
  request.set_job(Value(job));
  const grpc::Status status = parts_->jobs->WaitJob(&context, request, &reply);
  return Result(status, std::move(reply));
}

absl::StatusOr<proto::Job> TestClient::Cancel(JobId job) {
  grpc::ClientContext context;
  proto::CancelJobRequest request;
  proto::Job reply;
  request.set_job(Value(job));
  const grpc::Status status = parts_->jobs->CancelJob(&context, request, &reply);
  return Result(status, std::move(reply));
}

absl::StatusOr<std::string> TestClient::ReadLog(const proto::ReadLogRequest& request) {
  grpc::ClientContext context;
  auto stream = parts_->jobs->ReadLog(&context, request);
  std::string all;
  proto::LogLine line;
  while (stream->Read(&line))
    all += (line.of_launcher() ? "-" : std::to_string(line.pid())) + ":" + line.text();
  const grpc::Status status = stream->Finish();
  return Result(status, std::move(all));
}

absl::StatusOr<proto::ListNodesReply> TestClient::Nodes() {
  grpc::ClientContext context;
  proto::ListNodesReply reply;
  const grpc::Status status = parts_->jobs->ListNodes(&context, {}, &reply);
  return Result(status, std::move(reply));
}

absl::StatusOr<proto::Node> TestClient::Drain(const std::string& node) {
  grpc::ClientContext context;
  proto::DrainNodeRequest request;
  proto::Node reply;
  request.set_name(node);
  const grpc::Status status = parts_->jobs->DrainNode(&context, request, &reply);
  return Result(status, std::move(reply));
}

absl::StatusOr<std::string> TestClient::Fetch(JobId job, const std::string& name) {
  grpc::ClientContext context;
  proto::FetchFilesRequest request;
  request.set_job(Value(job));
  request.add_names(name);
  const auto stream = parts_->jobs->FetchFiles(&context, request);
  return AllOf(*stream);
}

absl::StatusOr<std::string> TestClient::ReadProfile(JobId job) {
  grpc::ClientContext context;
  proto::ReadProfileRequest request;
  request.set_job(Value(job));
  request.set_program(true);
  const auto stream = parts_->jobs->ReadProfile(&context, request);
  return AllOf(*stream);
}

void TestClient::Attach(JobId job, const std::string& key,
                        const std::vector<proto::StreamEnd>& seen) {
  parts_->stream = parts_->jobs->AttachJob(&parts_->attached);
  proto::ToJob first;
  first.set_job(Value(job));
  first.set_submission_key(key);
  first.mutable_seen()->Assign(seen.begin(), seen.end());
  Say(first);
}

void TestClient::Say(const proto::ToJob& message) { parts_->stream->Write(message); }

std::optional<proto::FromJob> TestClient::Hear() {
  proto::FromJob message;
  if (!parts_->stream->Read(&message)) return std::nullopt;
  return message;
}

absl::Status TestClient::EndAttached() { return FromGrpc(parts_->stream->Finish()); }

void TestClient::BreakAttached() { parts_->attached.TryCancel(); }

// ---- TestWorker ---------------------------------------------------------------------------------

struct TestWorker::Parts {
  std::unique_ptr<proto::Workers::Stub> workers;
  std::unique_ptr<grpc::ClientContext> context;
  std::unique_ptr<grpc::ClientReaderWriter<proto::WorkerEvent, proto::Order>> stream;
  UniqueFd frames;
};

TestWorker::TestWorker(const std::string& address, const std::string& name,
                       std::uint64_t incarnation)
    : parts_(std::make_unique<Parts>()) {
  parts_->workers = proto::Workers::NewStub(Connect(address, LoginSettingsOfEnvironment()));
  request_.mutable_node()->set_name(name);
  request_.mutable_node()->set_slots(4);
  request_.mutable_node()->set_version(kVersion);
  request_.set_protocol_oldest(kProtocolOldest);
  request_.set_protocol(kProtocol);
  request_.set_data_address("127.0.0.1:9");
  request_.set_incarnation(incarnation);
}

TestWorker::~TestWorker() {
  if (parts_->stream) Break();
}

absl::StatusOr<proto::RegisterReply> TestWorker::Register() {
  grpc::ClientContext context;
  proto::RegisterReply reply;
  const grpc::Status status = parts_->workers->Register(&context, request_, &reply);
  id_ = reply.worker();
  term_ = reply.term();
  request_.set_cluster(reply.cluster());
  if (id_ != 0) OpenFrames(reply);
  return Result(status, std::move(reply));
}

// Nothing more is sent there: the lease runs out after ten seconds.
void TestWorker::OpenFrames(const proto::RegisterReply& reply) {
  const SocketAddress peer = *Resolve(*ParseHostPort(reply.barrier_address()));
  parts_->frames = *BeginConnect(peer, SocketOptions{});
  const int frames = parts_->frames.get();
  pollfd connected{.fd = frames, .events = POLLOUT, .revents = 0};
  poll(&connected, 1, -1);
  fcntl(frames, F_SETFL, 0);
  FrameHeader header = HeaderOf(FrameKind::kHello);
  header.source_worker = id_;
  const HelloBody hello{.incarnation = request_.incarnation(),
                        .target = 0,
                        .term = static_cast<std::uint32_t>(term_)};
  const ConnectingProof proof(header, BytesOf(hello));
  SendFrame(frames, proof.header(), proof.payload());
  struct {
    FrameHeader header;
    ChallengeBody body;
  } challenge;
  if (recv(frames, &challenge, sizeof challenge, MSG_WAITALL) != ssize_t{sizeof challenge})
    return;  // It is refused.
  ProofBody answer;
  BSP_CHECK(proof.OnChallenge(*StreamKey::FromBytes(reply.barrier_key()), BytesOf(challenge.body),
                              answer) == FrameFault::kNone);
  SendFrame(frames, HeaderOf(FrameKind::kProof), BytesOf(answer));
}

void TestWorker::Attach() {
  parts_->context = std::make_unique<grpc::ClientContext>();
  parts_->stream = parts_->workers->AttachWorker(parts_->context.get());
  proto::WorkerEvent first;
  first.set_worker(id_);
  first.set_incarnation(request_.incarnation());
  first.set_term(term_);
  first.set_orders_taken(orders_taken_);
  parts_->stream->Write(first);
}

std::optional<proto::Order> TestWorker::TakeAny() {
  proto::Order order;
  if (!parts_->stream->Read(&order)) return std::nullopt;
  if (order.has_acknowledge()) acknowledged_ = order.acknowledge().sequence();
  if (order.sequence() > orders_taken_) orders_taken_ = order.sequence();
  if (order.has_start()) job_ = order.start().job();
  if (order.has_start()) epoch_ = order.start().epoch();
  return order;
}

std::optional<proto::Order> TestWorker::Take() {
  std::optional<proto::Order> order = TakeAny();
  while (order && (order->has_acknowledge() || order->has_peers_changed())) order = TakeAny();
  return order;
}

bool TestWorker::AwaitAcknowledged(std::uint64_t sequence) {
  while (acknowledged_ < sequence)
    if (!TakeAny()) return false;
  return true;
}

std::uint64_t TestWorker::Report(proto::WorkerEvent event) {
  event.set_sequence(++last_event_);
  event.set_orders_taken(orders_taken_);
  event.set_job(job_);
  event.set_epoch(epoch_);
  parts_->stream->Write(event);
  return last_event_;
}

void TestWorker::Break() {
  parts_->context->TryCancel();
  parts_->stream->Finish();
  parts_->stream = nullptr;
}

void TestWorker::BreakFrames() { parts_->frames.Reset(); }

absl::Status TestWorker::End() {
  const grpc::Status status = parts_->stream->Finish();
  parts_->stream = nullptr;
  return FromGrpc(status);
}

absl::StatusOr<std::string> TestWorker::ReadBlob(const std::string& sha256) {
  grpc::ClientContext context;
  proto::ReadBlobRequest request;
  request.set_sha256(sha256);
  const auto stream = parts_->workers->ReadBlob(&context, request);
  return AllOf(*stream);
}

absl::Status TestWorker::StoreFile(JobId job, const std::string& name, const std::string& content) {
  grpc::ClientContext context;
  proto::StoreFilesReply reply;
  const auto stream = parts_->workers->StoreFiles(&context, &reply);
  return SendOne(*stream, job, name, content);
}

absl::Status TestWorker::StoreProfile(JobId job, const std::string& name,
                                      const std::string& content) {
  grpc::ClientContext context;
  proto::StoreFilesReply reply;
  const auto stream = parts_->workers->StoreProfile(&context, &reply);
  return SendOne(*stream, job, name, content);
}

}  // namespace bspnow::coordinator
