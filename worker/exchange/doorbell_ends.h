// The doorbell of a job on this node (WorkerBell in runtime/link/link.h): a pair of connected
// sockets. The processes hold one end, the worker the other, so that nothing that a process does
// with its descriptor (flags, reads, a shutdown) makes the worker wait. And beside it the mailbox
// (LaneHanding), which is such a pair, too.
#ifndef WORKER_EXCHANGE_DOORBELL_ENDS_H_
#define WORKER_EXCHANGE_DOORBELL_ENDS_H_

#include <absl/status/statusor.h>

#include "base/unique_fd.h"

namespace bspnow::worker {

struct DoorbellEnds {
  UniqueFd worker;
  UniqueFd processes;
};

absl::StatusOr<DoorbellEnds> MakeDoorbell();

struct MailboxEnds {
  UniqueFd worker;
  UniqueFd processes;
};

absl::StatusOr<MailboxEnds> MakeMailbox();

/// Takes what has been rung. False: nobody can ring any more, the descriptor stays readable.
bool AnswerDoorbell(int worker_end);

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_DOORBELL_ENDS_H_
