// Descriptors and directories of the saved process: files at the same numbers, at the same place
// in them, and no longer than they were.
#ifndef WORKER_RESTORE_OPEN_FILES_H_
#define WORKER_RESTORE_OPEN_FILES_H_

#include "worker/restore/workspace.h"

namespace bspnow::worker::restore {

/// Moves the descriptors that this program uses above all that the saved process had, and raises
/// the limit on their number for that.
void MoveDescriptorsAside(Workspace& workspace);

/// The working directory; if it is not to be found, the one that the worker gave.
void EnterDirectory(const Workspace& workspace);

void OpenFiles(const Workspace& workspace);

/// Closes what is this program's own, and puts the link where the process wants it.
void HandOverDescriptors(const Workspace& workspace);

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_OPEN_FILES_H_
