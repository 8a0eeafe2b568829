// What nobody needs any more, removed from the state directory.
#ifndef COORDINATOR_OLD_FILES_H_
#define COORDINATOR_OLD_FILES_H_

#include <cstdint>
#include <set>
#include <string>

#include "base/ids.h"
#include "coordinator/state_directory.h"
#include "coordinator/uploads.h"

namespace bspnow::coordinator {

struct NeededFiles {
  std::set<std::string> contents;  ///< Of jobs that wait or run.
  std::set<JobId> jobs;            ///< Those.
};

struct RemovedFiles {
  int contents;
  int jobs;
};

struct FileAge {
  std::int64_t now_unix_s;
  std::uint64_t keep_days;  ///< Logs and files of a job that has ended.
};

/// Removes contents that were not asked for since a day, and what ended jobs left longer ago.
RemovedFiles RemoveFilesBefore(const StateDirectory& state, const Uploads& uploads,
                               const NeededFiles& needed, const FileAge& age);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_OLD_FILES_H_
