// Programs write as much as their account may. Before one has filled the disk that the worker, its
// images and all other jobs of the node live on, the job ends whose files take most of it.
#ifndef WORKER_JOB_DISK_WATCH_H_
#define WORKER_JOB_DISK_WATCH_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/disk_room.h"
#include "base/ids.h"
#include "worker/host/account.h"

namespace bspnow::worker {

/// Where the files of one job are looked for.
struct JobFilesHere {
  JobId job;
  Epoch epoch;
  std::string directory;
  std::vector<pid_t> processes;
  std::optional<Account> account{};  ///< As whom they run; none: as we do.
};

struct DiskUse {
  std::uint64_t bytes;
  std::uint64_t inodes;  ///< Files and directories.
};

/// What they take on the disk: all that lies in the directory, and what these processes hold open
/// though it has no name any more. A directory of very many files is not looked through to its end.
DiskUse UseOfDisk(const JobFilesHere& files);

enum class Lacking { kBytes, kInodes };

struct FilledBy {
  JobFilesHere files;
  DiskUse use;
  Lacking lacking;
};

/// The job that has to end so that there is room again: of those whose files take more than the
/// reserve of what is lacking, the one with most. Nothing while there is room. Reads the disk.
std::optional<FilledBy> WhoFills(const DiskRoom& room, const std::vector<JobFilesHere>& jobs);

}  // namespace bspnow::worker

#endif  // WORKER_JOB_DISK_WATCH_H_
