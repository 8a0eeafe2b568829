#include "coordinator/archived_jobs.h"

#include <spdlog/spdlog.h>

#include <cstddef>
#include <utility>

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kReadAtOnce = 1000;

JobId After(JobId job) { return JobId{Value(job) + 1}; }

}  // namespace

void ArchivedJobs::AddTo(KnownJobs jobs, const std::vector<JobId>& kept, Done done) {
  const std::set<JobId> there(kept.begin(), kept.end());
  std::erase_if(users_, [&](const auto& each) { return !there.contains(each.first); });
  const auto search = std::make_shared<Search>(
      Search{.jobs = std::move(jobs), .wanted = {}, .done = std::move(done)});
  for (const JobId job : there)
    if (!search->jobs.contains(job) && !users_.contains(job)) search->wanted.insert(job);
  if (search->wanted.empty()) return Finish(*search);
  Read(search, After(*search->wanted.rbegin()));
}

// Page by page, from the newest that is wanted to the oldest. Once only: it never changes.
void ArchivedJobs::Read(const std::shared_ptr<Search>& search, JobId before) {
  journal_.ReadHistory(before, kReadAtOnce, [this, search](const auto& page) {
    if (!page.ok()) {
      spdlog::warn("event=kept_files_not_counted reason=\"{}\"",
                   std::string(page.status().message()));
      return Finish(*search);
    }
    std::set<JobId>& wanted = search->wanted;
    for (const JobRecord& record : page->records)
      if (wanted.erase(IdOf(record)) != 0) users_[IdOf(record)] = record.job().spec().user();
    const bool last =
        page->size() < kReadAtOnce || wanted.empty() || page->oldest() <= *wanted.begin();
    if (!last) return Read(search, page->oldest());
    for (const JobId job : wanted) users_[job] = "";
    Finish(*search);
  });
}

void ArchivedJobs::Finish(const Search& search) {
  KnownJobs jobs = search.jobs;
  for (const auto& [job, user] : users_)
    if (!user.empty()) jobs.try_emplace(job, KnownJob{.user = user, .has_ended = true});
  search.done(std::move(jobs));
}

}  // namespace bspnow::coordinator
