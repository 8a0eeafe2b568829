#include "runtime/image/proc/changed_pages.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/freestanding/raw_call.h"
#include "runtime/image/proc/page_scan.h"

namespace bspnow::runtime {
namespace {

constexpr char kPagemap[] = "/proc/self/pagemap";
// Its entries: present or in swap; a page of the file, not a private copy.
constexpr std::uint64_t kEntryThere = std::uint64_t{3} << 62;
constexpr std::uint64_t kEntryFile = std::uint64_t{1} << 61;

constexpr std::uint64_t kTrialBytes = 2 * kImagePageBytes;

/// Two pages, of which only the first is used.
class TrialPages {
 public:
  TrialPages() : at_(RawCall(SYS_mmap, 0, kTrialBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0)) {}
  TrialPages(const TrialPages&) = delete;
  TrialPages& operator=(const TrialPages&) = delete;
  ~TrialPages() { RawCall(SYS_munmap, at_, kTrialBytes); }

  void Write() { *reinterpret_cast<volatile char*>(at_) = 1; }

  bool Track(int tracker) const { return TrackWrites(tracker, start(), start() + kTrialBytes); }

  bool Written(ScanMode mode) const {
    PageScan scan(pagemap_.number(), start(), start() + kTrialBytes, mode);
    ScannedPages pages{};
    return scan.Next(pages) && pages.start == start() && pages.end == start() + kImagePageBytes &&
           (pages.categories & ScannedPages::kWritten) != 0;
  }

  /// Somewhere else.
  bool Move() {
    const long there = RawCall(SYS_mmap, 0, kTrialBytes, PROT_NONE, kFlags, -1, 0);
    const long moved =
        RawCall(SYS_mremap, at_, kTrialBytes, kTrialBytes, MREMAP_MAYMOVE | MREMAP_FIXED, there);
    if (moved != there) return false;
    at_ = moved;
    return true;
  }

 private:
  static constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  std::uint64_t start() const { return static_cast<std::uint64_t>(at_); }

  long at_;
  RawFile pagemap_{kPagemap};
};

// A write must be seen, also one after a scan that protects. A mapping that was moved is no longer
// tracked and must count as written: some kernels leave it protected, and miss its writes.
bool TracksWrites(int tracker) {
  TrialPages pages;
  pages.Write();
  bool works =
      pages.Track(tracker) && pages.Written(ScanMode::kProtect) && !pages.Written(ScanMode::kLook);
  pages.Write();
  works = works && pages.Written(ScanMode::kProtect) && !pages.Written(ScanMode::kLook);
  return works && pages.Move() && pages.Track(tracker) && pages.Written(ScanMode::kLook);
}

class PageFinder {
 public:
  PageFinder(ImageWork& work, PagesWanted wanted) : work_(work), wanted_(wanted) {}

  bool ready() const { return pagemap_.is_open() && memory_.is_open(); }

  void Find(Mapping& mapping) {
    ImageRegion& region = mapping.region;
    if (mapping.kind == Mapping::kFile) {
      FindInFile(mapping);
    } else if (!Scan(region)) {
      if (mapping.resident == 0) return AddZero(region.start, region.end);
      ReadEntries(region.start, region.end, [this](std::uint64_t page, std::uint64_t entry) {
        Extend(page, (entry & kEntryThere) != 0 ? ImageRun::kData : ImageRun::kZero);
      });
    }
  }

 private:
  void Add(std::uint64_t start, std::uint64_t end, ImageRun::Kind kind) {
    if (start == end) return;
    work_.ranges.Add({.start = start, .end = end, .kind = kind});
  }

  // In an image without a base all is zero to begin with.
  void AddZero(std::uint64_t start, std::uint64_t end) {
    if (wanted_ == PagesWanted::kChanged) Add(start, end, ImageRun::kZero);
  }

  // Changes in it are not tracked: its text is shared, and the rest small, as a rule.
  void FindInFile(Mapping& mapping) {
    ImageRegion& region = mapping.region;
    const bool is_text = (region.flags & ImageRegion::kVdso) == 0 &&
                         (region.protection & PROT_WRITE) == 0 && AsInFile(region);
    const std::uint64_t end = ReadableEnd(region);
    mapping.readable_end = end;
    if (is_text && end > region.start) {
      region.flags |= ImageRegion::kText;
    } else {
      Add(region.start, end, ImageRun::kData);
      AddZero(end, region.end);
    }
  }

  bool AsInFile(const ImageRegion& region) {
    PageScan scan(pagemap_.number(), region.start, region.end, ScanMode::kOrigin);
    ScannedPages pages;
    while (scan.Next(pages)) {
      if ((pages.categories & ScannedPages::kFile) == 0) return false;
    }
    bool as_in_file = true;
    if (scan.failed()) {
      ReadEntries(region.start, region.end, [&](std::uint64_t, std::uint64_t entry) {
        if ((entry & kEntryThere) != 0 && (entry & kEntryFile) == 0) as_in_file = false;
      });
    }
    return as_in_file;
  }

  /// The end of the last page of the file: a look at what follows it would be a SIGBUS.
  std::uint64_t ReadableEnd(const ImageRegion& region) {
    std::uint64_t low = region.start;  // All pages below are readable.
    std::uint64_t high = region.end;   // No page from here on is.
    while (low < high) {
      // The last page first, for mostly all are readable.
      const std::uint64_t pages = (high - low) / kImagePageBytes;
      const std::uint64_t page =
          high == region.end ? high - kImagePageBytes : low + pages / 2 * kImagePageBytes;
      if (Readable(page)) {
        low = page + kImagePageBytes;
      } else {
        high = page;
      }
    }
    return low;
  }

  bool Readable(std::uint64_t page) {
    char byte;
    return RawCall(SYS_pread64, memory_.number(), &byte, 1, page) == 1;
  }

  /// But for guards, which the writer could not read; they look like pages that are swapped out.
  void AddData(const ScannedPages& pages) {
    std::uint64_t at = pages.start;
    if ((pages.categories & ScannedPages::kSwapped) != 0) {
      PageScan scan(pagemap_.number(), pages.start, pages.end, ScanMode::kGuards);
      for (ScannedPages guards; scan.Next(guards); at = guards.end) {
        Add(at, guards.start, ImageRun::kData);
        AddZero(guards.start, guards.end);
      }
    }
    Add(at, pages.end, ImageRun::kData);
  }

  bool Scan(const ImageRegion& region) {
    const int tracker = work_.tracker;
    const bool was_tracked = tracker >= 0 && IsTracked(pagemap_.number(), region.start);
    const bool tracked =
        was_tracked || (tracker >= 0 && TrackWrites(tracker, region.start, region.end));
    const bool all = wanted_ == PagesWanted::kAll || !was_tracked;
    const std::size_t ranges_before = work_.ranges.size();
    PageScan scan(pagemap_.number(), region.start, region.end,
                  tracked ? ScanMode::kProtect : ScanMode::kLook);
    std::uint64_t at = region.start;
    ScannedPages pages;
    while (scan.Next(pages)) {
      AddZero(at, pages.start);
      at = pages.end;
      if ((pages.categories & ScannedPages::kZeroPage) != 0) {
        AddZero(pages.start, pages.end);
      } else if (all || (pages.categories & ScannedPages::kWritten) != 0) {
        AddData(pages);
      }
    }
    AddZero(at, region.end);
    if (!scan.failed()) return true;
    work_.ranges.Truncate(ranges_before);
    return false;
  }

  // Kernels before 6.7: 8 bytes a page.
  template <typename EachPage>
  void ReadEntries(std::uint64_t start, std::uint64_t end, EachPage each_page) {
    std::uint64_t entries[512];
    for (std::uint64_t at = start; at < end;) {
      const std::uint64_t count = std::min<std::uint64_t>((end - at) / kImagePageBytes, 512);
      const long bytes =
          RawCall(SYS_pread64, pagemap_.number(), entries, count * 8, at / kImagePageBytes * 8);
      const std::uint64_t known = bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes) / 8;
      for (std::uint64_t i = 0; i < count; ++i, at += kImagePageBytes) {
        each_page(at, i < known ? entries[i] : kEntryThere);
      }
    }
  }

  void Extend(std::uint64_t page, ImageRun::Kind kind) {
    if (kind == ImageRun::kZero && wanted_ == PagesWanted::kAll) return;
    if (work_.ranges.size() > 0 && work_.ranges.back().end == page &&
        work_.ranges.back().kind == kind) {
      work_.ranges.back().end += kImagePageBytes;
    } else {
      Add(page, page + kImagePageBytes, kind);
    }
  }

  ImageWork& work_;
  PagesWanted wanted_;
  RawFile pagemap_{kPagemap};
  RawFile memory_{"/proc/self/mem"};
};

}  // namespace

int OpenTracker() {
  const long tracker = OpenWriteTracker();
  if (tracker < 0) return -1;
  if (TracksWrites(static_cast<int>(tracker))) return static_cast<int>(tracker);
  RawCall(SYS_close, tracker);
  return -1;
}

bool IsTracker(int tracker) {
  if (tracker < 0) return false;
  Reason path;
  path << "/proc/self/fd/" << static_cast<std::uint64_t>(tracker);
  char target[64];
  const long bytes = RawCall(SYS_readlinkat, AT_FDCWD, path.text(), target, sizeof target);
  return bytes > 0 &&
         TextPiece{target, static_cast<std::size_t>(bytes)}.StartsWith("anon_inode:[userfaultfd]");
}

bool FindPages(ImageWork& work, PagesWanted wanted) {
  PageFinder finder(work, wanted);
  if (!finder.ready()) {
    work.reason << "cannot read /proc/self/pagemap and /proc/self/mem";
    return false;
  }
  for (Mapping& mapping : work.mappings) finder.Find(mapping);
  return true;
}

}  // namespace bspnow::runtime
