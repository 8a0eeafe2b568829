// The saved program's vdso: code of the kernel that it ran on, and glibc keeps pointers into it. It
// comes back as plain memory, in which each function is a jump to the present kernel's.
#ifndef WORKER_RESTORE_VDSO_H_
#define WORKER_RESTORE_VDSO_H_

#include "worker/restore/workspace.h"

namespace bspnow::worker::restore {

/// Where the present kernel has no such function, and for getrandom (whose state the kernel would
/// have to know), a system call takes its place. Expects the pages filled and writable.
void PatchVdso(const ImageState& state, const Range& present);

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_VDSO_H_
