#include "worker/coordinator_stub.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "proto/workers.grpc.pb.h"

namespace bspnow {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBackoffLeast{50};
constexpr milliseconds kBackoffMost{500};
constexpr milliseconds kRegisterTimeout{5000};
constexpr int kMessageBytesMax = 64 << 20;
constexpr int kReadTries = 10;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

absl::Status FromGrpc(const grpc::Status& status, const std::string& what) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      absl::StrCat(what, ": ", status.error_message()));
}

absl::Status WriteAll(int file, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return absl::InternalError(absl::StrCat("writing: ", strerror(errno)));
    done += static_cast<std::size_t>(n);
  }
  return absl::OkStatus();
}

}  // namespace

/// Two threads: one registers, attaches and reads; while a stream lives a second one writes.
class CoordinatorStub::Rim {
 public:
  Rim(EventLoop& loop, const std::string& address, proto::RegisterRequest request,
      CoordinatorEvents events);
  ~Rim() { Stop(); }

  void Stop();
  void Report(proto::WorkerEvent event);
  void Drain(milliseconds timeout);
  absl::Status ReadBlob(const std::string& sha256, int file);
  absl::Status StoreFiles(JobId job, const std::string& directory,
                          const std::vector<LeftFile>& files);

 private:
  using Stream = grpc::ClientReaderWriter<proto::WorkerEvent, proto::Order>;

  /// A call that the end of this object cancels.
  class Call {
   public:
    explicit Call(Rim& rim) : rim_(rim) {
      const std::scoped_lock lock(rim_.mutex_);
      rim_.calls_.insert(&context);
      if (rim_.stopping_) context.TryCancel();
    }
    ~Call() {
      const std::scoped_lock lock(rim_.mutex_);
      rim_.calls_.erase(&context);
    }
    grpc::ClientContext context;

   private:
    Rim& rim_;
  };

  absl::Status TryReadBlob(const std::string& sha256, int file);
  void Run();
  enum class Attachment { kBroken, kNeverMade, kForgotten };

  bool Register();
  Attachment Attach();
  void WriteEvents(Stream& stream);
  void OnOrder(const proto::Order& order);
  void OnAcknowledge(std::uint64_t sequence);
  void Pause(milliseconds time);
  bool stopping() const {
    const std::scoped_lock lock(mutex_);
    return stopping_;
  }

  EventLoop& loop_;
  const std::string address_;
  const proto::RegisterRequest request_;
  const CoordinatorEvents events_;
  const std::unique_ptr<proto::Workers::Stub> stub_;
  std::string refusal_;  ///< Why the last try failed; it is logged once.

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_:
  std::deque<proto::WorkerEvent> unacknowledged_;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t sent_sequence_ = 0;  ///< On the present stream.
  std::uint64_t orders_taken_ = 0;
  std::uint32_t worker_ = 0;
  std::set<grpc::ClientContext*> calls_;
  bool registered_ = false;  ///< And the loop knows.
  bool stream_ended_ = false;
  bool stopping_ = false;

  std::jthread thread_;
};

CoordinatorStub::Rim::Rim(EventLoop& loop, const std::string& address,
                          proto::RegisterRequest request, CoordinatorEvents events)
    : loop_(loop),
      address_(address),
      request_(std::move(request)),
      events_(std::move(events)),
      stub_(proto::Workers::NewStub([&] {
        grpc::ChannelArguments arguments;
        arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
        arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, static_cast<int>(kBackoffMost.count()));
        arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                         static_cast<int>(kBackoffLeast.count()));
        return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
      }())),
      thread_([this] { Run(); }) {}

void CoordinatorStub::Rim::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    for (grpc::ClientContext* const call : calls_) call->TryCancel();
  }
  changed_.notify_all();
}

void CoordinatorStub::Rim::Pause(milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stopping_; });
}

// ---- Registration and the stream ----------------------------------------------------------------

void CoordinatorStub::Rim::Run() {
  milliseconds backoff = kBackoffLeast;
  bool registered = false;
  while (!stopping()) {
    if (!registered) registered = Register();
    const Attachment attachment = registered ? Attach() : Attachment::kNeverMade;
    if (attachment == Attachment::kForgotten) registered = false;
    backoff =
        attachment == Attachment::kNeverMade ? std::min(2 * backoff, kBackoffMost) : kBackoffLeast;
    Pause(backoff);
  }
}

bool CoordinatorStub::Rim::Register() {
  Call call(*this);
  call.context.set_deadline(gpr_time_from_millis(kRegisterTimeout.count(), GPR_TIMESPAN));
  proto::RegisterReply reply;
  const grpc::Status status = stub_->Register(&call.context, request_, &reply);
  if (!status.ok()) {
    if (status.error_message() != refusal_ && !stopping()) {
      spdlog::warn("event=not_registered coordinator={} reason=\"{}\"", address_,
                   status.error_message());
    }
    refusal_ = status.error_message();
    return false;
  }
  refusal_.clear();
  loop_.Post([this, reply] {
    {
      const std::scoped_lock lock(mutex_);
      unacknowledged_.clear();
      last_sequence_ = 0;
      orders_taken_ = 0;
      worker_ = reply.worker();
      registered_ = true;
    }
    changed_.notify_all();
    events_.registered(reply);
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return registered_ || stopping_; });
  registered_ = false;
  return true;
}

// Until the stream ends.
CoordinatorStub::Rim::Attachment CoordinatorStub::Rim::Attach() {
  Call call(*this);
  call.context.set_wait_for_ready(true);
  const std::unique_ptr<Stream> stream = stub_->AttachWorker(&call.context);
  proto::WorkerEvent first;
  {
    const std::scoped_lock lock(mutex_);
    stream_ended_ = false;
    sent_sequence_ =
        unacknowledged_.empty() ? last_sequence_ : unacknowledged_.front().sequence() - 1;
    first.set_worker(worker_);
    first.set_incarnation(request_.incarnation());
    first.set_orders_taken(orders_taken_);
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
  if (status.error_message() != refusal_ && !stopping()) {
    spdlog::warn("event=detached reason=\"{}\"", status.error_message());
  }
  refusal_ = status.error_message();
  return made ? Attachment::kBroken : Attachment::kNeverMade;
}

void CoordinatorStub::Rim::WriteEvents(Stream& stream) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock,
                  [this] { return stream_ended_ || stopping_ || sent_sequence_ < last_sequence_; });
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

// ---- Contents and files -------------------------------------------------------------------------

// A connection may break in the middle.
absl::Status CoordinatorStub::Rim::ReadBlob(const std::string& sha256, int file) {
  for (int tries = 1;; ++tries) {
    const absl::Status status = TryReadBlob(sha256, file);
    if (!absl::IsUnavailable(status) || tries == kReadTries || stopping()) return status;
    Pause(kBackoffMost);
    if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0) return status;
  }
}

absl::Status CoordinatorStub::Rim::TryReadBlob(const std::string& sha256, int file) {
  Call call(*this);
  proto::ReadBlobRequest request;
  request.set_sha256(sha256);
  const auto reader = stub_->ReadBlob(&call.context, request);
  proto::BlobChunk chunk;
  absl::Status written;
  while (written.ok() && reader->Read(&chunk)) written = WriteAll(file, chunk.data());
  if (!written.ok()) call.context.TryCancel();
  const grpc::Status status = reader->Finish();
  if (!written.ok()) return written;
  return FromGrpc(status, absl::StrCat("fetching content ", sha256));
}

absl::Status CoordinatorStub::Rim::StoreFiles(JobId job, const std::string& directory,
                                              const std::vector<LeftFile>& files) {
  Call call(*this);
  proto::StoreFilesReply reply;
  const auto writer = stub_->StoreFiles(&call.context, &reply);
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
        call.context.TryCancel();
        break;
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

// ---- The interface ------------------------------------------------------------------------------

CoordinatorStub::CoordinatorStub(EventLoop& loop, const std::string& address,
                                 proto::RegisterRequest request, CoordinatorEvents events)
    : rim_(std::make_unique<Rim>(loop, address, std::move(request), std::move(events))) {}

CoordinatorStub::~CoordinatorStub() = default;

void CoordinatorStub::Stop() { rim_->Stop(); }

void CoordinatorStub::Report(proto::WorkerEvent event) { rim_->Report(std::move(event)); }

void CoordinatorStub::Drain(std::uint64_t timeout_ms) { rim_->Drain(milliseconds(timeout_ms)); }

absl::Status CoordinatorStub::ReadBlob(const std::string& sha256, int file) {
  return rim_->ReadBlob(sha256, file);
}

absl::Status CoordinatorStub::StoreFiles(JobId job, const std::string& directory,
                                         const std::vector<LeftFile>& files) {
  return rim_->StoreFiles(job, directory, files);
}

}  // namespace bspnow
