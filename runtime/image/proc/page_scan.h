// The PAGEMAP_SCAN ioctl of Linux 6.7, which the headers of Debian 12 lack: which pages of a range
// are present, and which of them were written; and userfaultfd, which it needs for the latter.
#ifndef RUNTIME_IMAGE_PROC_PAGE_SCAN_H_
#define RUNTIME_IMAGE_PROC_PAGE_SCAN_H_

#include <cstddef>
#include <cstdint>

namespace bspnow::runtime {

/// struct page_region of <linux/fs.h>.
struct ScannedPages {
  enum Category : std::uint64_t {
    kWritten = 1 << 1,
    kFile = 1 << 2,
    kPresent = 1 << 3,
    kSwapped = 1 << 4,
    kZeroPage = 1 << 5,
    kGuard = 1 << 8,  ///< From Linux 6.15 on.
  };
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};

enum class ScanMode {
  kLook,     ///< All but kFile: to know that costs five times the rest.
  kOrigin,   ///< With kFile.
  kProtect,  ///< As kLook; what is found in tracked ranges counts as unwritten from now on, and
             ///< ranges that are not tracked are left out.
  kGuards,   ///< Only pages that MADV_GUARD_INSTALL has closed; other scans show them as swapped.
};

/// Goes over the pages of one range that are in memory or in swap.
class PageScan {
 public:
  /// `pagemap` is /proc/self/pagemap, opened.
  PageScan(long pagemap, std::uint64_t start, std::uint64_t end, ScanMode mode);

  /// False at the end, or if the kernel cannot do it: see failed().
  bool Next(ScannedPages& pages);
  bool failed() const { return failed_; }

 private:
  static constexpr std::size_t kPiecesMax = 256;

  bool Fill();

  long pagemap_;
  std::uint64_t at_;
  std::uint64_t end_;
  ScanMode mode_;
  bool failed_ = false;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  ScannedPages pieces_[kPiecesMax];
};

/// A userfaultfd for asynchronous write protection; negative if there is none.
long OpenWriteTracker();

/// Whether writes to the mapping of this page are being noted. It ends when the mapping is moved,
/// and also for a mapping that a moved one was merged with.
bool IsTracked(long pagemap, std::uint64_t page);

/// Has `tracker` note from now on which pages of the range, one mapping, are written. False if it
/// cannot. All count as written, whatever marks are left of an earlier tracking that has ended.
bool TrackWrites(int tracker, std::uint64_t start, std::uint64_t end);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_PAGE_SCAN_H_
