// Step by step, the memory of the saved process: mapped, filled, and protected as it was.
#ifndef WORKER_RESTORE_MEMORY_H_
#define WORKER_RESTORE_MEMORY_H_

#include "worker/restore/workspace.h"

namespace bspnow::worker::restore {

/// Maps every region of the newest image. Texts are read at once, from the files of the directory
/// `texts`; the vdso is writable for now.
void MapRegions(const ImageChain& chain, int texts);

/// The runs of all images, cut to the regions of the newest; later ones win.
void FillRuns(const ImageChain& chain);

/// Final protection and what was advised, when all else is written.
void ProtectRegions(const ImageChain& chain);

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_MEMORY_H_
