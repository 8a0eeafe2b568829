#include "worker/restore/workspace.h"

#include <errno.h>
#include <linux/mman.h>
#include <sys/mman.h>

#include "base/freestanding/raw_call.h"
#include "worker/restore/failure.h"
#include "worker/restore/present_maps.h"

// By the linker.
extern "C" [[gnu::visibility("hidden")]] const char __ehdr_start[];
extern "C" [[gnu::visibility("hidden")]] const char _end[];

// restore_entry.S
extern "C" [[noreturn, gnu::visibility("hidden")]] void ContinueOnStack(void* stack_end,
                                                                        void* argument,
                                                                        std::uintptr_t function);

namespace bspnow::worker::restore {
namespace {

constexpr std::uint64_t kStackBytes = std::uint64_t{512} << 10;
constexpr std::uint64_t kLowest = std::uint64_t{1} << 20;
constexpr std::uint64_t kHighest = 0x7ffffffff000;  // Of the 47 bits that every machine has.
// The hole's first TiB is left to a heap that grows, and its upper end to mmap, which fills holes
// from there: the workspace splits nothing that anybody wants whole.
constexpr std::uint64_t kIntoHole = std::uint64_t{1} << 40;
constexpr std::uint64_t kStep = std::uint64_t{1} << 32;
constexpr int kTries = 64;

constexpr std::uint64_t PageUp(std::uint64_t bytes) {
  return (bytes + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes;
}

std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

/// The largest range that no region of the image touches; the table is read in pieces.
Range LargestHole(const Image& image) {
  Range largest{0, 0};
  std::uint64_t free_from = kLowest;
  const auto consider = [&largest, &free_from](std::uint64_t end) {
    if (end > free_from && end - free_from > largest.bytes()) largest = {free_from, end};
  };
  constexpr std::uint64_t kAtOnce = 64;
  ImageRegion regions[kAtOnce];
  for (std::uint64_t i = 0; i < image.header.regions.count; i += kAtOnce) {
    std::uint64_t count = image.header.regions.count - i;
    if (count > kAtOnce) count = kAtOnce;
    const long wanted = static_cast<long>(count * sizeof(ImageRegion));
    const long n = RawCall(SYS_pread64, image.file, regions, wanted,
                           image.header.regions.offset + i * sizeof(ImageRegion));
    if (n != wanted) Fail("the regions of the image of pid ", image.header.pid, " are cut off");
    for (std::uint64_t k = 0; k < count; ++k) {
      consider(regions[k].start);
      if (regions[k].end > free_from) free_from = regions[k].end;
    }
  }
  consider(kHighest);
  return largest;
}

// What this process has mapped may be in the way here and there; it is small.
std::byte* MapInHole(const Range& hole, std::uint64_t bytes) {
  const std::uint64_t room = hole.bytes() > bytes ? hole.bytes() - bytes : 0;
  const std::uint64_t into = kIntoHole < room / 2 ? kIntoHole : room / 2;
  std::uint64_t address = (hole.start + into) / kImagePageBytes * kImagePageBytes;
  for (int i = 0; i < kTries && address + bytes <= hole.end; ++i, address += kStep) {
    const long place = RawCall(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (place == static_cast<long>(address)) return reinterpret_cast<std::byte*>(address);
    if (place != -EEXIST && IsError(place)) Fail("mapping ", bytes, " bytes: ", CallError{place});
  }
  Fail("found no room of ", bytes, " bytes beside the image's regions");
}

// The pieces keep their distances, for the code reads its data relative to itself. A kernel that
// has sealed them leaves them where they are: so do we, and mapping the image finds out whether
// they are in the way.
void MoveVdso(const PresentVdso& present, std::uint64_t target, Workspace& workspace) {
  if (present.count == 0) return;
  const std::uint64_t from = present.pieces[0].range.start;
  std::uint64_t distance = target - from;
  for (int i = 0; i < present.count; ++i) {
    const Range& piece = present.pieces[i].range;
    const long moved = RawCall(SYS_mremap, piece.start, piece.bytes(), piece.bytes(),
                               MREMAP_MAYMOVE | MREMAP_FIXED, piece.start + distance);
    if (IsError(moved) && i == 0) distance = 0;
    if (distance == 0) break;
    if (IsError(moved)) Fail("moving the vdso: ", CallError{moved});
  }
  for (int i = 0; i < present.count; ++i) {
    Range range = present.pieces[i].range;
    range.start += distance;
    range.end += distance;
    if (present.pieces[i].is_code) workspace.vdso = range;
    if (i == 0) workspace.vdso_all = range;
    workspace.vdso_all.end = range.end;
  }
}

}  // namespace

void MoveIntoHole(const Options& options, void (*next)(Workspace*)) {
  ImageChain chain;
  OpenChain(options, chain);
  const PresentVdso vdso = FindVdso();
  const std::uint64_t vdso_bytes =
      vdso.count == 0 ? 0 : vdso.pieces[vdso.count - 1].range.end - vdso.pieces[0].range.start;
  const std::uint64_t code_bytes = PageUp(Address(_end) - Address(__ehdr_start));
  const std::uint64_t head_bytes = PageUp(sizeof(Workspace));
  const std::uint64_t own_bytes = code_bytes + kStackBytes + head_bytes + FrontBytes(chain);
  std::byte* const place = MapInHole(LargestHole(chain.newest()), vdso_bytes + own_bytes);
  std::byte* const code = place + vdso_bytes;
  std::byte* const head = code + code_bytes + kStackBytes;
  auto* const workspace = reinterpret_cast<Workspace*>(head);
  workspace->options = options;
  workspace->chain = chain;
  workspace->own = {Address(code), Address(code) + own_bytes};
  MoveVdso(vdso, Address(place), *workspace);
  LoadFronts(workspace->chain, head + head_bytes);
  __builtin_memcpy(code, __ehdr_start, Address(_end) - Address(__ehdr_start));
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(next) - Address(__ehdr_start);
  ContinueOnStack(head, workspace, Address(code) + offset);
}

void UnmapTheRest(const Workspace& workspace) {
  const Range& own = workspace.own;
  const Range& vdso = workspace.vdso_all;
  const bool vdso_first = vdso.start < own.start;
  const Range& lower = vdso_first ? vdso : own;
  const Range& upper = vdso_first ? own : vdso;
  const bool alone = vdso.bytes() == 0;
  const Range gaps[3] = {{0, alone ? own.start : lower.start},
                         {alone ? own.end : lower.end, alone ? kHighest : upper.start},
                         {alone ? kHighest : upper.end, kHighest}};
  for (const Range& gap : gaps) {
    if (gap.bytes() == 0) continue;
    const long result = RawCall(SYS_munmap, gap.start, gap.bytes());
    if (result != 0) Fail("unmapping from 0x", Hex{gap.start}, ": ", CallError{result});
  }
}

}  // namespace bspnow::worker::restore
