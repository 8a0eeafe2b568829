#include "coordinator/old_files.h"

#include <sys/stat.h>

#include <algorithm>

namespace bspnow::coordinator {
namespace {

constexpr std::int64_t kSecondsPerDay = 24 * 60 * 60;

/// When the job's directory or its log was last changed.
std::int64_t ChangedUnixS(const StateDirectory& state, JobId job) {
  std::int64_t changed = 0;
  for (const std::string& path : {state.job(job), state.log(job)}) {
    struct stat status;
    if (stat(path.c_str(), &status) == 0)
      changed = std::max<std::int64_t>(changed, status.st_mtime);
  }
  return changed;
}

}  // namespace

RemovedFiles RemoveFilesBefore(const StateDirectory& state, const Uploads& uploads,
                               const NeededFiles& needed, const FileAge& age) {
  RemovedFiles removed{};
  const std::int64_t yesterday = age.now_unix_s - kSecondsPerDay;
  removed.contents = uploads.contents().RemoveUnneeded(needed.contents, yesterday);
  uploads.ForgetBefore(yesterday);
  // Any number may be given to say "for ever".
  const auto days_so_far = static_cast<std::uint64_t>(age.now_unix_s / kSecondsPerDay);
  if (age.keep_days >= days_so_far) return removed;
  const std::int64_t keep_from =
      age.now_unix_s - static_cast<std::int64_t>(age.keep_days) * kSecondsPerDay;
  for (const JobId job : state.jobs()) {
    if (needed.jobs.contains(job) || ChangedUnixS(state, job) >= keep_from) continue;
    if (state.RemoveJob(job).ok()) ++removed.jobs;
  }
  return removed;
}

}  // namespace bspnow::coordinator
