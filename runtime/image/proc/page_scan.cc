#include "runtime/image/proc/page_scan.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "base/freestanding/raw_call.h"

namespace bspnow::runtime {
namespace {

/// struct pm_scan_arg of <linux/fs.h>.
struct ScanArguments {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t pieces;
  std::uint64_t pieces_max;
  std::uint64_t pages_max;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_any_of_mask;
  std::uint64_t return_mask;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArguments);
constexpr std::uint64_t kProtectMatching = 1;
constexpr std::uint64_t kLookedAtBytes = 4096;
constexpr std::uint64_t kCheckTracked = 2;  // PM_SCAN_CHECK_WPASYNC: else it is EPERM.

constexpr std::uint64_t kFeatureAsynchronous = std::uint64_t{1} << 15;  // UFFD_FEATURE_WP_ASYNC
constexpr int kMinimalTrackerNumber = 500;  // Out of the way of the program's own descriptors.

}  // namespace

PageScan::PageScan(long pagemap, std::uint64_t start, std::uint64_t end, ScanMode mode)
    : pagemap_(pagemap), at_(start), end_(end), mode_(mode) {}

bool PageScan::Fill() {
  ScanArguments arguments{};
  arguments.size = sizeof arguments;
  arguments.flags = mode_ == ScanMode::kProtect ? kProtectMatching : 0;
  arguments.start = at_;
  arguments.end = end_;
  arguments.pieces = reinterpret_cast<std::uint64_t>(pieces_);
  arguments.pieces_max = kPiecesMax;
  arguments.category_any_of_mask = ScannedPages::kPresent | ScannedPages::kSwapped;
  arguments.return_mask = ScannedPages::kWritten | ScannedPages::kPresent | ScannedPages::kSwapped |
                          ScannedPages::kZeroPage;
  if (mode_ == ScanMode::kOrigin) arguments.return_mask |= ScannedPages::kFile;
  if (mode_ == ScanMode::kGuards)
    arguments.category_any_of_mask = arguments.return_mask = ScannedPages::kGuard;
  const long count = RawCall(SYS_ioctl, pagemap_, kPagemapScan, &arguments);
  failed_ = count < 0 || arguments.walk_end <= at_;
  if (failed_) return false;
  at_ = arguments.walk_end;
  next_ = 0;
  count_ = static_cast<std::size_t>(count);
  return true;
}

bool PageScan::Next(ScannedPages& pages) {
  while (next_ == count_) {
    if (at_ >= end_ || !Fill()) return false;
  }
  pages = pieces_[next_++];
  return true;
}

long OpenWriteTracker() {
  const long opened = RawCall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
  if (opened < 0) return opened;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kFeatureAsynchronous;
  const long answer = RawCall(SYS_ioctl, opened, UFFDIO_API, &api);
  const long moved =
      answer < 0 ? answer : RawCall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, kMinimalTrackerNumber);
  if (answer == 0 && moved < 0) return opened;  // The limit is lower: it stays where it is.
  RawCall(SYS_close, opened);
  return moved;
}

bool IsTracked(long pagemap, std::uint64_t page) {
  ScannedPages piece;
  ScanArguments arguments{};
  arguments.size = sizeof arguments;
  arguments.flags = kCheckTracked;
  arguments.start = page;
  arguments.end = page + kLookedAtBytes;
  arguments.pieces = reinterpret_cast<std::uint64_t>(&piece);
  arguments.pieces_max = 1;
  arguments.category_any_of_mask = ScannedPages::kPresent;
  arguments.return_mask = ScannedPages::kPresent;
  return RawCall(SYS_ioctl, pagemap, kPagemapScan, &arguments) >= 0;
}

bool TrackWrites(int tracker, std::uint64_t start, std::uint64_t end) {
  uffdio_register range{};
  range.range.start = start;
  range.range.len = end - start;
  range.mode = UFFDIO_REGISTER_MODE_WP;
  if (RawCall(SYS_ioctl, tracker, UFFDIO_REGISTER, &range) != 0) return false;
  uffdio_writeprotect unprotect{};
  unprotect.range = range.range;
  return RawCall(SYS_ioctl, tracker, UFFDIO_WRITEPROTECT, &unprotect) == 0;
}

}  // namespace bspnow::runtime
