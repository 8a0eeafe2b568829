#include "client/cluster/attach_stub.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "proto/grpc_status.h"
#include "proto/jobs.grpc.pb.h"

namespace bspnow::client {

// Lives on gRPC's threads; its events are posted to the loop. One write is under way at a time. A
// hold keeps gRPC from ending the call while the loop may still start a read.
class AttachStub::Stream : public grpc::ClientBidiReactor<proto::ToJob, proto::FromJob> {
 public:
  Stream(EventLoop& loop, const JobsStub& jobs, AttachEvents events)
      : loop_(loop),
        stub_(proto::Jobs::NewStub(jobs.channel())),
        events_(std::make_shared<AttachEvents>(std::move(events))) {
    stub_->async()->AttachJob(&context_, this);
    AddHold();
    reading_ = true;
    StartRead(&incoming_);
    StartCall();
  }

  ~Stream() override {
    context_.TryCancel();
    if (question_context_) question_context_->TryCancel();
    std::unique_lock lock(mutex_);
    leaving_ = true;
    if (!reading_) EndReading();
    done_changed_.wait(lock, [this] { return done_ && !asking_; });
    *events_ = AttachEvents();  // What is posted already finds nobody.
  }

  void ReadNext() {
    const std::lock_guard lock(mutex_);
    if (holding_) {
      reading_ = true;
      StartRead(&incoming_);
    }
  }

  void AskForJob(std::uint64_t job) {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(asking_, true)) return;
    }
    question_.set_job(job);
    question_context_ = std::make_unique<grpc::ClientContext>();
    stub_->async()->ShowJob(question_context_.get(), &question_, &answer_,
                            [this](grpc::Status status) {
                              if (status.ok()) {
                                loop_.Post([events = events_, job = answer_] {
                                  if (events->shown) events->shown(job);
                                });
                              }
                              const std::lock_guard lock(mutex_);
                              asking_ = false;
                              done_changed_.notify_all();
                            });
  }

  void Send(proto::ToJob message) {
    const std::lock_guard lock(mutex_);
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1 && holding_) StartWrite(&outgoing_.front());
  }

 private:
  void OnReadInitialMetadataDone(bool ok) override {  // tidy: the signature is gRPC's.
    if (!ok) return;
    loop_.Post([events = events_] {
      if (events->attached) events->attached();
    });
  }

  void OnReadDone(bool ok) override {  // tidy: the signature is gRPC's.
    if (ok) {
      auto message = std::make_shared<proto::FromJob>(std::move(incoming_));
      loop_.Post([events = events_, message] {
        if (events->message) events->message(*message);
      });
    }
    const std::lock_guard lock(mutex_);
    reading_ = false;
    if (!ok || leaving_) EndReading();
  }

  void OnWriteDone(bool ok) override {  // tidy: the signature is gRPC's.
    const std::lock_guard lock(mutex_);
    outgoing_.pop_front();
    if (ok && !outgoing_.empty() && holding_) StartWrite(&outgoing_.front());
  }

  void OnDone(const grpc::Status& status) override {
    loop_.Post([events = events_, over = FromGrpc(status)] {
      if (events->over) events->over(over);
    });
    const std::lock_guard lock(mutex_);
    done_ = true;
    done_changed_.notify_all();
  }

  // With mutex_ held. Nothing is started any more, so the call may end.
  void EndReading() {
    if (std::exchange(holding_, false)) RemoveHold();
  }

  EventLoop& loop_;
  const std::unique_ptr<proto::Jobs::Stub> stub_;
  std::shared_ptr<AttachEvents> events_;  ///< Only the loop's thread looks into it.
  grpc::ClientContext context_;
  proto::FromJob incoming_;
  std::unique_ptr<grpc::ClientContext> question_context_;  ///< Of the last question.
  proto::ShowJobRequest question_;
  proto::Job answer_;
  std::condition_variable done_changed_;
  std::mutex mutex_;                   ///< Guards what follows.
  std::deque<proto::ToJob> outgoing_;  ///< The first is being written.
  bool asking_ = false;
  bool reading_ = false;
  bool holding_ = true;
  bool leaving_ = false;
  bool done_ = false;
};

AttachStub::AttachStub(EventLoop& loop, const JobsStub& jobs, AttachEvents events)
    : stream_(std::make_unique<Stream>(loop, jobs, std::move(events))) {}

AttachStub::~AttachStub() = default;

void AttachStub::ReadNext() { stream_->ReadNext(); }

void AttachStub::Send(proto::ToJob message) { stream_->Send(std::move(message)); }

void AttachStub::AskForJob(std::uint64_t job) { stream_->AskForJob(job); }

}  // namespace bspnow::client
