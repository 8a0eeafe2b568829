// What the job table gives the journal, and who waits until that has taken it.
#include <spdlog/spdlog.h>

#include <utility>

#include <absl/strings/str_cat.h>
#include "base/check.h"
#include "coordinator/core/cluster.h"

namespace bspnow::coordinator {

void Cluster::Store(JobTransition transition) {
  const std::uint64_t sequence = transition.sequence;
  BSP_CHECK_OP(sequence, >, last_transition_);  // A restart finds the row that was written last.
  last_transition_ = sequence;
  std::vector<JobId> jobs;
  for (const JobRecord& record : transition.records) jobs.push_back(IdOf(record));
  if (LiveJob* const live = FindLive(jobs.front())) {
    live->storing_since_ns[sequence] = NowNs();
    for (LiveJob::Done& done : live->done)
      if (done.transition == 0) done.transition = sequence;
  }
  ports_.journal.WriteJobs(std::move(transition.records),
                           [this, sequence, jobs = std::move(jobs)](const absl::Status& status) {
                             OnStored(sequence, jobs, status);
                           });
}

void Cluster::OnStored(std::uint64_t sequence, const std::vector<JobId>& jobs,
                       const absl::Status& status) {
  const JobId job = jobs.front();
  std::vector<LiveJob::Done> done;
  if (LiveJob* const live = FindLive(job)) {
    live->storing_since_ns.erase(sequence);
    live->refusal = status;
    done = live->TakeDone(sequence);
  }
  status.ok() ? Perform(table_.OnStored(sequence, Now())) : OnRefused(sequence, jobs, status);
  for (const LiveJob::Done& each : done) each.answer(ShowStored(job, status));
}

// Callers whose submission is not answered yet wait for this row: the table forgets the job, and
// nobody else is to wait for it.
void Cluster::OnRefused(std::uint64_t sequence, const std::vector<JobId>& jobs,
                        const absl::Status& status) {
  spdlog::error("event=journal_failed error=\"{}\"", status.ToString());
  const std::vector<OnSubmitted> submissions = TakeSubmissions(jobs.front());
  std::vector<std::pair<JobId, OnJob>> others;
  for (const JobId job : submissions.empty() ? std::vector<JobId>() : jobs) {
    for (OnJob& answer : FindLive(job)->TakeAnswers()) others.emplace_back(job, std::move(answer));
    for (CheckpointRequest& request : FindLive(job)->TakeRequests())
      if (request.answer) others.emplace_back(job, std::move(request.answer));
  }
  Perform(table_.OnStoreFailed(sequence, std::string(status.message()), Now()));
  for (const OnSubmitted& submitted : submissions)
    submitted(
        absl::ResourceExhaustedError("the coordinator's journal does not take the job; "
                                     "its log says why. Submit it again later"));
  for (const auto& [job, answer] : others) answer(Show(job));
}

std::vector<Cluster::OnSubmitted> Cluster::TakeSubmissions(JobId job) {
  LiveJob* live = FindLive(job);
  return live == nullptr ? std::vector<OnSubmitted>() : std::exchange(live->submissions, {});
}

// What is done to a job before it is accepted is stored after that.
void Cluster::AnswerWhenStored(JobId job, const OnJob& answer) {
  LiveJob* const live = FindLive(job);
  if (live == nullptr) {
    return answer(ShowStored(job, table_.IsUnwritten(job)
                                      ? absl::ResourceExhaustedError("it has refused it so far")
                                      : absl::OkStatus()));
  }
  const auto& storing = live->storing_since_ns;
  if (table_.jobs().at(job).changed) {
    live->done.push_back({.transition = 0, .answer = answer});
  } else if (!storing.empty()) {
    live->done.push_back({.transition = storing.rbegin()->first, .answer = answer});
  } else {
    answer(ShowStored(job, live->refusal));
  }
}

absl::StatusOr<proto::Job> Cluster::ShowStored(JobId job, const absl::Status& stored) const {
  if (stored.ok()) return Show(job);
  return absl::Status(stored.code(),
                      absl::StrCat("done, but a restart of the coordinator forgets it until the "
                                   "disk of its journal takes it: ",
                                   stored.message()));
}

}  // namespace bspnow::coordinator
