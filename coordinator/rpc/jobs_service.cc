#include "coordinator/rpc/jobs_service.h"

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <utility>

#include "coordinator/rpc/content_service.h"
#include "coordinator/rpc/log_service.h"
#include "coordinator/rpc/self_owned.h"
#include "files/sha256.h"
#include "proto/grpc_status.h"
#include "proto/jobs.grpc.pb.h"

namespace bspnow::coordinator {
namespace {

/// Answered at once or when the cluster has done it, with the job as it is then.
using AskOfJob = std::function<void(JobId job, const Cluster::OnJob& answer)>;

/// A call that may take long: it is forgotten when its client leaves.
class LongCall final : public SelfOwned<grpc::ServerUnaryReactor, LongCall> {
 public:
  /// Runs on the loop.
  using Ask = std::function<WaitId(JobId job, Cluster::OnJob answer)>;

  LongCall(EventLoop& loop, Daemon& daemon, proto::Job* reply)
      : loop_(loop), daemon_(daemon), reply_(reply) {}

  void Begin(JobId job, Ask ask) {
    loop_.Post([self = shared_from_this(), job, ask = std::move(ask)] {
      self->daemon_.cluster().Recall(job, [self, job, ask] { self->Wait(job, ask); });
    });
  }

  void OnCancel() override {
    loop_.Post([self = shared_from_this()] {
      self->daemon_.cluster().StopWaiting(self->wait_);
      self->End(absl::CancelledError("the client left"));
    });
  }

 private:
  void Wait(JobId job, const Ask& ask) {
    if (ended_) return;
    wait_ = ask(job, [self = shared_from_this()](absl::StatusOr<proto::Job> job) {
      if (job.ok()) *self->reply_ = *std::move(job);
      self->End(job.status());
    });
  }

  void End(const absl::Status& status) {
    if (!std::exchange(ended_, true)) Finish(ToGrpc(status));
  }

  EventLoop& loop_;
  Daemon& daemon_;
  proto::Job* reply_;
  WaitId wait_;  ///< The following are the loop's.
  bool ended_ = false;
};

class JobsService final : public proto::Jobs::CallbackService {
 public:
  JobsService(EventLoop& loop, Daemon& daemon) : loop_(loop), daemon_(daemon) {}

  // ---- Contents and files -----------------------------------------------------------------------

  grpc::ServerUnaryReactor* FindMissingBlobs(grpc::CallbackServerContext* context,
                                             const proto::FindMissingBlobsRequest* request,
                                             proto::FindMissingBlobsReply* reply) override {
    absl::Status named;
    for (const std::string& sha256 : request->sha256()) {
      named.Update(files::CheckSha256(sha256));
      if (!daemon_.blobs().Has(sha256)) reply->add_sha256(sha256);
    }
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(named));
    return reactor;
  }

  grpc::ServerReadReactor<proto::FileChunk>* UploadBlob(grpc::CallbackServerContext*,
                                                        proto::UploadBlobReply*) override {
    return TakeBlob(daemon_.blobs());
  }

  grpc::ServerWriteReactor<proto::FileChunk>* FetchFiles(
      grpc::CallbackServerContext*, const proto::FetchFilesRequest* request) override {
    return SendFiles(loop_, daemon_, *request);
  }

  // ---- Jobs -------------------------------------------------------------------------------------

  grpc::ServerUnaryReactor* SubmitJob(grpc::CallbackServerContext* context,
                                      const proto::SubmitJobRequest* request,
                                      proto::SubmitJobReply* reply) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    loop_.Post([this, reactor, request, reply] {
      daemon_.cluster().Submit(*request, [reactor, reply](const absl::StatusOr<JobId>& job) {
        if (job.ok()) reply->set_job(Value(*job));
        reactor->Finish(ToGrpc(job.status()));
      });
    });
    return reactor;
  }

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const proto::ListJobsRequest* request,
                                     proto::ListJobsReply* reply) override {
    return AnswerLater(context, reply, [this, request](auto answer) {
      daemon_.cluster().List(*request, std::move(answer));
    });
  }

  grpc::ServerUnaryReactor* ShowJob(grpc::CallbackServerContext* context,
                                    const proto::ShowJobRequest* request,
                                    proto::Job* reply) override {
    return AnswerOf(context, *request, reply, [this](JobId job, const Cluster::OnJob& answer) {
      answer(daemon_.cluster().Show(job));
    });
  }

  grpc::ServerUnaryReactor* WaitJob(grpc::CallbackServerContext*,
                                    const proto::WaitJobRequest* request,
                                    proto::Job* reply) override {
    return AnswerUnlessLeft(*request, reply, [this](JobId job, Cluster::OnJob answer) {
      return daemon_.cluster().Wait(job, std::move(answer));
    });
  }

  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const proto::CancelJobRequest* request,
                                      proto::Job* reply) override {
    return AnswerOf(context, *request, reply, [this](JobId job, const Cluster::OnJob& answer) {
      answer(daemon_.cluster().Cancel(job));
    });
  }

  grpc::ServerUnaryReactor* CheckpointJob(grpc::CallbackServerContext*,
                                          const proto::CheckpointJobRequest* request,
                                          proto::Job* reply) override {
    return AnswerUnlessLeft(*request, reply, [this](JobId job, Cluster::OnJob answer) {
      return daemon_.cluster().Checkpoint(job, std::move(answer));
    });
  }

  grpc::ServerUnaryReactor* SuspendJob(grpc::CallbackServerContext*,
                                       const proto::SuspendJobRequest* request,
                                       proto::Job* reply) override {
    return AnswerUnlessLeft(*request, reply, [this](JobId job, Cluster::OnJob answer) {
      return daemon_.cluster().Suspend(job, std::move(answer));
    });
  }

  grpc::ServerUnaryReactor* ResumeJob(grpc::CallbackServerContext* context,
                                      const proto::ResumeJobRequest* request,
                                      proto::Job* reply) override {
    return AnswerOf(context, *request, reply, [this](JobId job, const Cluster::OnJob& answer) {
      answer(daemon_.cluster().Resume(job));
    });
  }

  grpc::ServerWriteReactor<proto::LogLine>* ReadLog(grpc::CallbackServerContext*,
                                                    const proto::ReadLogRequest* request) override {
    return SendLog(loop_, daemon_, *request);
  }

  grpc::ServerBidiReactor<proto::ToJob, proto::FromJob>* AttachJob(
      grpc::CallbackServerContext*) override {
    return AttachClient(loop_, daemon_);
  }

  // ---- Nodes and parameters ---------------------------------------------------------------------

  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context,
                                      const proto::ListNodesRequest*,
                                      proto::ListNodesReply* reply) override {
    return Answer(context, reply, [this]() -> absl::StatusOr<proto::ListNodesReply> {
      return daemon_.cluster().ListNodes();
    });
  }

  grpc::ServerUnaryReactor* DrainNode(grpc::CallbackServerContext* context,
                                      const proto::DrainNodeRequest* request,
                                      proto::Node* reply) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    loop_.Post([this, reactor, request, reply] {
      daemon_.cluster().SetDrained(request->name(),
                                   request->undo() ? Drain::kUndrain : Drain::kDrain,
                                   [reactor, reply](absl::StatusOr<proto::Node> node) {
                                     if (node.ok()) *reply = *std::move(node);
                                     reactor->Finish(ToGrpc(node.status()));
                                   });
    });
    return reactor;
  }

  grpc::ServerUnaryReactor* StoreParameters(grpc::CallbackServerContext* context,
                                            const proto::MachineParameters* request,
                                            proto::StoreParametersReply*) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    loop_.Post([this, reactor, request] {
      daemon_.cluster().StoreParameters(
          *request, [reactor](const absl::Status& status) { reactor->Finish(ToGrpc(status)); });
    });
    return reactor;
  }

  grpc::ServerUnaryReactor* ShowParameters(grpc::CallbackServerContext* context,
                                           const proto::ShowParametersRequest* request,
                                           proto::MachineParameters* reply) override {
    return Answer(context, reply,
                  [this, request] { return daemon_.cluster().ShowParameters(request->p()); });
  }

 private:
  /// What `ask` gives on the loop is the reply.
  template <typename Reply, typename Ask>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, Reply* reply, Ask ask) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    loop_.Post([reactor, reply, ask = std::move(ask)] {
      absl::StatusOr<Reply> answer = ask();
      if (answer.ok()) *reply = *std::move(answer);
      reactor->Finish(ToGrpc(answer.status()));
    });
    return reactor;
  }

  /// What `ask` answers some time, on the loop, is the reply. A client that leaves changes nothing.
  template <typename Reply, typename Ask>
  grpc::ServerUnaryReactor* AnswerLater(grpc::CallbackServerContext* context, Reply* reply,
                                        Ask ask) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    loop_.Post([reactor, reply, ask = std::move(ask)] {
      ask([reactor, reply](absl::StatusOr<Reply> answer) {
        if (answer.ok()) *reply = *std::move(answer);
        reactor->Finish(ToGrpc(answer.status()));
      });
    });
    return reactor;
  }

  /// The same for a call about one job, which may have ended long ago.
  template <typename Request>
  grpc::ServerUnaryReactor* AnswerOf(grpc::CallbackServerContext* context, const Request& request,
                                     proto::Job* reply, AskOfJob ask) {
    const JobId job{request.job()};
    return AnswerLater(context, reply, [this, job, ask = std::move(ask)](Cluster::OnJob answer) {
      daemon_.cluster().Recall(job, [job, ask, answer = std::move(answer)] { ask(job, answer); });
    });
  }

  /// As LongCall.
  template <typename Request>
  grpc::ServerUnaryReactor* AnswerUnlessLeft(const Request& request, proto::Job* reply,
                                             LongCall::Ask ask) {
    const auto call = LongCall::Make(loop_, daemon_, reply);
    call->Begin(JobId{request.job()}, std::move(ask));
    return call.get();
  }

  EventLoop& loop_;
  Daemon& daemon_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeJobsService(EventLoop& loop, Daemon& daemon) {
  return std::make_unique<JobsService>(loop, daemon);
}

}  // namespace bspnow::coordinator
