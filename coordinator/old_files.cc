#include "coordinator/old_files.h"

#include <errno.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/unique_fd.h"
#include "files/file_store.h"

namespace bspnow::coordinator {
namespace {

constexpr std::int64_t kSecondsPerHour = 60 * 60;
constexpr std::int64_t kSecondsPerDay = 24 * kSecondsPerHour;
constexpr std::uintmax_t kEntryBytesLeast = files::FileSizes::kEntryBytesLeast;

/// Nothing if it is not there.
std::optional<std::int64_t> ChangedUnixS(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mtime;
}

bool SetChanged(const std::string& path, std::int64_t unix_s) {
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = unix_s, .tv_nsec = 0}};
  return utimensat(AT_FDCWD, path.c_str(), times, 0) == 0;
}

/// When the job's directory or its log was last changed.
std::int64_t ChangedUnixS(const StateDirectory& state, JobId job) {
  return std::max(ChangedUnixS(state.job(job)).value_or(0),
                  ChangedUnixS(state.log(job)).value_or(0));
}

/// What is there keeps its age by the clock's new time. After a jump back what is not of the future
/// was dated by such a clock before.
void Redate(const StateDirectory& state, std::int64_t passed_s, std::int64_t now_unix_s) {
  for (const JobId job : state.jobs()) {
    for (const std::string& path : {state.log(job), state.job(job)}) {
      const auto changed = ChangedUnixS(path);
      if (changed && (passed_s > 0 || *changed > now_unix_s))
        SetChanged(path, std::min(*changed + passed_s, now_unix_s));
    }
  }
}

/// Ages mean something: the clock has gone on since the last look, and has not jumped.
bool ClockWentOn(const StateDirectory& state, std::int64_t now_unix_s) {
  const auto last = ChangedUnixS(state.cleaned());
  if (!last)
    UniqueFd(open(state.cleaned().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const std::int64_t passed_s = now_unix_s - last.value_or(now_unix_s);
  const bool went_on = last && -kSecondsPerHour <= passed_s && passed_s <= kSecondsPerDay;
  if (last && !went_on) {
    spdlog::warn("event=clock_jumped seconds={} reason=\"what jobs left keeps its age\"", passed_s);
    Redate(state, passed_s, now_unix_s);
  }
  if (SetChanged(state.cleaned(), now_unix_s)) return went_on;
  spdlog::error("event=old_files_kept path={} error=\"{}\"", state.cleaned(), strerror(errno));
  return false;
}

/// Files without bytes and directories take room, too: of a disk, inodes.
std::uint64_t BytesBelow(const std::string& directory) {
  std::uint64_t bytes = 0;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const std::uintmax_t more = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    bytes += std::max(gone ? 0 : more, kEntryBytesLeast);
  }
  return bytes;
}

BytesByUser CountContents(const Uploads& uploads, const KnownJobs& jobs) {
  std::map<std::string, std::set<std::string>> contents = uploads.Senders();
  for (const auto& [id, job] : jobs)
    contents[job.user].insert(job.contents.begin(), job.contents.end());
  std::map<std::string, std::uint64_t> bytes_of;
  for (const files::StoredBlob& blob : uploads.contents().List())
    bytes_of[blob.sha256] = blob.bytes;
  BytesByUser bytes;
  for (const auto& [user, sent] : contents)
    for (const std::string& sha256 : sent)
      if (const auto found = bytes_of.find(sha256); found != bytes_of.end())
        bytes[user] += found->second;
  return bytes;
}

/// The oldest first, until each user is within the quota.
int RemoveBeyondQuota(const StateDirectory& state, const Uploads& uploads, const KnownJobs& jobs,
                      const FilesToKeep& keep) {
  int removed = 0;
  BytesByUser bytes = CountKept(state, uploads, jobs);
  for (const auto& [id, job] : jobs) {
    std::uint64_t& kept = bytes[job.user];
    if (kept <= keep.user_bytes || !job.has_ended) continue;
    if (ChangedUnixS(state, id) >= keep.now_unix_s - kSecondsPerHour) continue;
    const std::uint64_t of_job = BytesBelow(state.job(id));
    if (of_job == 0 || !state.RemoveJob(id).ok()) continue;
    kept -= std::min(kept, of_job);
    ++removed;
  }
  return removed;
}

}  // namespace

RemovedFiles RemoveOldFiles(const StateDirectory& state, const Uploads& uploads,
                            const KnownJobs& jobs, const FilesToKeep& keep) {
  RemovedFiles removed{};
  if (!ClockWentOn(state, keep.now_unix_s)) return removed;
  std::set<std::string> needed;
  for (const auto& [id, job] : jobs) needed.insert(job.contents.begin(), job.contents.end());
  const std::int64_t yesterday = keep.now_unix_s - kSecondsPerDay;
  removed.contents = uploads.contents().RemoveUnneeded(needed, yesterday);
  uploads.ForgetBefore(yesterday);
  if (keep.user_bytes != 0) removed.jobs = RemoveBeyondQuota(state, uploads, jobs, keep);
  // Any number may be given to say "for ever".
  const auto days_so_far = static_cast<std::uint64_t>(keep.now_unix_s / kSecondsPerDay);
  if (keep.days >= days_so_far) return removed;
  const std::int64_t keep_from =
      keep.now_unix_s - static_cast<std::int64_t>(keep.days) * kSecondsPerDay;
  for (const JobId job : state.jobs()) {
    const auto known = jobs.find(job);
    if (known != jobs.end() && !known->second.has_ended) continue;
    if (ChangedUnixS(state, job) >= keep_from) continue;
    if (state.RemoveJob(job).ok()) ++removed.jobs;
  }
  return removed;
}

BytesByUser CountKept(const StateDirectory& state, const Uploads& uploads, const KnownJobs& jobs) {
  BytesByUser bytes = CountContents(uploads, jobs);
  for (const auto& [id, job] : jobs)
    if (const std::uint64_t of_job = BytesBelow(state.job(id))) bytes[job.user] += of_job;
  return bytes;
}

}  // namespace bspnow::coordinator
