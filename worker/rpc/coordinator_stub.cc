#include "worker/rpc/coordinator_stub.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/start_thread.h"
#include "base/units.h"
#include "net/socket.h"
#include "net/tls/tls_diagnosis.h"
#include "proto/grpc_status.h"
#include "proto/workers.grpc.pb.h"

namespace bspnow::worker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBackoffLeast{50};
constexpr milliseconds kBackoffMost{250};  // Jobs wait for a coordinator that was restarted.
constexpr milliseconds kLongPause{1000};   // Until somebody mends what is wrong.
constexpr milliseconds kRegisterTimeout{5000};
constexpr int kConnectTries = 20;  // Of kBackoffMost each: five seconds, as for a registration.

std::string ShownTo(const CoordinatorAddress& coordinator) {
  std::vector<std::string> files;
  if (coordinator.credentials.has_certificate())
    files.push_back(coordinator.credentials.directory() + "/tls.crt");
  if (!coordinator.login.token_file.empty()) files.push_back(coordinator.login.token_file);
  return absl::StrJoin(files, " and ");
}

}  // namespace

CoordinatorStub::CoordinatorStub(EventLoop& loop, const CoordinatorAddress& coordinator,
                                 proto::RegisterRequest request, ClusterNote& note,
                                 CoordinatorEvents events)
    : loop_(loop),
      address_(coordinator.address),
      tokens_(coordinator.address, coordinator.login),
      has_certificate_(coordinator.credentials.has_certificate()),
      shown_(ShownTo(coordinator)),
      request_(std::move(request)),
      note_(note),
      events_(std::move(events)),
      channel_(ChannelToCoordinator(coordinator)),
      tls_dir_(coordinator.credentials.directory()),
      session_(request_.incarnation()),
      thread_([this] { Run(); }) {}

CoordinatorStub::~CoordinatorStub() { Stop(); }

void CoordinatorStub::Stop() {
  {
    const std::scoped_lock lock(mutex_);  // Who waits for changed_ must not miss it.
    open_.Stop();
  }
  changed_.notify_all();
}

// ---- Registration and the stream ----------------------------------------------------------------

void CoordinatorStub::Run() {
  milliseconds backoff = kBackoffLeast;
  bool registered = false;
  while (!open_.stopping()) {
    if (!registered) registered = Register();
    const Attachment attachment = registered ? Attach() : Attachment::kNeverMade;
    if (attachment == Attachment::kForgotten) registered = false;
    backoff =
        attachment == Attachment::kNeverMade ? std::min(2 * backoff, kBackoffMost) : kBackoffLeast;
    open_.Pause(is_stranger_ || !unfit_.empty() ? kLongPause : backoff);
  }
}

// Not before there is a connection: it may come after the machine has got another address.
void CoordinatorStub::Locate(const std::string& peer) {
  const std::string before = request_.data_address();
  const std::string why(events_.attaching(peer, request_).message());
  if (!why.empty() && why != not_located_)
    spdlog::warn("event=not_located address={} reason=\"{}\"", before, why);
  not_located_ = why;
  if (request_.data_address() != before)
    spdlog::info("event=moved from={} to={}", before, request_.data_address());
}

bool CoordinatorStub::Register() {
  const absl::StatusOr<KnownCoordinator> noted = note_.Read();
  absl::StatusOr<proto::RegisterRequest> request = Describe();
  if (!request.ok()) return NotRegistered(request.status());
  proto::RegisterReply reply;
  if (!unfit_.empty()) unfit_ = std::string(note_.CheckRoom().message());
  request->set_unfit(unfit_);
  absl::Status status = noted.status();
  if (status.ok()) {
    request->set_cluster(noted->cluster);
    request->set_term(noted->term);
    request->set_term_key(noted->term_key);
    status = CallRegister(*request, reply);
  }
  is_stranger_ = false;
  std::unique_lock<std::shared_mutex> joining;
  if (status.ok() && reply.cluster() != noted->cluster) {  // What has come meanwhile is kept, too.
    joining = note_.BeginJoin();
    request = Describe();
    if (!request.ok()) return NotRegistered(request.status());
  }
  if (status.ok()) {
    status = note_.Join(*request, reply);
    is_stranger_ = absl::IsFailedPrecondition(status) && reply.cluster() != noted->cluster;
    if (absl::IsUnavailable(status)) unfit_ = std::string(status.message());
  }
  if (joining.owns_lock()) joining.unlock();
  if (!status.ok()) return NotRegistered(status);
  ForgetRefusal();
  is_known_ = true;
  std::unique_lock lock(mutex_);
  registered_ = false;
  loop_.Post([this, reply] { OnRegistered(reply); });
  changed_.wait(lock, [this] { return registered_ || open_.stopping(); });
  return registered_;
}

bool CoordinatorStub::NotRegistered(const absl::Status& why) {
  Say("not_registered", why);
  return false;
}

void CoordinatorStub::Say(const char* event, const absl::Status& why) {
  // Of one message, no connection, there are several reasons, and to find them may take seconds.
  constexpr std::uint64_t kBetweenLooksNs = 10 * kNsPerS;
  const std::uint64_t now_ns = NowNs();
  if (open_.stopping() || (why.message() == failure_ && now_ns < look_again_ns_)) return;
  failure_ = std::string(why.message());
  look_again_ns_ = now_ns + kBetweenLooksNs;
  const std::string reason = ReasonOf(why);
  if (reason != refusal_)
    spdlog::warn("event={} coordinator={} reason=\"{}\"", event, address_, reason);
  refusal_ = reason;
}

absl::Status CoordinatorStub::CallRegister(const proto::RegisterRequest& request,
                                           proto::RegisterReply& reply) {
  // The coordinator would not know why there is none.
  const absl::Status token = tokens_.Token().status();
  if (!token.ok() && !has_certificate_) return token;
  grpc::ClientContext context;
  const OpenCall under_way(open_, [&context] { context.TryCancel(); });
  context.set_deadline(gpr_time_from_millis(kRegisterTimeout.count(), GPR_TIMESPAN));
  return FromGrpc(proto::Workers::NewStub(channel_)->Register(&context, request, &reply));
}

// To look takes a moment, so not when a coordinator that plain text has reached is away.
std::string CoordinatorStub::ReasonOf(const absl::Status& failure) const {
  const std::string told(failure.message());
  if (absl::IsUnauthenticated(failure)) {
    const absl::Status token = has_certificate_ ? absl::OkStatus() : tokens_.Token().status();
    if (!token.ok()) return std::string(token.message());
    return shown_.empty() ? told : absl::StrCat(told, "; this worker shows ", shown_);
  }
  if (!absl::IsUnavailable(failure) || (is_known_ && tls_dir_.empty())) return told;
  const absl::StatusOr<HostPort> coordinator = ParseHostPort(address_);
  if (!coordinator.ok()) return told;
  const std::string found = DiagnoseTls(*coordinator, tls_dir_);
  return found.empty() ? told : found;
}

// The loop knows what runs here.
absl::StatusOr<proto::RegisterRequest> CoordinatorStub::Describe() {
  using Described = std::optional<absl::StatusOr<proto::RegisterRequest>>;
  std::unique_lock lock(mutex_);
  const auto described = std::make_shared<Described>();
  loop_.Post([this, described] {
    proto::RegisterRequest request = request_;
    const absl::Status known = events_.registering(request);
    const std::scoped_lock posted(mutex_);
    session_.Describe(request);
    *described = known.ok() ? absl::StatusOr<proto::RegisterRequest>(std::move(request)) : known;
    changed_.notify_all();
  });
  changed_.wait(lock, [&] { return described->has_value() || open_.stopping(); });
  return described->value_or(absl::CancelledError("the worker ends"));
}

// On the loop's thread.
void CoordinatorStub::OnRegistered(const proto::RegisterReply& reply) {
  {
    const std::scoped_lock lock(mutex_);
    session_.OnRegistered(reply);
    registered_ = true;
  }
  changed_.notify_all();
  events_.registered(reply);
}

// A call would wait for one by itself, but for ever, and without saying why there is none.
absl::Status CoordinatorStub::AwaitConnection() {
  const gpr_timespec turn = gpr_time_from_millis(kBackoffMost.count(), GPR_TIMESPAN);
  for (int tries = 0; tries < kConnectTries && !open_.stopping(); ++tries)
    if (channel_->WaitForConnected(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), turn)))
      return absl::OkStatus();
  return absl::UnavailableError("there is no connection to it");
}

// Until the stream ends.
CoordinatorStub::Attachment CoordinatorStub::Attach() {
  if (const absl::Status connected = AwaitConnection(); !connected.ok()) {
    Say("detached", connected);
    return Attachment::kNeverMade;
  }
  grpc::ClientContext context;
  const OpenCall under_way(open_, [&context] { context.TryCancel(); });
  context.set_wait_for_ready(true);
  const auto stub = proto::Workers::NewStub(channel_);
  const auto stream = stub->AttachWorker(&context);  // Returns when there is a connection.
  Locate(context.peer());
  proto::WorkerEvent first;
  {
    const std::scoped_lock lock(mutex_);
    stream_ended_ = false;
    first = session_.OnAttached(request_);
  }
  bool made = false;
  bool has_thread = true;
  if (stream->Write(first)) {
    const auto writer = StartThread([&] {
      for (auto event = AwaitUnsent(); event; event = AwaitUnsent()) {
        if (!stream->Write(*event)) return;
      }
    });
    has_thread = writer.has_value();
    if (!has_thread) context.TryCancel();
    proto::Order order;
    while (stream->Read(&order)) {
      made = true;
      OnOrder(order);
    }
    {
      const std::scoped_lock lock(mutex_);
      stream_ended_ = true;
    }
    changed_.notify_all();
  }
  const grpc::Status status = stream->Finish();
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return Attachment::kForgotten;
  if (made) ForgetRefusal();  // It is another one, if for the same reason.
  Say("detached", has_thread
                      ? FromGrpc(status)
                      : absl::UnavailableError("there is no thread to be had for its events"));
  return made ? Attachment::kBroken : Attachment::kNeverMade;
}

std::optional<proto::WorkerEvent> CoordinatorStub::AwaitUnsent() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [this] { return stream_ended_ || open_.stopping() || session_.has_unsent(); });
  if (stream_ended_ || !session_.has_unsent()) return std::nullopt;
  return session_.NextUnsent();
}

void CoordinatorStub::OnOrder(const proto::Order& order) {
  if (order.has_acknowledge()) {
    OnAcknowledge(order.acknowledge().sequence());
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    if (!session_.Take(order)) return;
  }
  loop_.Post([this, order] { events_.order(order); });
}

void CoordinatorStub::OnAcknowledge(std::uint64_t sequence) {
  CoordinatorSession::Credits credits;
  {
    const std::scoped_lock lock(mutex_);
    credits = session_.OnAcknowledge(sequence);
  }
  changed_.notify_all();
  if (credits.empty()) return;
  loop_.Post([this, credits] {
    for (const auto& [job, bytes] : credits) events_.output_kept(job.first, job.second, bytes);
  });
}

// ---- Events -------------------------------------------------------------------------------------

void CoordinatorStub::Report(proto::WorkerEvent event) {
  {
    const std::scoped_lock lock(mutex_);
    session_.Report(std::move(event));
  }
  changed_.notify_all();
}

void CoordinatorStub::Drain(std::uint64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, milliseconds(timeout_ms), [this] { return session_.all_acknowledged(); });
}

}  // namespace bspnow::worker
