#include "worker/coordinator_stub.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "proto/workers.grpc.pb.h"
#include "worker/coordinator_channel.h"
#include "worker/event_text.h"
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
class CoordinatorStub::Rim {
 public:
  Rim(EventLoop& loop, const std::string& address, proto::RegisterRequest request,
      ClusterNote& note, CoordinatorEvents events);
  ~Rim() { Stop(); }

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
  bool IsUnacknowledged(const proto::HeldJob& job, std::uint32_t pid) const;
  void HoldUnacknowledged(proto::RegisterRequest& request) const;
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
  std::deque<proto::WorkerEvent> unacknowledged_;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t sent_sequence_ = 0;  ///< On the present stream.
  std::uint64_t orders_taken_ = 0;
  std::uint32_t worker_ = 0;
  std::string cluster_;      ///< Of the coordinator.
  std::uint64_t term_ = 0;   ///< Of the coordinator; never goes back within a cluster.
  bool registered_ = false;  ///< And the loop knows.
  bool stream_ended_ = false;

  std::jthread thread_;
};

CoordinatorStub::Rim::Rim(EventLoop& loop, const std::string& address,
                          proto::RegisterRequest request, ClusterNote& note,
                          CoordinatorEvents events)
    : loop_(loop),
      address_(address),
      request_(std::move(request)),
      note_(note),
      events_(std::move(events)),
      stub_(proto::Workers::NewStub(ChannelToCoordinator(address))),
      thread_([this] { Run(); }) {}

void CoordinatorStub::Rim::Stop() {
  {
    const std::scoped_lock lock(mutex_);  // Who waits for changed_ must not miss it.
    calls_.Stop();
  }
  changed_.notify_all();
}

// ---- Registration and the stream ----------------------------------------------------------------

void CoordinatorStub::Rim::Run() {
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

bool CoordinatorStub::Rim::Register() {
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

absl::Status CoordinatorStub::Rim::CallRegister(const proto::RegisterRequest& request,
                                                proto::RegisterReply& reply) {
  grpc::ClientContext context;
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  context.set_deadline(gpr_time_from_millis(kRegisterTimeout.count(), GPR_TIMESPAN));
  const grpc::Status called = stub_->Register(&context, request, &reply);
  if (!called.ok())
    return absl::Status(static_cast<absl::StatusCode>(called.error_code()), called.error_message());
  const std::scoped_lock lock(mutex_);
  if (reply.worker() == 0 || reply.cluster() != cluster_ || reply.term() >= term_)
    return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("a coordinator of term ", reply.term(),
                                                    " answers, but there is one of term ", term_));
}

// The loop knows what runs here.
std::optional<proto::RegisterRequest> CoordinatorStub::Rim::Describe() {
  std::unique_lock lock(mutex_);
  const auto described = std::make_shared<std::optional<proto::RegisterRequest>>();
  loop_.Post([this, described, previous = worker_] {
    proto::RegisterRequest request = request_;
    request.set_previous_worker(previous);
    events_.registering(request);
    const std::scoped_lock posted(mutex_);
    HoldUnacknowledged(request);
    *described = std::move(request);
    changed_.notify_all();
  });
  changed_.wait(lock, [&] { return described->has_value() || calls_.stopping(); });
  return *described;
}

bool CoordinatorStub::Rim::IsUnacknowledged(const proto::HeldJob& job, std::uint32_t pid) const {
  return std::any_of(unacknowledged_.begin(), unacknowledged_.end(),
                     [&](const proto::WorkerEvent& event) {
                       return event.job() == job.job() && event.epoch() == job.epoch() &&
                              event.has_exited() && event.exited().pid() == pid;
                     });
}

// What the dead coordinator did not acknowledge comes again, in its order: exits must not overtake
// output; and jobs whose processes are gone already may have output left.
void CoordinatorStub::Rim::HoldUnacknowledged(proto::RegisterRequest& request) const {
  for (proto::HeldJob& job : *request.mutable_held()) {
    auto& exited = *job.mutable_exited();
    exited.erase(std::remove_if(exited.begin(), exited.end(),
                                [&](const proto::ProcessExited& exit) {
                                  return IsUnacknowledged(job, exit.pid());
                                }),
                 exited.end());
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> held;
  for (const proto::HeldJob& job : request.held()) held.emplace(job.job(), job.epoch());
  for (const proto::WorkerEvent& event : unacknowledged_) {
    if (event.epoch() == 0 || !held.emplace(event.job(), event.epoch()).second) continue;
    proto::HeldJob& job = *request.add_held();
    job.set_job(event.job());
    job.set_epoch(event.epoch());
    job.set_clearing(true);
  }
}

// On the loop's thread. What a coordinator that is gone did not acknowledge is the next one's to
// hear, of the jobs that go on.
void CoordinatorStub::Rim::OnRegistered(const proto::RegisterReply& reply) {
  const std::set<std::uint64_t> kept(reply.keep_jobs().begin(), reply.keep_jobs().end());
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(unacknowledged_,
                  [&](const proto::WorkerEvent& event) { return !kept.contains(event.job()); });
    last_sequence_ = 0;
    for (proto::WorkerEvent& event : unacknowledged_) event.set_sequence(++last_sequence_);
    orders_taken_ = 0;
    worker_ = reply.worker();
    cluster_ = reply.cluster();
    term_ = reply.term();
    registered_ = true;
  }
  changed_.notify_all();
  events_.registered(reply);
}

// Until the stream ends.
CoordinatorStub::Rim::Attachment CoordinatorStub::Rim::Attach() {
  grpc::ClientContext context;
  const OpenCall under_way(calls_, [&context] { context.TryCancel(); });
  context.set_wait_for_ready(true);
  const std::unique_ptr<Stream> stream = stub_->AttachWorker(&context);
  proto::WorkerEvent first;
  {
    const std::scoped_lock lock(mutex_);
    stream_ended_ = false;
    sent_sequence_ =
        unacknowledged_.empty() ? last_sequence_ : unacknowledged_.front().sequence() - 1;
    first.set_worker(worker_);
    first.set_incarnation(request_.incarnation());
    first.set_orders_taken(orders_taken_);
    first.set_term(term_);
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

void CoordinatorStub::Rim::WriteEvents(Stream& stream) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] {
      return stream_ended_ || calls_.stopping() || sent_sequence_ < last_sequence_;
    });
    if (stream_ended_ || sent_sequence_ >= last_sequence_) return;
    const std::uint64_t first = unacknowledged_.front().sequence();
    proto::WorkerEvent event = unacknowledged_[sent_sequence_ + 1 - first];
    sent_sequence_ += 1;
    event.set_orders_taken(orders_taken_);
    lock.unlock();
    const bool written = stream.Write(event);
    lock.lock();
    if (!written) return;
  }
}

void CoordinatorStub::Rim::OnOrder(const proto::Order& order) {
  if (order.has_acknowledge()) {
    OnAcknowledge(order.acknowledge().sequence());
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    if (order.sequence() <= orders_taken_) return;  // It came again.
    orders_taken_ = order.sequence();
  }
  loop_.Post([this, order] { events_.order(order); });
}

void CoordinatorStub::Rim::OnAcknowledge(std::uint64_t sequence) {
  std::map<std::pair<JobId, Epoch>, std::vector<std::size_t>> kept;
  {
    const std::scoped_lock lock(mutex_);
    while (!unacknowledged_.empty() && unacknowledged_.front().sequence() <= sequence) {
      const proto::WorkerEvent& event = unacknowledged_.front();
      if (event.has_output()) {
        kept[{JobId{event.job()}, Epoch{event.epoch()}}].push_back(event.output().text().size());
      }
      unacknowledged_.pop_front();
    }
    sent_sequence_ = std::max(sent_sequence_, sequence);
  }
  changed_.notify_all();
  for (const auto& [job, pieces] : kept) {
    loop_.Post(
        [this, job = job, pieces = pieces] { events_.output_kept(job.first, job.second, pieces); });
  }
}

// ---- Events -------------------------------------------------------------------------------------

void CoordinatorStub::Rim::Report(proto::WorkerEvent event) {
  MakeTextValid(event);
  {
    const std::scoped_lock lock(mutex_);
    event.set_sequence(++last_sequence_);
    unacknowledged_.push_back(std::move(event));
  }
  changed_.notify_all();
}

void CoordinatorStub::Rim::Drain(milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return unacknowledged_.empty(); });
}

// ---- The interface ------------------------------------------------------------------------------

CoordinatorStub::CoordinatorStub(EventLoop& loop, const std::string& address,
                                 proto::RegisterRequest request, ClusterNote& note,
                                 CoordinatorEvents events)
    : rim_(std::make_unique<Rim>(loop, address, std::move(request), note, std::move(events))) {}

CoordinatorStub::~CoordinatorStub() = default;

void CoordinatorStub::Stop() { rim_->Stop(); }

void CoordinatorStub::Report(proto::WorkerEvent event) { rim_->Report(std::move(event)); }

void CoordinatorStub::Drain(std::uint64_t timeout_ms) { rim_->Drain(milliseconds(timeout_ms)); }

}  // namespace bspnow
