// What nobody needs any more, removed from the state directory.
#ifndef COORDINATOR_OLD_FILES_H_
#define COORDINATOR_OLD_FILES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/ids.h"
#include "coordinator/kept_bytes.h"
#include "coordinator/state_directory.h"
#include "coordinator/uploads.h"

namespace bspnow::coordinator {

/// A job of which the coordinator knows more than its number.
struct KnownJob {
  std::string user;
  bool has_ended;
  std::set<std::string> contents{};  ///< That it needs; none if it has ended.
};
using KnownJobs = std::map<JobId, KnownJob>;

struct RemovedFiles {
  int contents;
  int jobs;
};

struct FilesToKeep {
  std::int64_t now_unix_s;
  std::uint64_t days;            ///< Output and files of a job that has ended.
  std::uint64_t user_bytes = 0;  ///< See KeptBytes; 0: no limit.
};

/// Removes contents that were not asked for since a day, and what ended jobs left longer ago; of a
/// user with more than a quota what the oldest ended jobs left, except in the last hour. Nothing if
/// the clock has jumped since the last call: what was kept then is as old as it was at that call,
/// or new. So time counts in which a coordinator looks at least once a day.
RemovedFiles RemoveOldFiles(const StateDirectory& state, const Uploads& uploads,
                            const KnownJobs& jobs, const FilesToKeep& keep);

/// What lies on the disk. Output and files of jobs that are not known are nobody's.
BytesByUser CountKept(const StateDirectory& state, const Uploads& uploads, const KnownJobs& jobs);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_OLD_FILES_H_
