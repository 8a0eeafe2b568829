#include "coordinator/rpc/workers_service.h"

#include <grpcpp/support/server_callback.h>

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "coordinator/rpc/call_end.h"
#include "coordinator/rpc/checked_service.h"
#include "coordinator/rpc/content_service.h"
#include "coordinator/rpc/self_owned.h"
#include "proto/grpc_status.h"
#include "proto/workers.grpc.pb.h"

namespace bspnow::coordinator {
namespace {

/// AttachWorker. One event is with the loop at a time: what the loop cannot take in stays with the
/// worker, which keeps little of it.
class OrderStream final
    : public SelfOwned<grpc::ServerBidiReactor<proto::WorkerEvent, proto::Order>, OrderStream>,
      public OrderSink {
 public:
  OrderStream(EventLoop& loop, Daemon& daemon) : loop_(loop), daemon_(daemon) {}

  void Begin() { StartRead(&event_); }

  void OnReadDone(bool ok) override {  // tidy: gRPC's own signature
    if (!ok) return OnBroken();
    if (!end_.Pin()) return;
    loop_.Post([self = shared_from_this()] { self->OnMessage(); });
  }

  void OnWriteDone(bool ok) override {  // tidy: gRPC's own signature
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
    }
    if (!ok) OnBroken();
    if (end_.Unpin()) return Finish(ToGrpc(end_.status()));
    SendNext();
  }

  void OnCancel() override { OnBroken(); }

  void Send(const proto::Order& order) override {
    {
      const std::lock_guard lock(mutex_);
      orders_.push_back(order);
    }
    SendNext();
  }

  void Acknowledge(std::uint64_t sequence) override {
    {
      const std::lock_guard lock(mutex_);
      acknowledged_ = sequence;
    }
    SendNext();
  }

  void Close(const absl::Status& reason) override {
    if (end_.End(reason)) Finish(ToGrpc(reason));
  }

 private:
  /// On the loop.
  void OnMessage() {
    absl::Status handled;
    if (worker_ == WorkerId{0}) {
      worker_ = WorkerId{event_.worker()};
      handled = daemon_.cluster().AttachWorker(event_, shared_from_this());
    } else {
      handled = daemon_.cluster().OnEvent(worker_, std::move(event_));
    }
    if (handled.ok()) {
      StartRead(&event_);
    } else {
      Close(handled);
    }
    if (end_.Unpin()) Finish(ToGrpc(end_.status()));
  }

  void OnBroken() {
    loop_.Post([self = shared_from_this()] {
      self->daemon_.cluster().OnStreamBroken(self->worker_, self.get());
    });
    Close(absl::CancelledError("the control stream ended"));
  }

  /// Writes what is due, if nothing is being written: orders first.
  void SendNext() {
    {
      const std::lock_guard lock(mutex_);
      if (writing_) return;
      outgoing_.Clear();
      if (!orders_.empty()) {
        outgoing_ = std::move(orders_.front());
        orders_.pop_front();
      } else if (acknowledged_ > acknowledgement_sent_) {
        acknowledgement_sent_ = acknowledged_;
        outgoing_.mutable_acknowledge()->set_sequence(acknowledged_);
      } else {
        return;
      }
      writing_ = true;
    }
    if (end_.Pin()) StartWrite(&outgoing_);
  }

  EventLoop& loop_;
  Daemon& daemon_;
  proto::WorkerEvent event_;  ///< Between OnReadDone and StartRead the loop's.
  WorkerId worker_{0};        ///< The loop's.
  proto::Order outgoing_;     ///< Of the write that is under way.
  CallEnd end_;
  std::mutex mutex_;  ///< Guards the following.
  std::deque<proto::Order> orders_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t acknowledgement_sent_ = 0;
  bool writing_ = false;  ///< Stays so when the stream has ended.
};

class WorkersCalls {
 public:
  WorkersCalls(EventLoop& loop, Daemon& daemon) : loop_(loop), daemon_(daemon) {}

  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext& context, const Caller&,
                                     const proto::RegisterRequest& request,
                                     proto::RegisterReply* reply) {
    grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
    loop_.Post([this, reactor, &request, reply] {
      auto registered = daemon_.cluster().Register(request);
      if (registered.ok()) *reply = *std::move(registered);
      reactor->Finish(ToGrpc(registered.status()));
    });
    return reactor;
  }

  grpc::ServerBidiReactor<proto::WorkerEvent, proto::Order>* AttachWorker(
      grpc::CallbackServerContext&, const Caller&) {
    const auto stream = OrderStream::Make(loop_, daemon_);
    stream->Begin();
    return stream.get();
  }

  grpc::ServerWriteReactor<proto::FileChunk>* ReadBlob(const Caller&,
                                                       const proto::ReadBlobRequest& request) {
    return SendBlob(daemon_.uploads(), request);
  }

  grpc::ServerReadReactor<proto::FileChunk>* StoreFiles(grpc::CallbackServerContext& context,
                                                        const Caller&, proto::StoreFilesReply*) {
    return TakeFiles(loop_, daemon_, context);
  }

  grpc::ServerReadReactor<proto::FileChunk>* StoreProfile(grpc::CallbackServerContext&,
                                                          const Caller&, proto::StoreFilesReply*) {
    return TakeProfile(loop_, daemon_);
  }

 private:
  EventLoop& loop_;
  Daemon& daemon_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeWorkersService(EventLoop& loop, Daemon& daemon,
                                                  Authority& authority) {
  auto service = std::make_unique<CheckedService<proto::Workers, WorkersCalls>>(
      authority, WorkersCalls(loop, daemon));
  service->Serve("Register", Scope::kJoin, &WorkersCalls::Register);
  service->Serve("AttachWorker", Scope::kJoin, &WorkersCalls::AttachWorker);
  service->Serve("ReadBlob", Scope::kJoin, &WorkersCalls::ReadBlob);
  service->Serve("StoreFiles", Scope::kJoin, &WorkersCalls::StoreFiles);
  service->Serve("StoreProfile", Scope::kJoin, &WorkersCalls::StoreProfile);
  return service;
}

}  // namespace bspnow::coordinator
