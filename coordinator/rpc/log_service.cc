#include "coordinator/rpc/log_service.h"

#include <grpcpp/alarm.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "coordinator/output/log_line.h"
#include "coordinator/rpc/call_end.h"
#include "coordinator/rpc/request_limits.h"
#include "coordinator/rpc/self_owned.h"
#include "proto/grpc_status.h"

namespace bspnow::coordinator {
namespace {

StreamEnds EndsOf(const google::protobuf::RepeatedPtrField<proto::StreamEnd>& seen) {
  StreamEnds ends;
  for (const proto::StreamEnd& end : seen) {
    const LogOrigin of_process =
        end.stream() == proto::STDOUT ? LogOrigin::kStdout : LogOrigin::kStderr;
    ends[{end.pid(), end.of_launcher() ? LogOrigin::kLauncher : of_process}] = end.bytes();
  }
  return ends;
}

constexpr std::chrono::system_clock::time_point kLongAgo;

/// Soon, on a thread of gRPC: files are neither the loop's affair nor that of those who write logs.
void InGrpc(std::function<void()> task) {
  auto alarm = std::make_shared<grpc::Alarm>();
  alarm->Set(kLongAgo, [alarm, task = std::move(task)](bool) mutable {
    const auto last = std::move(alarm);  // Which holds this function.
    task();
  });
}

// ---- ReadLog ------------------------------------------------------------------------------------

class LogSending final : public SelfOwned<grpc::ServerWriteReactor<proto::LogLine>, LogSending> {
 public:
  LogSending(const Caller& caller, const proto::ReadLogRequest& request)
      : caller_(caller), request_(request), seen_(EndsOf(request.seen())) {}

  void Begin(EventLoop& loop, Daemon& daemon) {
    loop.Post([this, &daemon] {
      daemon.cluster().Recall(JobId{request_.job()}, [this, &daemon] { Open(daemon); });
    });
  }

  void OnSendInitialMetadataDone(bool ok) override {  // tidy: gRPC's own signature
    ok ? SendNext() : End(grpc::Status::CANCELLED);
  }
  void OnWriteDone(bool ok) override {  // tidy: gRPC's own signature
    ok ? SendNext() : End(grpc::Status::CANCELLED);
  }

  void OnCancel() override {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      if (!awaits_more_) return;  // A write ends the call, or AwaitMore.
    }
    End(grpc::Status::CANCELLED);
  }

 private:
  void Open(Daemon& daemon) {
    const JobId job{request_.job()};
    absl::Status may = CheckOwner(caller_, daemon.cluster().OwnerOf(job), Value(job));
    if (may.ok()) may = daemon.cluster().MayReadLog(request_);
    if (!may.ok()) return End(ToGrpc(may));
    reader_.emplace(daemon.ReadLog(job));
    reader_->PassOver(std::move(seen_));
    StartSendInitialMetadata();  // Goes on in a thread of gRPC: files are not the loop's affair.
  }

  bool Wanted(const LogRecord& record) const {
    return !request_.one_pid() ||
           (record.pid == request_.pid() && record.origin != LogOrigin::kLauncher);
  }

  /// The next line that is wanted; nothing if there is none now.
  std::optional<LogRecord> NextLine() {
    while (!Cancelled()) {
      auto next = reader_->Read();
      if (!next.ok()) {
        End(ToGrpc(next.status()));
        return std::nullopt;
      }
      if (std::holds_alternative<LogRecord>(*next)) {
        if (Wanted(std::get<LogRecord>(*next))) return std::get<LogRecord>(*std::move(next));
      } else if (std::holds_alternative<LogReader::Again>(*next)) {
        InGrpc([self = shared_from_this()] { self->SendNext(); });  // After others' calls.
        return std::nullopt;
      } else if (std::holds_alternative<LogReader::End>(*next) || !request_.follow()) {
        End(grpc::Status::OK);
        return std::nullopt;
      } else {
        AwaitMore();
        return std::nullopt;
      }
    }
    End(grpc::Status::CANCELLED);
    return std::nullopt;
  }

  bool Cancelled() {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }

  void SendNext() {
    std::optional<LogRecord> record = NextLine();
    if (!record) return;
    line_ = LineMessage(*std::move(record));
    StartWrite(&line_);
  }

  void AwaitMore() {
    bool cancelled = false;
    {
      const std::lock_guard lock(mutex_);
      awaits_more_ = true;
      cancelled = cancelled_;
    }
    if (cancelled) return End(grpc::Status::CANCELLED);
    reader_->WhenMore([call = weak_from_this()] {
      if (const auto self = call.lock()) InGrpc([self] { self->OnMore(); });
    });
  }

  void OnMore() {
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      awaits_more_ = false;
    }
    SendNext();
  }

  void End(const grpc::Status& status) {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(ended_, true)) return;
    }
    Finish(status);
  }

  const Caller caller_;
  const proto::ReadLogRequest request_;
  StreamEnds seen_;                  ///< Until reader_ has it.
  std::optional<LogReader> reader_;  ///< Of the one thread that sends the next line.
  proto::LogLine line_;
  std::mutex mutex_;  ///< Guards the following.
  bool awaits_more_ = false;
  bool cancelled_ = false;
  bool ended_ = false;
};

// ---- AttachJob ----------------------------------------------------------------------------------

class ClientStream final
    : public SelfOwned<grpc::ServerBidiReactor<proto::ToJob, proto::FromJob>, ClientStream>,
      public AttachedClient {
 public:
  ClientStream(EventLoop& loop, Daemon& daemon, const Caller& caller, std::string from)
      : loop_(loop), daemon_(daemon), caller_(caller), from_(std::move(from)) {}

  void Begin() { StartRead(&incoming_); }

  void OnReadDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok && job_ == JobId{0}) return End(absl::InvalidArgumentError("no job was named"));
    if (!ok) return;  // The client has no more to say; it still listens, or else OnCancel comes.
    if (job_ == JobId{0}) {
      if (const absl::Status few = CheckLimits(incoming_); !few.ok()) return End(few);
      seen_ = EndsOf(incoming_.seen());
    }
    if (!call_end_.Pin()) return;
    loop_.Post([self = shared_from_this()] { self->OnMessage(); });
  }

  void OnSendInitialMetadataDone(bool ok) override {  // tidy: gRPC's own signature
    ok ? SendNext(May::kRead) : End(absl::CancelledError("the client left"));
  }

  void OnWriteDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok) End(absl::CancelledError("the client left"));
    if (ok && outgoing_.has_end()) End(absl::OkStatus());
    {
      const std::lock_guard lock(mutex_);
      sending_ = false;
    }
    if (call_end_.Unpin()) return Finish(ToGrpc(call_end_.status()));
    SendNext(May::kRead);
  }

  void OnCancel() override {
    loop_.Post([self = shared_from_this()] {
      self->daemon_.cluster().OnClientLost(self->job_, self.get());
    });
    End(absl::CancelledError("the client left"));
  }

  ClientIdentity identity() const override { return {.user = caller_.user, .address = from_}; }

  void InputTaken(std::uint64_t bytes) override {
    {
      const std::lock_guard lock(mutex_);
      input_taken_ = bytes;
    }
    SendNext(May::kNotRead);
  }

  void Replaced() override { End(absl::AbortedError("the client has come again")); }

 private:
  /// On the loop.
  void OnMessage() {
    absl::Status handled = job_ == JobId{0} ? Attach() : CheckLimits(incoming_);
    if (handled.ok() && incoming_.what_case() == proto::ToJob::kSignal)
      daemon_.cluster().OnSignal(job_, incoming_.signal());
    if (handled.ok() && incoming_.what_case() == proto::ToJob::kInput)
      handled = daemon_.cluster().OnInput(job_, {.offset = incoming_.input_offset(),
                                                 .data = std::move(*incoming_.mutable_input())});
    if (handled.ok() && incoming_.input_end())
      handled = daemon_.cluster().OnInput(job_, {.end = true});
    if (handled.ok() && incoming_.leave()) handled = absl::CancelledError("the client left");
    if (handled.ok()) {
      StartRead(&incoming_);
    } else {
      daemon_.cluster().OnClientLeft(job_, this);
      End(handled);
    }
    if (call_end_.Unpin()) Finish(ToGrpc(call_end_.status()));
  }

  absl::Status Attach() {
    if (incoming_.job() == 0) return absl::InvalidArgumentError("the first message names the job");
    const JobId job{incoming_.job()};
    const absl::Status may = CheckOwner(caller_, daemon_.cluster().OwnerOf(job), Value(job));
    if (!may.ok()) return may;
    const absl::Status attached =
        daemon_.cluster().Attach(job, incoming_.submission_key(), shared_from_this());
    if (!attached.ok()) return attached;
    job_ = job;
    reader_.emplace(daemon_.ReadLog(job));
    reader_->PassOver(std::move(seen_));
    StartSendInitialMetadata();  // Goes on in a thread of gRPC: files are not the loop's affair.
    return absl::OkStatus();
  }

  /// The loop must not read the log.
  enum class May { kRead, kNotRead };

  /// Writes what is due, if nothing is being written: the end after all lines.
  void SendNext(May may) {
    if (!BeginSending(may)) return;
    if (Compose()) return StartWrite(&outgoing_);
    bool more = false;  // Has come meanwhile; or it is the next step through a log that was seen.
    {
      const std::lock_guard lock(mutex_);
      sending_ = false;
      more = !awaits_ || input_taken_ || end_;
    }
    if (call_end_.Unpin()) return Finish(ToGrpc(call_end_.status()));
    if (more) InGrpc([self = shared_from_this()] { self->SendNext(May::kRead); });
  }

  /// True if outgoing_ and the reader are the caller's from now on, and the call is pinned.
  bool BeginSending(May may) {
    const std::lock_guard lock(mutex_);
    const bool known = input_taken_ || end_;
    if (sending_ || (!known && (awaits_ || may == May::kNotRead)) || !call_end_.Pin()) return false;
    return sending_ = true;
  }

  /// Fills outgoing_; false if there is nothing to send now.
  bool Compose() {
    outgoing_.Clear();
    {
      const std::lock_guard lock(mutex_);
      if (input_taken_) {
        outgoing_.set_input_taken(*std::exchange(input_taken_, std::nullopt));
        return true;
      }
      if (end_) {
        *outgoing_.mutable_end() = *std::exchange(end_, std::nullopt);
        return true;
      }
    }
    auto next = reader_->Read();
    if (next.ok() && std::holds_alternative<LogRecord>(*next)) {
      *outgoing_.mutable_line() = LineMessage(std::get<LogRecord>(*std::move(next)));
      return true;
    }
    if (next.ok() && std::holds_alternative<LogReader::Again>(*next)) return false;
    {
      const std::lock_guard lock(mutex_);
      awaits_ = true;
    }
    if (next.ok() && std::holds_alternative<LogReader::NotYet>(*next)) {
      AwaitMore();
    } else {  // All lines are out, or the rest of them cannot be read.
      unread_ = next.status();
      loop_.Post([self = shared_from_this()] { self->AskForEnd(); });
    }
    return false;
  }

  void AwaitMore() {
    reader_->WhenMore([call = weak_from_this()] {
      const auto self = call.lock();
      if (!self) return;
      {
        const std::lock_guard lock(self->mutex_);
        self->awaits_ = false;
      }
      InGrpc([self] { self->SendNext(May::kRead); });
    });
  }

  /// On the loop. Not of a call that has ended: nobody would take the wait back.
  void AskForEnd() {
    if (!call_end_.Pin()) return;
    wait_ = daemon_.cluster().Wait(job_, [call = weak_from_this()](absl::StatusOr<proto::Job> job) {
      const auto self = call.lock();
      if (!self) return;
      if (!job.ok()) return self->End(job.status());
      if (!self->unread_.ok()) return self->End(self->NotAllRead());
      {
        const std::lock_guard lock(self->mutex_);
        self->end_ = *std::move(job);
      }
      self->SendNext(May::kNotRead);
    });
    if (call_end_.Unpin()) Finish(ToGrpc(call_end_.status()));
  }

  /// Once the job has ended: to leave before would cancel it.
  absl::Status NotAllRead() const {
    return absl::DataLossError(absl::StrCat("job ", Value(job_), " has ended, but not all that it ",
                                            "printed can be read: ", unread_.message()));
  }

  void End(const absl::Status& status) {
    const bool now = call_end_.End(status);
    loop_.Post([self = shared_from_this()] { self->daemon_.cluster().StopWaiting(self->wait_); });
    if (now) Finish(ToGrpc(status));
  }

  EventLoop& loop_;
  Daemon& daemon_;
  const Caller caller_;
  const std::string from_;
  CallEnd call_end_;
  WaitId wait_;                      ///< For the job's end; the loop's.
  proto::ToJob incoming_;            ///< Between OnReadDone and StartRead the loop's.
  JobId job_{0};                     ///< Set on the loop, before the next StartRead.
  StreamEnds seen_;                  ///< Of the first message; until reader_ has it.
  proto::FromJob outgoing_;          ///< Of the thread that has set sending_,
  std::optional<LogReader> reader_;  ///< as is this, once there is one.
  std::mutex mutex_;                 ///< Guards the following. Held for moments: the loop takes it.
  std::optional<proto::Job> end_;
  bool awaits_ = false;                       ///< More lines, or the job's end.
  absl::Status unread_;                       ///< Set once, before the job's end is asked for.
  std::optional<std::uint64_t> input_taken_;  ///< To be said.
  bool sending_ = false;                      ///< A message is being composed, or written.
};

}  // namespace

grpc::ServerWriteReactor<proto::LogLine>* SendLog(EventLoop& loop, Daemon& daemon,
                                                  const Caller& caller,
                                                  const proto::ReadLogRequest& request) {
  const auto call = LogSending::Make(caller, request);
  call->Begin(loop, daemon);
  return call.get();
}

grpc::ServerBidiReactor<proto::ToJob, proto::FromJob>* AttachClient(EventLoop& loop, Daemon& daemon,
                                                                    const Caller& caller,
                                                                    std::string from) {
  const auto call = ClientStream::Make(loop, daemon, caller, std::move(from));
  call->Begin();
  return call.get();
}

}  // namespace bspnow::coordinator
