// Directories through which programs of other users pass, to the directory of their job; they see
// nothing else there.
#ifndef WORKER_PASSED_DIRECTORY_H_
#define WORKER_PASSED_DIRECTORY_H_

#include <absl/status/status.h>

#include <string>

namespace bspnow::worker {

/// Makes `path`, and what it stands in, where they are missing: somebody has removed a state
/// directory whose worker runs. What cannot be made is noticed by who needs it.
void MakePassedDirectory(const std::string& path);

/// FAILED_PRECONDITION, with what to do, if somebody else could put other files in the place of
/// jobs' directories and images in `path`: it is everybody's to write to, or, where the worker is
/// root's, another user's.
absl::Status CheckWriters(const std::string& path);

}  // namespace bspnow::worker

#endif  // WORKER_PASSED_DIRECTORY_H_
