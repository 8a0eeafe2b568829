// How the worker starts bsp-restore, the program that becomes a saved process. See
// worker/restore/restore_main.cc for what it does.
//
//   bsp-restore --image IMAGE... --texts DIRECTORY [--link FD] [--directory OLD NEW]
//
// The images come oldest first, each with its --image: a path may have any character. Each IMAGE
// and the DIRECTORY are a descriptor number or an absolute path. Standard input, output and error,
// the link, the working directory and the limits are those the program itself would be started
// with. It trusts its images: verify them first (worker/checkpoint/image_file.h). What cannot be
// put back is one line on standard error and exit status kRestoreFailedStatus; the process has then
// sent nothing on its link.
#ifndef WORKER_RESTORE_RESTORE_COMMAND_H_
#define WORKER_RESTORE_RESTORE_COMMAND_H_

#include <string>
#include <vector>

namespace bspnow::worker {

struct RestoreRequest {
  std::vector<std::string> images;  ///< Oldest first: a base 0 image, then each that builds on it.
  std::string texts;                ///< The directory of text-<HASH>.
  int link;                         ///< The descriptor that is the link, as a rule kLinkFd.
  /// Where the job's directory was when the image was taken, and where it is now, perhaps the same:
  /// paths of open files and the working directory are taken below the new one, where files are
  /// those of the barrier already. Both empty: no file is.
  std::string old_directory;
  std::string new_directory;
};

/// argv for Spawn, from the program's name on.
std::vector<std::string> RestoreArguments(const RestoreRequest& request);

}  // namespace bspnow::worker

#endif  // WORKER_RESTORE_RESTORE_COMMAND_H_
