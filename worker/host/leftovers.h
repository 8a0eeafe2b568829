// What the programs of an account leave on a node outside of their job's directory, and the next
// job of that account would find.
#ifndef WORKER_HOST_LEFTOVERS_H_
#define WORKER_HOST_LEFTOVERS_H_

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "worker/host/account.h"

namespace bspnow::worker {

/// Where everybody may leave files: /tmp, /var/tmp, locks, and shared memory and queues that have
/// names.
std::vector<std::string> CommonDirectories();

/// Removes the account's files in these directories, and in others' directories there to which it
/// may write, but follows no link and crosses no mount; and its shared memory, semaphores and
/// queues of System V. Waits a little for the last of its processes to die; if one lives on,
/// everything stays, and FailedPrecondition says so. Another error: something of System V stays.
absl::Status RemoveLeftovers(const Account& account, const std::vector<std::string>& directories);

}  // namespace bspnow::worker

#endif  // WORKER_HOST_LEFTOVERS_H_
