#include "worker/coordinator_stub.h"

#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "proto/workers.grpc.pb.h"
#include "worker/coordinator_channel.h"
#include "worker/coordinator_session.h"
#include "worker/open_calls.h"

namespace bspnow {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBackoffLeast{50};
constexpr milliseconds kBackoffMost{250};  // Jobs wait for a coordinator that was restarted.
constexpr milliseconds kStrangerPause{1000};
constexpr milliseconds kRegisterTimeout{5000};

}  // namespace

/// Two threads: one registers, attaches and reads; while a stream lives a second one writes.
class CoordinatorStub::Impl {
 public:
  Impl(EventLoop& loop, const std::string& address, proto::RegisterRequest request,
       ClusterNote& note, CoordinatorEvents events);
  ~Impl() { Stop(); }

  void Stop();
  void Report(proto::WorkerEvent event);
  void Drain(milliseconds timeout);

 private:
  using Stream = grpc::ClientReaderWriter<proto::WorkerEvent, proto::Order>;

  void Run();
  enum class Attachment { kBroken, kNeverMade, kForgotten };

  bool Register();
  absl::Status CallRegister(const proto::RegisterRequest& request, proto::RegisterReply& reply);
  std::optional<proto::RegisterRequest> Describe();
  void OnRegistered(const proto::RegisterReply& reply);
  Attachment Attach();
  void WriteEvents(Stream& stream);
  void OnOrder(const proto::Order& order);
  void OnAcknowledge(std::uint64_t sequence);

  EventLoop& loop_;
  const std::string address_;
  const proto::RegisterRequest request_;
  ClusterNote& note_;
  const CoordinatorEvents events_;
  const std::unique_ptr<proto::Workers::Stub> stub_;
  OpenCalls calls_;
  std::string refusal_;       ///< Why the last try failed; it is logged once.
  bool is_stranger_ = false;  ///< Who answered last is another cluster's; he may stay for long.

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_:
  CoordinatorSession session_;
  bool registered_ = false;  ///< And the loop knows.
  bool stream_ended_ = false;

  std::jthread thread_;
};

CoordinatorStub::Impl::Impl(EventLoop& loop, const std::string& address,
                            proto::RegisterRequest request, ClusterNote& note,
                            CoordinatorEvents events)
    : loop_(loop),
      address_(address),
      request_(std::move(request)),
      note_(note),
      events_(std::move(events)),
      stub_(proto::Workers::NewStub(ChannelToCoordinator(address))),
      session_(request_.incarnation()),
      thread_([this] { Run(); }) {}

void CoordinatorStub::Impl::Stop() {
  {
    const std::scoped_lock lock(mutex_);  // Who waits for changed_ must not miss it.
    calls_.Stop();
  }
  changed_.notify_all();
}

// ---- Registration and the stream ----------------------------------------------------------------

void CoordinatorStub::Impl::Run() {
  milliseconds backoff = kBackoffLeast;
  bool registered = false;
  while (!calls_.stopping()) {
    if (!registered) registered = Register();
    const Attachment attachment = registered ? Attach() : Attachment::kNeverMade;
    if (attachment == Attachment::kForgotten) registered = false;
    backoff =
        attachment == Attachment::kNeverMade ? std::min(2 * backoff, kBackoffMost) : kBackoffLeast;
    calls_.Pause(is_stranger_ ? kStrangerPause : backoff);
  }
}

bool CoordinatorStub::Impl::Register() {
  const absl::StatusOr<std::string> noted = note_.Read();
  std::optional<proto::RegisterRequest> request = Describe();
  if (!request) return false;
  proto::RegisterReply reply;
  absl::Status status = noted.status();
  if (status.ok()) {
    request->set_cluster(*noted);
    status = CallRegister(*request, reply);
  }
  is_stranger_ = false;
  if (status.ok()) {
    status = note_.Join(*request, reply);
    is_stranger_ = absl::IsFailedPrecondition(status);
  }
  std::unique_lock lock(mutex_);
  if (!status.ok()) {
    if (status.message() != refusal_ && !calls_.stopping()) {
      spdlog::warn("event=not_registered coordinator={} reason=\"{}\"", address_,
                   std::string(status.message()));
    }
    refusal_ = std::string(status.message());
    return false;
  }
  refusal_.clear();
  registered_ = false;
  loop_.Post([this, reply] { OnRegistered(reply); });
  changed_.wait(lock, [this] { return registered_ || calls_.stopping(); });
  return registered_;
}

absl::Status CoordinatorStub::Impl::CallRegister(const proto::RegisterRequest& request,
                                                 proto::RegisterReply& reply) {
  grpc::ClientContext context;
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  context.set_deadline(gpr_time_from_millis(kRegisterTimeout.count(), GPR_TIMESPAN));
  const grpc::Status called = stub_->Register(&context, request, &reply);
  if (!called.ok())
    return absl::Status(static_cast<absl::StatusCode>(called.error_code()), called.error_message());
  const std::scoped_lock lock(mutex_);
  return session_.Check(reply);
}

// The loop knows what runs here.
std::optional<proto::RegisterRequest> CoordinatorStub::Impl::Describe() {
  std::unique_lock lock(mutex_);
  const auto described = std::make_shared<std::optional<proto::RegisterRequest>>();
  loop_.Post([this, described] {
    proto::RegisterRequest request = request_;
    events_.registering(request);
    const std::scoped_lock posted(mutex_);
    session_.Describe(request);
    *described = std::move(request);
    changed_.notify_all();
  });
  changed_.wait(lock, [&] { return described->has_value() || calls_.stopping(); });
  return *described;
}

// On the loop's thread.
void CoordinatorStub::Impl::OnRegistered(const proto::RegisterReply& reply) {
  {
    const std::scoped_lock lock(mutex_);
    session_.OnRegistered(reply);
    registered_ = true;
  }
  changed_.notify_all();
  events_.registered(reply);
}

// Until the stream ends.
CoordinatorStub::Impl::Attachment CoordinatorStub::Impl::Attach() {
  grpc::ClientContext context;
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  context.set_wait_for_ready(true);
  const std::unique_ptr<Stream> stream = stub_->AttachWorker(&context);
  proto::WorkerEvent first;
  {
    const std::scoped_lock lock(mutex_);
    stream_ended_ = false;
    first = session_.OnAttached();
  }
  bool made = false;
  if (stream->Write(first)) {
    std::jthread writer([&] { WriteEvents(*stream); });
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
  if (status.error_message() != refusal_ && !calls_.stopping()) {
    spdlog::warn("event=detached reason=\"{}\"", status.error_message());
  }
  refusal_ = status.error_message();
  return made ? Attachment::kBroken : Attachment::kNeverMade;
}

void CoordinatorStub::Impl::WriteEvents(Stream& stream) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock,
                  [this] { return stream_ended_ || calls_.stopping() || session_.has_unsent(); });
    if (stream_ended_ || !session_.has_unsent()) return;
    const proto::WorkerEvent event = session_.NextUnsent();
    lock.unlock();
    const bool written = stream.Write(event);
    lock.lock();
    if (!written) return;
  }
}

void CoordinatorStub::Impl::OnOrder(const proto::Order& order) {
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

void CoordinatorStub::Impl::OnAcknowledge(std::uint64_t sequence) {
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

void CoordinatorStub::Impl::Report(proto::WorkerEvent event) {
  {
    const std::scoped_lock lock(mutex_);
    session_.Report(std::move(event));
  }
  changed_.notify_all();
}

void CoordinatorStub::Impl::Drain(milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return session_.all_acknowledged(); });
}

// ---- The interface ------------------------------------------------------------------------------

CoordinatorStub::CoordinatorStub(EventLoop& loop, const std::string& address,
                                 proto::RegisterRequest request, ClusterNote& note,
                                 CoordinatorEvents events)
    : impl_(std::make_unique<Impl>(loop, address, std::move(request), note, std::move(events))) {}

CoordinatorStub::~CoordinatorStub() = default;

void CoordinatorStub::Stop() { impl_->Stop(); }

void CoordinatorStub::Report(proto::WorkerEvent event) { impl_->Report(std::move(event)); }

void CoordinatorStub::Drain(std::uint64_t timeout_ms) { impl_->Drain(milliseconds(timeout_ms)); }

}  // namespace bspnow
