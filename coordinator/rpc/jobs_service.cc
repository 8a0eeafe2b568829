#include "coordinator/rpc/jobs_service.h"

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <utility>

#include "coordinator/rpc/checked_service.h"
#include "coordinator/rpc/content_service.h"
#include "coordinator/rpc/log_service.h"
#include "coordinator/rpc/permission.h"
#include "coordinator/rpc/self_owned.h"
#include "files/sha256.h"
#include "proto/grpc_status.h"
#include "proto/jobs.grpc.pb.h"

namespace bspnow::coordinator {
namespace {

/// Answered at once or when the cluster has done it, with the job as it is then.
using AskOfJob = std::function<void(JobId job, const Cluster::OnJob& answer)>;

/// Of whose jobs something is asked.
enum class Whose {
  kAnybodys,  ///< What is the owner's alone is left out of the reply.
  kOwn,       ///< An administrator's are all.
};

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

  LongCall(EventLoop& loop, Daemon& daemon, Caller caller, proto::Job* reply)
      : loop_(loop), daemon_(daemon), caller_(std::move(caller)), reply_(reply) {}

  void Begin(JobId job, Whose whose, Ask ask) {
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
      if (self->ended_) return;  // gRPC has freed the reply: some answers outlive StopWaiting.
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
  const Caller caller_;
  proto::Job* reply_;
  WaitId wait_;  ///< The following are the loop's.
  bool ended_ = false;
};

class JobsCalls {
 public:
  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  JobsCalls(EventLoop& loop, Daemon& daemon, Authority& authority, WebServer* page)
      : loop_(loop), daemon_(daemon), authority_(authority), page_(page) {}

  // ---- Contents and files -----------------------------------------------------------------------

  Unary* FindMissingBlobs(Context& context, const Caller& caller,
                          const proto::FindMissingBlobsRequest& request,
                          proto::FindMissingBlobsReply* reply) {
    absl::Status named;
    for (int i = 0; named.ok() && i < request.sha256_size(); ++i) {
      named = files::CheckSha256(request.sha256(i));
      if (named.ok() && !daemon_.uploads().Has(caller.user, request.sha256(i)))
        reply->add_sha256(request.sha256(i));
    }
    Unary* const reactor = context.DefaultReactor();
    reactor->Finish(ToGrpc(named));
    return reactor;
  }

  grpc::ServerReadReactor<proto::FileChunk>* UploadBlob(Context&, const Caller& caller,
                                                        proto::UploadBlobReply*) {
    return TakeBlob(daemon_.uploads(), caller);
  }

  grpc::ServerWriteReactor<proto::FileChunk>* FetchFiles(const Caller& caller,
                                                         const proto::FetchFilesRequest& request) {
    return SendFiles(loop_, daemon_, caller, request);
  }

  grpc::ServerWriteReactor<proto::FileChunk>* ReadProfile(
      const Caller& caller, const proto::ReadProfileRequest& request) {
    return SendProfile(loop_, daemon_, caller, request);
  }

  // ---- Jobs -------------------------------------------------------------------------------------

  Unary* SubmitJob(Context& context, const Caller& caller, const proto::SubmitJobRequest& request,
                   proto::SubmitJobReply* reply) {
    return AnswerLater(context, reply, [this, caller, &request](const auto& answer) {
      proto::SubmitJobRequest owned = request;
      const absl::Status taken = TakeOwnership(caller, *owned.mutable_spec());
      if (!taken.ok()) return answer(taken);
      daemon_.cluster().Submit(caller, std::move(owned),
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

  Unary* ListJobs(Context& context, const Caller& caller, const proto::ListJobsRequest& request,
                  proto::ListJobsReply* reply) {
    return AnswerLater(context, reply, [this, caller, &request](const auto& answer) {
      proto::ListJobsRequest limited = request;
      const absl::Status may = LimitAccounting(caller, limited);
      if (!may.ok()) return answer(may);
      daemon_.cluster().List(limited, [caller, answer](absl::StatusOr<proto::ListJobsReply> jobs) {
        if (jobs.ok()) {
          for (proto::Job& job : *jobs->mutable_jobs()) HideFrom(caller, job);
          jobs->set_caller(caller.user);
        }
        answer(std::move(jobs));
      });
    });
  }

  Unary* ShowJob(Context& context, const Caller& caller, const proto::ShowJobRequest& request,
                 proto::Job* reply) {
    return AnswerOf(
        context, caller, Whose::kAnybodys, request, reply,
        [this](JobId job, const Cluster::OnJob& answer) { answer(daemon_.cluster().Show(job)); });
  }

  Unary* WaitJob(Context&, const Caller& caller, const proto::WaitJobRequest& request,
                 proto::Job* reply) {
    return AnswerUnlessLeft(caller, Whose::kAnybodys, request, reply,
                            [this](JobId job, Cluster::OnJob answer) {
                              return daemon_.cluster().Wait(job, std::move(answer));
                            });
  }

  Unary* CancelJob(Context& context, const Caller& caller, const proto::CancelJobRequest& request,
                   proto::Job* reply) {
    return AnswerOf(context, caller, Whose::kOwn, request, reply,
                    [this, user = caller.user](JobId job, const Cluster::OnJob& answer) {
                      daemon_.cluster().Cancel(job, user, answer);
                    });
  }

  Unary* AlterJob(Context& context, const Caller& caller, const proto::AlterJobRequest& request,
                  proto::Job* reply) {
    return AnswerOf(context, caller, Whose::kOwn, request, reply,
                    [this, &request](JobId, const Cluster::OnJob& answer) {
                      daemon_.cluster().Alter(request, answer);
                    });
  }

  Unary* CheckpointJob(Context&, const Caller& caller, const proto::CheckpointJobRequest& request,
                       proto::Job* reply) {
    return AnswerUnlessLeft(caller, Whose::kOwn, request, reply,
                            [this](JobId job, Cluster::OnJob answer) {
                              return daemon_.cluster().Checkpoint(job, std::move(answer));
                            });
  }

  Unary* SuspendJob(Context&, const Caller& caller, const proto::SuspendJobRequest& request,
                    proto::Job* reply) {
    return AnswerUnlessLeft(caller, Whose::kOwn, request, reply,
                            [this](JobId job, Cluster::OnJob answer) {
                              return daemon_.cluster().Suspend(job, std::move(answer));
                            });
  }

  Unary* ResumeJob(Context& context, const Caller& caller, const proto::ResumeJobRequest& request,
                   proto::Job* reply) {
    return AnswerOf(
        context, caller, Whose::kOwn, request, reply,
        [this](JobId job, const Cluster::OnJob& answer) { daemon_.cluster().Resume(job, answer); });
  }

  grpc::ServerWriteReactor<proto::LogLine>* ReadLog(const Caller& caller,
                                                    const proto::ReadLogRequest& request) {
    return SendLog(loop_, daemon_, caller, request);
  }

  grpc::ServerBidiReactor<proto::ToJob, proto::FromJob>* AttachJob(Context& context,
                                                                   const Caller& caller) {
    return AttachClient(loop_, daemon_, caller, context.peer());
  }

  // ---- Nodes and parameters ---------------------------------------------------------------------

  Unary* ListNodes(Context& context, const Caller& caller, const proto::ListNodesRequest&,
                   proto::ListNodesReply* reply) {
    return AnswerLater(context, reply, [this, caller](const auto& answer) {
      proto::ListNodesReply nodes = daemon_.cluster().ListNodes();
      for (proto::Node& node : *nodes.mutable_nodes()) HideFrom(caller, node);
      answer(std::move(nodes));
    });
  }

  Unary* DrainNode(Context& context, const Caller&, const proto::DrainNodeRequest& request,
                   proto::Node* reply) {
    return AnswerLater(context, reply, [this, &request](const auto& answer) {
      daemon_.cluster().SetDrained(request.name(), request.undo() ? Drain::kUndrain : Drain::kDrain,
                                   answer);
    });
  }

  Unary* ForgetNode(Context& context, const Caller&, const proto::ForgetNodeRequest& request,
                    proto::Node* reply) {
    return AnswerLater(context, reply, [this, &request](const auto& answer) {
      daemon_.cluster().ForgetNode(request.name(), answer);
    });
  }

  Unary* StoreParameters(Context& context, const Caller&, const proto::MachineParameters& request,
                         proto::StoreParametersReply* reply) {
    return AnswerLater(context, reply, [this, &request](const auto& answer) {
      daemon_.cluster().StoreParameters(request, [answer](const absl::Status& status) {
        status.ok() ? answer(proto::StoreParametersReply()) : answer(status);
      });
    });
  }

  Unary* ShowParameters(Context& context, const Caller&,
                        const proto::ShowParametersRequest& request,
                        proto::MachineParameters* reply) {
    return AnswerLater(context, reply, [this, p = request.p()](const auto& answer) {
      answer(daemon_.cluster().ShowParameters(p));
    });
  }

  Unary* OpenPage(Context& context, const Caller& caller, const proto::OpenPageRequest&,
                  proto::OpenPageReply* reply) {
    absl::Status opened;
    if (page_ == nullptr)
      opened = absl::FailedPreconditionError(
          "this coordinator serves no web page; start it with --web HOST:PORT, as in "
          "--web 127.0.0.1:0");
    if (opened.ok()) {
      const Proof proof(authority_, context);
      *reply = page_->Open(caller, authority_.Remember(proof.authorization, proof.certificate));
    }
    Unary* const reactor = context.DefaultReactor();
    reactor->Finish(ToGrpc(opened));
    return reactor;
  }

 private:
  /// What `ask` answers some time, on the loop, is the reply. A client that leaves changes nothing.
  template <typename Reply, typename Ask>
  Unary* AnswerLater(Context& context, Reply* reply, Ask ask) {
    Unary* const reactor = context.DefaultReactor();
    loop_.Post([reactor, reply, ask = std::move(ask)] {
      const std::function<void(absl::StatusOr<Reply>)> answer =
          [reactor, reply](absl::StatusOr<Reply> answer) {
            if (answer.ok()) *reply = *std::move(answer);
            reactor->Finish(ToGrpc(answer.status()));
          };
      ask(answer);
    });
    return reactor;
  }

  /// The same for a call about one job, which may have ended long ago.
  template <typename Request>
  Unary* AnswerOf(Context& context, const Caller& caller, Whose whose, const Request& request,
                  proto::Job* reply, AskOfJob ask) {
    const JobId job{request.job()};
    return AnswerLater(context, reply,
                       [this, job, whose, caller, ask = std::move(ask)](const auto& answer) {
                         daemon_.cluster().Recall(job, [this, job, whose, caller, ask, answer] {
                           const absl::Status may = MayAsk(daemon_, caller, whose, job);
                           if (!may.ok()) return answer(may);
                           ask(job, [caller, answer](absl::StatusOr<proto::Job> shown) {
                             if (shown.ok()) HideFrom(caller, *shown);
                             answer(std::move(shown));
                           });
                         });
                       });
  }

  /// As LongCall.
  template <typename Request>
  Unary* AnswerUnlessLeft(const Caller& caller, Whose whose, const Request& request,
                          proto::Job* reply, LongCall::Ask ask) {
    const auto call = LongCall::Make(loop_, daemon_, caller, reply);
    call->Begin(JobId{request.job()}, whose, std::move(ask));
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
  auto service = std::make_unique<CheckedService<proto::Jobs, JobsCalls>>(
      authority, JobsCalls(loop, daemon, authority, page));
  service->Serve("FindMissingBlobs", Scope::kSubmit, &JobsCalls::FindMissingBlobs);
  service->Serve("UploadBlob", Scope::kSubmit, &JobsCalls::UploadBlob);
  service->Serve("SubmitJob", Scope::kSubmit, &JobsCalls::SubmitJob);
  service->Serve("ListJobs", Scope::kRead, &JobsCalls::ListJobs);
  service->Serve("ShowJob", Scope::kRead, &JobsCalls::ShowJob);
  service->Serve("WaitJob", Scope::kRead, &JobsCalls::WaitJob);
  service->Serve("CancelJob", Scope::kSubmit, &JobsCalls::CancelJob);
  service->Serve("AlterJob", Scope::kSubmit, &JobsCalls::AlterJob);
  service->Serve("CheckpointJob", Scope::kSubmit, &JobsCalls::CheckpointJob);
  service->Serve("SuspendJob", Scope::kSubmit, &JobsCalls::SuspendJob);
  service->Serve("ResumeJob", Scope::kSubmit, &JobsCalls::ResumeJob);
  service->Serve("ReadLog", Scope::kSubmit, &JobsCalls::ReadLog);
  service->Serve("AttachJob", Scope::kSubmit, &JobsCalls::AttachJob);
  service->Serve("FetchFiles", Scope::kSubmit, &JobsCalls::FetchFiles);
  service->Serve("ReadProfile", Scope::kSubmit, &JobsCalls::ReadProfile);
  service->Serve("ListNodes", Scope::kRead, &JobsCalls::ListNodes);
  service->Serve("DrainNode", Scope::kAdmin, &JobsCalls::DrainNode);
  service->Serve("ForgetNode", Scope::kAdmin, &JobsCalls::ForgetNode);
  service->Serve("StoreParameters", Scope::kSubmit, &JobsCalls::StoreParameters);
  service->Serve("ShowParameters", Scope::kRead, &JobsCalls::ShowParameters);
  service->Serve("OpenPage", Scope::kRead, &JobsCalls::OpenPage);
  return service;
}

}  // namespace bspnow::coordinator
