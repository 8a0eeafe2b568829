// What the kernel keeps of a process beside memory and files.
#ifndef WORKER_RESTORE_PROCESS_STATE_H_
#define WORKER_RESTORE_PROCESS_STATE_H_

#include "worker/restore/workspace.h"

namespace bspnow::worker::restore {

/// So that nothing interrupts the restoring: the image's mask follows.
void BlockSignals();

/// Before the stack is mapped. As much of it as is allowed here.
void SetStackLimit(const ImageState& state);

/// Where code, data, heap, arguments and environment are: brk and /proc depend on it.
void SetMemoryMap(const Image& newest);

/// Handlers, alternate stack, thread id, robust list, rseq, name. Expects the memory in place.
void SetThread(const ImageState& state);

/// Other limits, priority, processors and no_new_privs, as far as is allowed here. From then on
/// there may be no room for anything else.
void SetLimits(const ImageState& state);

/// FS and GS, timers, mask; and there it runs.
[[noreturn]] void Resume(const ImageState& state);

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_PROCESS_STATE_H_
