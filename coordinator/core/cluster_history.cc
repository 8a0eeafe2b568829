// Jobs of which only the history knows: listed, shown, and waited for by others. That it cannot be
// read does not say that there is no such job.
#include <spdlog/spdlog.h>

#include <string>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>
#include "coordinator/core/cluster.h"
#include "coordinator/core/cluster_view.h"

namespace bspnow::coordinator {
namespace {

absl::Status NoSuchJob(JobId job) {
  return absl::NotFoundError(
      absl::StrCat("there is no job ", Value(job), "; `bsp jobs --all` lists them"));
}

}  // namespace

void Cluster::List(const proto::ListJobsRequest& request, Extract extract, OnList answer) {
  const JobId before{request.before() == 0 ? ~std::uint64_t{0} : request.before()};
  JobPage page(request);
  const Jobs& jobs = table_.jobs();
  for (auto job = jobs.lower_bound(before); job != jobs.begin() && !page.full();) {
    --job;
    if (const JobRecord& record = job->second.record; page.Wants(record.job()))
      page.Add(Completed(record, extract(record.job())));
  }
  if (!request.all() || page.NewerThan(table_.forgotten())) return answer(page.Reply());
  const std::size_t count = page.looked_at();
  ports_.journal.ReadHistory(before, count,
                             [count, extract, page = std::move(page), answer = std::move(answer)](
                                 const absl::StatusOr<HistoryPage>& older) mutable {
                               if (!older.ok()) return answer(older.status());
                               for (const JobRecord& record : older->records)
                                 if (page.Wants(record.job())) page.Add(extract(record.job()));
                               for (const JobId job : older->damaged) page.AddDamaged(job);
                               if (older->size() == count) page.EndAt(older->oldest());
                               answer(page.Reply());
                             });
}

void Cluster::Recall(JobId job, std::function<void()> then) {
  if (table_.Find(job) != nullptr || job > table_.forgotten()) return then();
  ports_.journal.ReadHistory(
      JobId{Value(job) + 1}, 1,
      [this, job, then = std::move(then)](const absl::StatusOr<HistoryPage>& found) {
        recalled_ = RecalledFrom(found, job);
        then();
        recalled_.reset();
      });
}

Cluster::Recalled Cluster::RecalledFrom(const absl::StatusOr<HistoryPage>& found, JobId job) {
  const std::string failure(found.status().message());
  if (std::exchange(history_failure_, failure) != failure && !found.ok())
    spdlog::error("event=history_not_read error=\"{}\"", found.status().ToString());
  if (!found.ok())
    return {job, absl::Status(found.status().code(),
                              absl::StrCat("job ", Value(job),
                                           " ended long ago, if there was one, and the history of "
                                           "these cannot be read: ",
                                           failure))};
  if (!found->damaged.empty() && found->damaged.front() == job)
    return {job,
            absl::DataLossError(
                absl::StrCat("the record of job ", Value(job), " in the history is damaged")),
            true};
  if (!found->records.empty() && IdOf(found->records.front()) == job)
    return {job, found->records.front()};
  return {job, NoSuchJob(job)};
}

absl::StatusOr<const JobRecord*> Cluster::FindJob(JobId job) const {
  const JobRecord* record = table_.Find(job);
  if (record != nullptr) return record;
  if (!recalled_ || recalled_->job != job) return NoSuchJob(job);
  if (!recalled_->record.ok()) return recalled_->record.status();
  return &*recalled_->record;
}

/// Another one starts after it, which ended long ago or was never known.
void Cluster::RecallOutcome(JobId job) {
  Unrecalled& unrecalled = unrecalled_[job];
  if (unrecalled.why.empty()) unrecalled.why = "the history of jobs has not answered yet";
  unrecalled.asked = true;
  Recall(job, [this, job] {
    if (closed_) return;
    const auto record = FindJob(job);
    const bool unread = !record.ok() && !absl::IsNotFound(record.status());
    if (unread && !(recalled_ && recalled_->damaged)) {
      unrecalled_[job] = {.why = history_failure_};
      return;
    }
    unrecalled_.erase(job);
    Perform(table_.OnOutcome(
        job, record.ok() ? (*record)->job().state() : proto::JOB_STATE_UNSPECIFIED, Now()));
  });
}

// What the history does not tell now it may tell later: nobody is cancelled for that.
void Cluster::RecallOutcomesAgain() {
  std::vector<JobId> unasked;
  for (const auto& [job, unrecalled] : unrecalled_)
    if (!unrecalled.asked) unasked.push_back(job);
  for (const JobId job : unasked) RecallOutcome(job);
}

}  // namespace bspnow::coordinator
