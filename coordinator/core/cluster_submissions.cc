// Jobs that are submitted: what is checked before the job table takes them, and the jobs that they
// start after.
#include <spdlog/spdlog.h>

#include <utility>

#include <absl/strings/str_cat.h>
#include "coordinator/core/cluster.h"
#include "coordinator/core/jobs/job_spec.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kSubmissionKeyBytesMax = 128;

}  // namespace

struct Cluster::Submitting {
  Caller caller;
  proto::SubmitJobRequest request;
  OnSubmitted answer;
};

void Cluster::Submit(const Caller& caller, proto::SubmitJobRequest request, OnSubmitted answer) {
  if (absl::Status checked = CheckSubmission(caller, request); !checked.ok())
    return answer(checked);
  const auto submitting =
      std::make_shared<Submitting>(Submitting{caller, std::move(request), std::move(answer)});
  if (table_.FindByKey(submitting->request.submission_key()) != nullptr) return Accept(*submitting);
  ports_.find_missing(caller.user, ContentsOf(submitting->request.spec()),
                      [this, submitting](const std::string& sha256) {
                        if (closed_) return submitting->answer(ShuttingDown());
                        if (sha256.empty()) return CheckAfter(submitting, 0);
                        submitting->answer(absl::FailedPreconditionError(
                            absl::StrCat("content ", sha256, " is not here, or not from user ",
                                         submitting->caller.user, "; upload it first")));
                      });
}

absl::Status Cluster::CheckSubmission(const Caller& caller,
                                      const proto::SubmitJobRequest& request) const {
  if (closed_) return ShuttingDown();
  if (request.submission_key().empty() || request.submission_key().size() > kSubmissionKeyBytesMax)
    return absl::InvalidArgumentError(
        absl::StrCat("submission_key must have 1 to ", kSubmissionKeyBytesMax, " bytes"));
  // What it owned the account's next job would own, which is another user's.
  if (const Node* const node = nodes_.WithInPool(caller.user); node != nullptr)
    return absl::PermissionDeniedError(
        absl::StrCat("user ", caller.user, " is an account of node ", node->name,
                     " for programs of jobs (--accounts=pool), and these submit none"));
  if (absl::Status checked = CheckJobSpec(request.spec()); !checked.ok()) return checked;
  if (request.has_array())
    if (absl::Status checked = CheckArray(request.array(), request.spec()); !checked.ok())
      return checked;
  return absl::OkStatus();
}

absl::Status Cluster::CheckQuotas(const proto::SubmitJobRequest& request) const {
  const Quotas& quotas = settings_.quotas;
  const proto::JobSpec& spec = request.spec();
  if (absl::Status room = ports_.has_room(spec.user()); !room.ok()) return room;
  if (quotas.slots != 0 && spec.nprocs() > quotas.slots)
    return absl::ResourceExhaustedError(
        absl::StrCat("-n ", spec.nprocs(), ": jobs of one user have at most ", quotas.slots,
                     " slots at once here (--user-slots of the coordinator)"));
  if (quotas.jobs == 0) return absl::OkStatus();
  const std::uint64_t more = request.has_array() ? ElementsOf(request.array()) : 1;
  std::uint64_t alive = 0;
  for (const auto& [id, job] : table_.jobs())
    if (!HasEnded(job.record) && job.spec().user() == spec.user()) ++alive;
  if (alive + more <= quotas.jobs) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "user ", spec.user(), " has ", alive, " jobs that have not ended, ",
      more > 1 ? absl::StrCat("would get ", more, " more, ") : "", "and may have ", quotas.jobs,
      " (--user-jobs of the coordinator); wait for some, or `bsp cancel` them"));
}

/// Of the jobs that it starts after those from `next` on; they may have ended long ago.
void Cluster::CheckAfter(const std::shared_ptr<Submitting>& submitting, int next) {
  const auto& after = submitting->request.spec().after();
  const auto may = [this, submitting](std::uint64_t job) {
    const absl::Status may =
        closed_ ? ShuttingDown() : CheckOwner(submitting->caller, OwnerOf(JobId{job}), job);
    if (!may.ok())
      submitting->answer(absl::Status(may.code(), absl::StrCat("--after: ", may.message())));
    return may.ok();
  };
  while (next < after.size() && table_.Find(JobId{after[next].job()}) != nullptr)
    if (!may(after[next++].job())) return;
  if (next == after.size()) return Accept(*submitting);
  Recall(JobId{after[next].job()}, [this, submitting, may, next] {
    if (may(submitting->request.spec().after(next).job())) CheckAfter(submitting, next + 1);
  });
}

void Cluster::Accept(Submitting& submitting) {
  const proto::SubmitJobRequest& request = submitting.request;
  const proto::JobSpec& spec = request.spec();
  TellMachine(*submitting.request.mutable_spec());
  if (table_.FindByKey(request.submission_key()) == nullptr)
    if (absl::Status may = CheckQuotas(request); !may.ok()) return submitting.answer(may);
  const auto submission =
      request.has_array()
          ? table_.OnSubmitArray(spec, request.array(), request.submission_key(), Now())
          : table_.OnSubmit(spec, request.submission_key(), Now());
  if (!submission.known) {
    const std::uint64_t jobs = request.has_array() ? ElementsOf(request.array()) : 1;
    for (std::uint64_t i = 0; i < jobs; ++i) {
      const JobId job{Value(submission.job) + i};
      ports_.logs.BeginNew(job);
      AddJob(job, spec, kAttachWithinNs);
    }
    spdlog::info("event=job_submitted job={} jobs={} nprocs={} program=\"{}\" user=\"{}\"",
                 Value(submission.job), jobs, spec.nprocs(), spec.program().name(), spec.user());
  }
  if (submission.accepted) {
    submitting.answer(submission.job);
  } else {
    FindLive(submission.job)->submissions.push_back(std::move(submitting.answer));
  }
  Perform(submission.orders);
}

}  // namespace bspnow::coordinator
