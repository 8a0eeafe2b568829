// Jobs that start after others have ended. What they wait for is in their spec; which of these jobs
// have ended is found out anew after a restart, from the jobs here and from the history.
#include <absl/strings/str_cat.h>
#include <signal.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "coordinator/core/jobs/job_table_event.h"

namespace bspnow::coordinator {
namespace {

bool MayFail(const proto::JobSpec& spec, JobId job) {
  return std::any_of(spec.after().begin(), spec.after().end(), [job](const proto::AfterJob& each) {
    return each.any() && each.job() == Value(job);
  });
}

std::string WhyNever(JobId job, proto::JobState state) {
  if (state == proto::JOB_STATE_UNSPECIFIED)
    return absl::StrCat("was to start after job ", Value(job), ", of which nothing is known now");
  return absl::StrCat("was to start after the success of job ", Value(job), ", which ",
                      state == proto::CANCELLED ? "was cancelled" : "failed");
}

}  // namespace

std::string AfterText(const std::set<JobId>& jobs) {
  constexpr std::size_t kShown = 3;
  std::string text = jobs.size() == 1 ? "after job " : "after jobs ";
  std::size_t count = 0;
  for (const JobId job : jobs) {
    if (++count > kShown) return absl::StrCat(text, " and ", jobs.size() - kShown, " more");
    absl::StrAppend(&text, count == 1 ? "" : ", ", Value(job));
  }
  return text;
}

/// It has not run yet.
void JobTable::Event::AwaitOthers(Job& entry) {
  std::vector<std::pair<JobId, proto::JobState>> over;
  for (const proto::AfterJob& after : entry.spec().after()) {
    const JobId job{after.job()};
    entry.awaits.insert(job);
    const auto found = table_.jobs_.find(job);
    const bool known = found != table_.jobs_.end();
    if (known && HasEnded(found->second.record)) {
      over.emplace_back(job, found->second.state());
      continue;  // Its end is known, and is not told again.
    }
    std::vector<JobId>& dependents = table_.dependents_[job];
    dependents.push_back(entry.id());
    if (!known && dependents.size() == 1) orders_.recalled.push_back(job);
  }
  for (const auto& [job, state] : over) OnOutcome(entry, job, state);
}

void JobTable::Event::TellDependents(JobId job, proto::JobState state) {
  const auto dependents = table_.dependents_.extract(job);
  if (dependents.empty()) return;
  for (const JobId id : dependents.mapped())
    if (Job* entry = Find(id)) OnOutcome(*entry, job, state);
}

void JobTable::Event::OnOutcome(Job& entry, JobId job, proto::JobState state) {
  if (entry.awaits.erase(job) == 0) return;
  const bool known = state != proto::JOB_STATE_UNSPECIFIED || job <= table_.forgotten_;
  const bool met = MayFail(entry.spec(), job) ? known : state == proto::SUCCEEDED;
  if (!met) return Cancel(entry, SIGTERM, WhyNever(job, state));
  if (entry.state() != proto::WAITING) return;  // Suspended: it waits once it is resumed.
  entry.shown().clear_reason();
  if (entry.waits()) Enqueue(entry);
}

JobOrders JobTable::OnOutcome(JobId job, proto::JobState state, const Moment& at) {
  Event event(*this, at);
  event.TellDependents(job, state);
  return event.Take();
}

}  // namespace bspnow::coordinator
