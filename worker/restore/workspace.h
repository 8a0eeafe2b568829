// The place where bsp-restore lives while it replaces everything else of its address space: a hole
// of the image's. It consists of
//
//   the kernel's vdso, moved here     stays; old vdso code is patched to jump to it
//   a copy of this program            the rest is unmapped by the restored process
//   its stack
//   WorkspaceHead, the tables of the images
//
// This program needs no relocation, so its copy runs as it is.
#ifndef WORKER_RESTORE_WORKSPACE_H_
#define WORKER_RESTORE_WORKSPACE_H_

#include "worker/restore/image_chain.h"
#include "worker/restore/options.h"

namespace bspnow::worker::restore {

struct Range {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t bytes() const { return end - start; }
};

/// All that the copy of the program needs.
struct Workspace {
  Options options;
  ImageChain chain;
  int standards[3];  ///< Copies of what the worker gave as 0 to 2, out of the way.
  Range vdso_all;    ///< With its data pages.
  Range vdso;        ///< The code alone; empty: this kernel gives none.
  Range own;         ///< What the restored process is to unmap.
};

/// Goes on in `next`, in the copy, on the new stack, with what was read there.
[[noreturn]] void MoveIntoHole(const Options& options, void (*next)(Workspace*));

/// Unmaps what is neither in `own` nor in `vdso_all`.
void UnmapTheRest(const Workspace& workspace);

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_WORKSPACE_H_
