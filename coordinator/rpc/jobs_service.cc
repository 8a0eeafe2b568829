#include "coordinator/rpc/jobs_service.h"

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <utility>

#include "coordinator/rpc/content_service.h"
#include "coordinator/rpc/log_service.h"
#include "coordinator/rpc/permission.h"
#include "coordinator/rpc/request_limits.h"
#include "coordinator/rpc/self_owned.h"
#include "files/sha256.h"
#include "proto/grpc_status.h"
#include "proto/jobs.grpc.pb.h"

namespace bspnow::coordinator {
namespace {

/// Answered at once or when the cluster has done it, with the job as it is then.
using AskOfJob = std::function<void(const Caller& caller, JobId job, const Cluster::OnJob& answer)>;

/// Of whose jobs something is asked.
enum class Whose {
  kAnybodys,  ///< What is the owner's alone is left out of the reply.
  kOwn,       ///< An administrator's are all.
};

constexpr Scope ScopeOf(Whose whose) {
  return whose == Whose::kOwn ? Scope::kSubmit : Scope::kRead;
}

/// On the loop, in a Recall.
absl::Status MayAsk(const Daemon& daemon, const Caller& caller, Whose whose, JobId job) {
  if (whose == Whose::kAnybodys) return absl::OkStatus();
  return CheckOwner(caller, daemon.cluster().OwnerOf(job), Value(job));
}

/// A call that may take long: it is forgotten when its client leaves.
class LongCall final : public SelfOwned<grpc::ServerUnaryReactor, LongCall> {
 public:
  /// Runs on the loop.
  using Ask = std::function<WaitId(JobId job, Cluster::OnJob answer)>;

  LongCall(EventLoop& loop, Daemon& daemon, proto::Job* reply)
      : loop_(loop), daemon_(daemon), reply_(reply) {}

  void Begin(JobId job, const absl::StatusOr<Caller>& caller, Whose whose, Ask ask) {
    if (!caller.ok()) return End(caller.status());
    caller_ = *caller;
    loop_.Post([self = shared_from_this(), job, whose, ask = std::move(ask)] {
      self->daemon_.cluster().Recall(job, [self, job, whose, ask] {
        const absl::Status may = MayAsk(self->daemon_, self->caller_, whose, job);
        may.ok() ? self->Wait(job, ask) : self->End(may);
      });
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
      if (job.ok()) {
        *self->reply_ = *std::move(job);
        HideFrom(self->caller_, *self->reply_);
      }
      self->End(job.status());
    });
  }

  void End(const absl::Status& status) {
    if (!std::exchange(ended_, true)) Finish(ToGrpc(status));
  }

  EventLoop& loop_;
  Daemon& daemon_;
  proto::Job* reply_;
  Caller caller_;
  WaitId wait_;  ///< The following are the loop's.
  bool ended_ = false;
};

class JobsService final : public proto::Jobs::CallbackService {
 public:
  JobsService(EventLoop& loop, Daemon& daemon, Authority& authority, WebServer* page)
      : loop_(loop), daemon_(daemon), authority_(authority), page_(page) {}

  // ---- Contents and files -----------------------------------------------------------------------

  grpc::ServerUnaryReactor* FindMissingBlobs(grpc::CallbackServerContext* context,
                                             const proto::FindMissingBlobsRequest* request,
                                             proto::FindMissingBlobsReply* reply) override {
    const auto caller = Permit(authority_, *context, Scope::kSubmit);
    absl::Status named = caller.status();
    for (int i = 0; named.ok() && i < request->sha256_size(); ++i) {
      named = files::CheckSha256(request->sha256(i));
      if (named.ok() && !daemon_.uploads().Has(caller->user, request->sha256(i)))
        reply->add_sha256(request->sha256(i));
    }
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(named));
    return reactor;
  }

  grpc::ServerReadReactor<proto::FileChunk>* UploadBlob(grpc::CallbackServerContext* context,
                                                        proto::UploadBlobReply*) override {
    const auto caller = Permit(authority_, *context, Scope::kSubmit);
    if (!caller.ok()) return Refuse<grpc::ServerReadReactor<proto::FileChunk>>(caller.status());
    return TakeBlob(daemon_.uploads(), *caller);
  }

  grpc::ServerWriteReactor<proto::FileChunk>* FetchFiles(
      grpc::CallbackServerContext* context, const proto::FetchFilesRequest* request) override {
    const auto caller = Permit(authority_, *context, Scope::kSubmit);
    if (!caller.ok()) return Refuse<grpc::ServerWriteReactor<proto::FileChunk>>(caller.status());
    return SendFiles(loop_, daemon_, *caller, *request);
  }

  grpc::ServerWriteReactor<proto::FileChunk>* ReadProfile(
      grpc::CallbackServerContext* context, const proto::ReadProfileRequest* request) override {
    const auto caller = Permit(authority_, *context, Scope::kSubmit);
    if (!caller.ok()) return Refuse<grpc::ServerWriteReactor<proto::FileChunk>>(caller.status());
    return SendProfile(loop_, daemon_, *caller, *request);
  }

  // ---- Jobs -------------------------------------------------------------------------------------

  grpc::ServerUnaryReactor* SubmitJob(grpc::CallbackServerContext* context,
                                      const proto::SubmitJobRequest* request,
                                      proto::SubmitJobReply* reply) override {
    return AnswerLater(context, Scope::kSubmit, *request, reply,
                       [this, request](const Caller& caller, const auto& answer) {
                         proto::SubmitJobRequest owned = *request;
                         const absl::Status taken = TakeOwnership(caller, *owned.mutable_spec());
                         if (!taken.ok()) return answer(taken);
                         daemon_.cluster().Submit(
                             caller, std::move(owned),
                             [this, answer](const absl::StatusOr<JobId>& job) {
                               if (!job.ok()) return answer(job.status());
                               proto::SubmitJobReply submitted;
                               submitted.set_job(Value(*job));
                               if (const JobRecord* record = daemon_.cluster().table().Find(*job))
                                 submitted.set_elements(record->job().array().elements());
                               answer(submitted);
                             });
                       });
  }

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const proto::ListJobsRequest* request,
                                     proto::ListJobsReply* reply) override {
    return AnswerLater(context, Scope::kRead, *request, reply,
                       [this, request](const Caller& caller, const auto& answer) {
                         proto::ListJobsRequest limited = *request;
                         const absl::Status may = LimitAccounting(caller, limited);
                         if (!may.ok()) return answer(may);
                         daemon_.cluster().List(
                             limited, [caller, answer](absl::StatusOr<proto::ListJobsReply> jobs) {
                               if (jobs.ok()) {
                                 for (proto::Job& job : *jobs->mutable_jobs())
                                   HideFrom(caller, job);
                                 jobs->set_caller(caller.user);
                               }
                               answer(std::move(jobs));
                             });
                       });
  }

  grpc::ServerUnaryReactor* ShowJob(grpc::CallbackServerContext* context,
                                    const proto::ShowJobRequest* request,
                                    proto::Job* reply) override {
    return AnswerOf(context, Whose::kAnybodys, *request, reply,
                    [this](const Caller&, JobId job, const Cluster::OnJob& answer) {
                      answer(daemon_.cluster().Show(job));
                    });
  }

  grpc::ServerUnaryReactor* WaitJob(grpc::CallbackServerContext* context,
                                    const proto::WaitJobRequest* request,
                                    proto::Job* reply) override {
    return AnswerUnlessLeft(context, Whose::kAnybodys, *request, reply,
                            [this](JobId job, Cluster::OnJob answer) {
                              return daemon_.cluster().Wait(job, std::move(answer));
                            });
  }

  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const proto::CancelJobRequest* request,
                                      proto::Job* reply) override {
    return AnswerOf(context, Whose::kOwn, *request, reply,
                    [this](const Caller& caller, JobId job, const Cluster::OnJob& answer) {
                      answer(daemon_.cluster().Cancel(job, caller.user));
                    });
  }

  grpc::ServerUnaryReactor* AlterJob(grpc::CallbackServerContext* context,
                                     const proto::AlterJobRequest* request,
                                     proto::Job* reply) override {
    return AnswerOf(context, Whose::kOwn, *request, reply,
                    [this, request](const Caller&, JobId, const Cluster::OnJob& answer) {
                      daemon_.cluster().Alter(*request, answer);
                    });
  }

  grpc::ServerUnaryReactor* CheckpointJob(grpc::CallbackServerContext* context,
                                          const proto::CheckpointJobRequest* request,
                                          proto::Job* reply) override {
    return AnswerUnlessLeft(context, Whose::kOwn, *request, reply,
                            [this](JobId job, Cluster::OnJob answer) {
                              return daemon_.cluster().Checkpoint(job, std::move(answer));
                            });
  }

  grpc::ServerUnaryReactor* SuspendJob(grpc::CallbackServerContext* context,
                                       const proto::SuspendJobRequest* request,
                                       proto::Job* reply) override {
    return AnswerUnlessLeft(context, Whose::kOwn, *request, reply,
                            [this](JobId job, Cluster::OnJob answer) {
                              return daemon_.cluster().Suspend(job, std::move(answer));
                            });
  }

  grpc::ServerUnaryReactor* ResumeJob(grpc::CallbackServerContext* context,
                                      const proto::ResumeJobRequest* request,
                                      proto::Job* reply) override {
    return AnswerOf(context, Whose::kOwn, *request, reply,
                    [this](const Caller&, JobId job, const Cluster::OnJob& answer) {
                      answer(daemon_.cluster().Resume(job));
                    });
  }

  grpc::ServerWriteReactor<proto::LogLine>* ReadLog(grpc::CallbackServerContext* context,
                                                    const proto::ReadLogRequest* request) override {
    const auto caller = Permit(authority_, *context, Scope::kSubmit);
    const absl::Status may = caller.ok() ? CheckLimits(*request) : caller.status();
    if (!may.ok()) return Refuse<grpc::ServerWriteReactor<proto::LogLine>>(may);
    return SendLog(loop_, daemon_, *caller, *request);
  }

  grpc::ServerBidiReactor<proto::ToJob, proto::FromJob>* AttachJob(
      grpc::CallbackServerContext* context) override {
    const auto caller = Permit(authority_, *context, Scope::kSubmit);
    if (!caller.ok())
      return Refuse<grpc::ServerBidiReactor<proto::ToJob, proto::FromJob>>(caller.status());
    return AttachClient(loop_, daemon_, *caller, context->peer());
  }

  // ---- Nodes and parameters ---------------------------------------------------------------------

  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context,
                                      const proto::ListNodesRequest* request,
                                      proto::ListNodesReply* reply) override {
    return Answer(context, Scope::kRead, *request, reply,
                  [this]() -> absl::StatusOr<proto::ListNodesReply> {
                    return daemon_.cluster().ListNodes();
                  });
  }

  grpc::ServerUnaryReactor* DrainNode(grpc::CallbackServerContext* context,
                                      const proto::DrainNodeRequest* request,
                                      proto::Node* reply) override {
    return AnswerLater(context, Scope::kAdmin, *request, reply,
                       [this, request](const Caller&, const auto& answer) {
                         daemon_.cluster().SetDrained(
                             request->name(), request->undo() ? Drain::kUndrain : Drain::kDrain,
                             answer);
                       });
  }

  grpc::ServerUnaryReactor* ForgetNode(grpc::CallbackServerContext* context,
                                       const proto::ForgetNodeRequest* request,
                                       proto::Node* reply) override {
    return AnswerLater(context, Scope::kAdmin, *request, reply,
                       [this, request](const Caller&, const auto& answer) {
                         daemon_.cluster().ForgetNode(request->name(), answer);
                       });
  }

  grpc::ServerUnaryReactor* StoreParameters(grpc::CallbackServerContext* context,
                                            const proto::MachineParameters* request,
                                            proto::StoreParametersReply* reply) override {
    return AnswerLater(context, Scope::kSubmit, *request, reply,
                       [this, request](const Caller&, const auto& answer) {
                         daemon_.cluster().StoreParameters(
                             *request, [answer](const absl::Status& status) {
                               status.ok() ? answer(proto::StoreParametersReply()) : answer(status);
                             });
                       });
  }

  grpc::ServerUnaryReactor* ShowParameters(grpc::CallbackServerContext* context,
                                           const proto::ShowParametersRequest* request,
                                           proto::MachineParameters* reply) override {
    return Answer(context, Scope::kRead, *request, reply,
                  [this, request] { return daemon_.cluster().ShowParameters(request->p()); });
  }

  grpc::ServerUnaryReactor* OpenPage(grpc::CallbackServerContext* context,
                                     const proto::OpenPageRequest*,
                                     proto::OpenPageReply* reply) override {
    const auto caller = Permit(authority_, *context, Scope::kRead);
    absl::Status opened = caller.status();
    if (opened.ok() && page_ == nullptr)
      opened = absl::FailedPreconditionError(
          "this coordinator serves no web page; start it with --web HOST:PORT, as in "
          "--web 127.0.0.1:0");
    if (opened.ok()) {
      const Proof proof(authority_, *context);
      *reply = page_->Open(*caller, authority_.Remember(proof.authorization, proof.certificate));
    }
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(opened));
    return reactor;
  }

 private:
  /// What `ask` gives on the loop is the reply.
  template <typename Request, typename Reply, typename Ask>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, Scope scope,
                                   const Request& request, Reply* reply, Ask ask) {
    return AnswerLater(
        context, scope, request, reply,
        [ask = std::move(ask)](const Caller&, const auto& answer) { answer(ask()); });
  }

  /// What `ask` answers some time, on the loop, is the reply. A client that leaves changes nothing.
  template <typename Request, typename Reply, typename Ask>
  grpc::ServerUnaryReactor* AnswerLater(grpc::CallbackServerContext* context, Scope scope,
                                        const Request& request, Reply* reply, Ask ask) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    const absl::StatusOr<Caller> caller = Permit(authority_, *context, scope);
    const absl::Status may = caller.ok() ? CheckLimits(request) : caller.status();
    if (!may.ok()) {
      reactor->Finish(ToGrpc(may));
      return reactor;
    }
    loop_.Post([reactor, reply, caller = *caller, ask = std::move(ask)] {
      const std::function<void(absl::StatusOr<Reply>)> answer =
          [reactor, reply](absl::StatusOr<Reply> answer) {
            if (answer.ok()) *reply = *std::move(answer);
            reactor->Finish(ToGrpc(answer.status()));
          };
      ask(caller, answer);
    });
    return reactor;
  }

  /// The same for a call about one job, which may have ended long ago.
  template <typename Request>
  grpc::ServerUnaryReactor* AnswerOf(grpc::CallbackServerContext* context, Whose whose,
                                     const Request& request, proto::Job* reply, AskOfJob ask) {
    const JobId job{request.job()};
    return AnswerLater(
        context, ScopeOf(whose), request, reply,
        [this, job, whose, ask = std::move(ask)](const Caller& caller, const auto& answer) {
          daemon_.cluster().Recall(job, [this, job, whose, caller, ask, answer] {
            const absl::Status may = MayAsk(daemon_, caller, whose, job);
            if (!may.ok()) return answer(may);
            ask(caller, job, [caller, answer](absl::StatusOr<proto::Job> shown) {
              if (shown.ok()) HideFrom(caller, *shown);
              answer(std::move(shown));
            });
          });
        });
  }

  /// As LongCall.
  template <typename Request>
  grpc::ServerUnaryReactor* AnswerUnlessLeft(grpc::CallbackServerContext* context, Whose whose,
                                             const Request& request, proto::Job* reply,
                                             LongCall::Ask ask) {
    const auto call = LongCall::Make(loop_, daemon_, reply);
    call->Begin(JobId{request.job()}, Permit(authority_, *context, ScopeOf(whose)), whose,
                std::move(ask));
    return call.get();
  }

  EventLoop& loop_;
  Daemon& daemon_;
  Authority& authority_;
  WebServer* const page_;  ///< Null: there is none.
};

}  // namespace

std::unique_ptr<grpc::Service> MakeJobsService(EventLoop& loop, Daemon& daemon,
                                               Authority& authority, WebServer* page) {
  return std::make_unique<JobsService>(loop, daemon, authority, page);
}

}  // namespace bspnow::coordinator
