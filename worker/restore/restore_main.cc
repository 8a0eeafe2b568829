// bsp-restore: becomes the process whose images it is given ("Checkpoints" in docs/design.md). A
// freestanding program: no libc, no thread-local storage, no relocations, no writable globals.
// The command line is in restore_command.h.
#include <linux/prctl.h>

#include "worker/restore/memory.h"
#include "worker/restore/open_files.h"
#include "worker/restore/options.h"
#include "worker/restore/process_state.h"
#include "worker/restore/vdso.h"
#include "worker/restore/workspace.h"

namespace bspnow::worker::restore {
namespace {

// libbsp, in the restored process, goes on from here.
void TellProcess(const Workspace& workspace) {
  const ImageState& state = workspace.chain.newest().state();
  *reinterpret_cast<std::uint32_t*>(state.restored_address) = 1;
  auto* const own = reinterpret_cast<std::uint64_t*>(state.restorer_address);
  own[0] = workspace.own.start;
  own[1] = workspace.own.bytes();
}

[[noreturn]] void Restore(Workspace* workspace) {
  const ImageChain& chain = workspace->chain;
  const Image& newest = chain.newest();
  const ImageState& state = newest.state();
  UnmapTheRest(*workspace);
  MoveDescriptorsAside(*workspace);
  SetStackLimit(state);
  MapRegions(chain, workspace->options.texts);
  FillRuns(chain);
  PatchVdso(state, workspace->vdso);
  TellProcess(*workspace);
  SetMemoryMap(newest);
  EnterDirectory(*workspace);
  OpenFiles(*workspace);
  HandOverDescriptors(*workspace);
  SetThread(state);
  ProtectRegions(chain);
  SetLimits(state);
  Resume(state);
}

}  // namespace
}  // namespace bspnow::worker::restore

/// `stack` as the kernel leaves it: the number of arguments, then pointers to them.
extern "C" [[noreturn, gnu::visibility("hidden")]] void RestoreMain(std::uintptr_t* stack) {
  using namespace bspnow::worker::restore;
  BlockSignals();
  Options options;
  ReadOptions(static_cast<int>(stack[0]), reinterpret_cast<char**>(stack + 1), options);
  MoveIntoHole(options, &Restore);
}
