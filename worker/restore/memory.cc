#include "worker/restore/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/freestanding/raw_call.h"
#include "worker/restore/failure.h"
#include "worker/restore/page_reader.h"

namespace bspnow::worker::restore {
namespace {

constexpr std::uint64_t kStackBytesMax = std::uint64_t{1} << 30;
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

void* Pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

bool Has(const ImageRegion& region, ImageRegion::Flag flag) { return (region.flags & flag) != 0; }

/// The first run that ends after `address`; runs ascend.
const ImageRun* FirstRunAfter(const Table<ImageRun>& runs, std::uint64_t address) {
  std::uint64_t low = 0;
  std::uint64_t high = runs.count;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    const ImageRun& run = runs.first[middle];
    if (run.start + run.bytes > address) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return runs.first + low;
}

/// While it is filled. The vdso is patched after that.
std::uint32_t FillProtection(const ImageRegion& region) {
  const bool is_patched = Has(region, ImageRegion::kVdso);
  return region.protection | (is_patched ? std::uint32_t{PROT_READ | PROT_WRITE} : 0);
}

// The kernel lets a stack grow, but a later mmap would take the room below it: its whole limit is
// mapped at once.
std::uint64_t StackStart(const ImageRegion& stack, std::uint64_t limit, std::uint64_t below) {
  const std::uint64_t bytes = limit < kStackBytesMax ? limit : kStackBytesMax;
  const std::uint64_t room = stack.end - below;
  std::uint64_t start = stack.end - (bytes < room ? bytes : room);
  start = (start + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes;
  return start < stack.start ? start : stack.start;
}

void Map(std::uint64_t start, const ImageRegion& region, std::uint64_t protection) {
  constexpr int kMapDroppable = 0x08;  // Of Linux 6.11; in place of MAP_PRIVATE.
  const bool droppable = Has(region, ImageRegion::kDroppable);
  int flags = (droppable ? kMapDroppable : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  if (Has(region, ImageRegion::kStack)) flags |= MAP_GROWSDOWN | MAP_NORESERVE;
  if (Has(region, ImageRegion::kNoReserve)) flags |= MAP_NORESERVE;
  const std::uint64_t bytes = region.end - start;
  long place = RawCall(SYS_mmap, start, bytes, protection, flags, -1, 0);
  if (place == -EINVAL && droppable) {  // A kernel that has none: it stays as it is.
    flags = (flags & ~kMapDroppable) | MAP_PRIVATE;
    place = RawCall(SYS_mmap, start, bytes, protection, flags, -1, 0);
  }
  if (place == -ENOMEM)
    place = RawCall(SYS_mmap, start, bytes, protection, flags | MAP_NORESERVE, -1, 0);
  if (IsError(place)) {
    Fail("mapping ", bytes, " bytes at 0x", Hex{start}, ": ", CallError{place});
  }
  if (place != static_cast<long>(start)) Fail("the kernel ignores MAP_FIXED_NOREPLACE");
  if (Has(region, ImageRegion::kHugePages)) RawCall(SYS_madvise, start, bytes, MADV_HUGEPAGE);
}

void Protect(const ImageRegion& region, std::uint32_t protection) {
  const long result = RawCall(SYS_mprotect, region.start, region.end - region.start, protection);
  if (result != 0) Fail("protecting memory at 0x", Hex{region.start}, ": ", CallError{result});
}

/// The first piece of `rest`, which may be written to until it is protected. As long as memory may
/// be, it counts towards the process's limit of data, and a file that the process has mapped to be
/// read may be larger than that.
ImageRegion OpenPiece(const ImageRegion& rest) {
  ImageRegion piece = rest;
  if (rest.end - rest.start > kPieceBytes) piece.end = rest.start + kPieceBytes;
  Protect(piece, PROT_READ | PROT_WRITE);
  return piece;
}

void FillText(const Image& newest, const ImageRegion& region, int texts) {
  if (region.text >= newest.header.texts.count) Fail("a region names a text that is not there");
  const ImageText& text = newest.texts().first[region.text];
  Line name;
  name << "text-" << Hash128{text.hash_high, text.hash_low};
  const long file = RawCall(SYS_openat, texts, name.text(), O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) {
    Fail(name.text(), " (of ", newest.String(text.name), "): ", CallError{file});
  }
  // After its end there are zeroes.
  const std::uint64_t left = text.bytes > region.text_offset ? text.bytes - region.text_offset : 0;
  PageReader reader(static_cast<int>(file), name.text());
  ImageRegion rest = region;
  if (left < region.end - region.start) rest.end = region.start + left;
  while (rest.start < rest.end) {
    const ImageRegion piece = OpenPiece(rest);
    const std::uint64_t offset = region.text_offset + (piece.start - region.start);
    reader.Add(Pointer(piece.start), piece.end - piece.start, offset);
    reader.Finish();
    Protect(piece, region.protection);
    rest.start = piece.end;
  }
  RawCall(SYS_close, file);
}

void FillPart(const ImageRun& run, const ImageRegion& region, PageReader& reader) {
  const std::uint64_t start = run.start > region.start ? run.start : region.start;
  const std::uint64_t run_end = run.start + run.bytes;
  const std::uint64_t end = run_end < region.end ? run_end : region.end;
  if (run.kind == ImageRun::kData) {
    reader.Add(Pointer(start), end - start, run.offset + (start - run.start));
    return;
  }
  reader.Finish();  // What an older image of the chain has put there goes.
  const long result = RawCall(SYS_madvise, start, end - start, MADV_DONTNEED);
  if (result != 0) Fail("clearing memory at 0x", Hex{start}, ": ", CallError{result});
}

void FillRegion(const Image& image, const ImageRegion& region, PageReader& reader) {
  const Table<ImageRun> runs = image.runs();
  const ImageRun* run = FirstRunAfter(runs, region.start);
  for (; run != runs.end() && run->start < region.end; ++run) FillPart(*run, region, reader);
}

/// Where it has no data it may be terabytes of PROT_NONE, which are never opened.
void FillProtected(const Image& image, const ImageRegion& region) {
  const Table<ImageRun> runs = image.runs();
  PageReader reader(image.file, "an image");
  ImageRegion rest = region;
  while (rest.start < rest.end) {
    const ImageRun* const run = FirstRunAfter(runs, rest.start);
    if (run == runs.end() || run->start >= rest.end) return;
    if (run->kind == ImageRun::kZero) {
      FillPart(*run, rest, reader);
      rest.start = run->start + run->bytes;
      continue;
    }
    if (run->start > rest.start) rest.start = run->start;
    const ImageRegion piece = OpenPiece(rest);
    FillRegion(image, piece, reader);
    reader.Finish();
    Protect(piece, region.protection);
    rest.start = piece.end;
  }
}

}  // namespace

void MapRegions(const ImageChain& chain, int texts) {
  const Image& newest = chain.newest();
  std::uint64_t below = kImagePageBytes;
  for (const ImageRegion& region : newest.regions()) {
    if (region.end <= region.start) Fail("a region of the image is empty");
    const std::uint64_t start =
        Has(region, ImageRegion::kStack)
            ? StackStart(region, newest.state().limits[RLIMIT_STACK].soft, below)
            : region.start;
    Map(start, region, FillProtection(region));
    if (Has(region, ImageRegion::kText)) FillText(newest, region, texts);
    below = region.end;
  }
}

void FillRuns(const ImageChain& chain) {
  for (int i = 0; i < chain.count; ++i) {
    const Image& image = chain.images[i];
    PageReader reader(image.file, "an image");
    for (const ImageRegion& region : chain.newest().regions()) {
      if (Has(region, ImageRegion::kText)) continue;
      if ((FillProtection(region) & PROT_WRITE) != 0) {
        FillRegion(image, region, reader);
      } else {
        FillProtected(image, region);
      }
    }
    reader.Finish();
  }
}

void ProtectRegions(const ImageChain& chain) {
  struct Advice {
    ImageRegion::Flag flag;
    int advice;
  };
  const Advice advices[] = {{ImageRegion::kDontFork, MADV_DONTFORK},
                            {ImageRegion::kDontDump, MADV_DONTDUMP},
                            {ImageRegion::kWipeOnFork, MADV_WIPEONFORK}};
  for (const ImageRegion& region : chain.newest().regions()) {
    const std::uint64_t bytes = region.end - region.start;
    if (FillProtection(region) != region.protection) Protect(region, region.protection);
    for (const Advice& advice : advices) {
      if (Has(region, advice.flag)) RawCall(SYS_madvise, region.start, bytes, advice.advice);
    }
    if (Has(region, ImageRegion::kLocked)) RawCall(SYS_mlock, region.start, bytes);
  }
}

}  // namespace bspnow::worker::restore
