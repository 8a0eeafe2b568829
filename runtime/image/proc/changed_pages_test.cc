#include "runtime/image/proc/changed_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstring>

#include "base/mapped_region.h"
#include "base/unique_fd.h"
#include "runtime/testing/saved_process.h"

namespace bspnow::runtime {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
constexpr bool kMayHaveShadow = true;  // Clang shows it in another way.
#else
constexpr bool kMayHaveShadow = false;
#endif

// Linux 6.`least`, or a later one.
bool IsFromSix(int least) {
  utsname kernel;
  int major = 0;
  int minor = 0;
  return uname(&kernel) == 0 && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= least));
}

// By its number: that images are whole may also be a defect.
bool TracksWrites() { return IsFromSix(7); }

TEST(ChangedPagesTest, IncrementalImageHoldsOnlyWhatChanged) {
  InProcess([](SavedProcess& process) {
    FilledPages pages;
    const LinkImageReport full = process.Save(1, 0);
    pages.Touch(10);
    pages.Touch(500);
    const ReadImage image = process.SaveAndRead(2, 1);
    if (!TracksWrites()) GTEST_SKIP() << "Linux before 6.7 does not tell which pages changed";
    ASSERT_NE(image.header().base, 0u);
    EXPECT_EQ(image.header().base, 1u);
    EXPECT_TRUE(image.Holds(pages.at(10), kImagePageBytes));
    EXPECT_TRUE(image.Holds(pages.at(500), kImagePageBytes));
    EXPECT_EQ(image.RunOf(pages.at(11)), nullptr);
    EXPECT_EQ(image.RunOf(pages.at(499)), nullptr);
    EXPECT_LT(image.file_bytes(), full.file_bytes / 2);
  });
}

TEST(ChangedPagesTest, ChainOfImagesFollowsEachChange) {
  InProcess([](SavedProcess& process) {
    FilledPages pages;
    process.SaveAndRead(1, 0);
    for (std::uint64_t checkpoint = 2; checkpoint < 6; ++checkpoint) {
      pages.Touch(checkpoint);
      const ReadImage image = process.SaveAndRead(checkpoint, checkpoint - 1);
      EXPECT_TRUE(image.Holds(pages.at(checkpoint), kImagePageBytes));
      if (image.header().base != 0) {
        EXPECT_EQ(image.RunOf(pages.at(checkpoint - 1)), nullptr);
      }
    }
  });
}

TEST(ChangedPagesTest, UnknownBaseMeansAFullImage) {
  InProcess([](SavedProcess& process) {
    const FilledPages pages;
    process.SaveAndRead(1, 0);
    process.SaveAndRead(2, 0);
    const ReadImage image = process.SaveAndRead(3, 1);
    EXPECT_EQ(image.header().base, 0u);
    EXPECT_TRUE(image.Holds(pages.at(0), kBytes));
  });
}

TEST(ChangedPagesTest, ClosedTrackerMeansAFullImage) {
  InProcess([](SavedProcess& process) {
    const FilledPages pages;
    process.SaveAndRead(1, 0);
    for (int fd = 100; fd < 1000; ++fd) UniqueFd(fd).Reset();
    const ReadImage image = process.SaveAndRead(2, 1);
    EXPECT_EQ(image.header().base, 0u);
    EXPECT_TRUE(image.Holds(pages.at(0), kBytes));
  });
}

TEST(ChangedPagesTest, DiscardedPagesBecomeZeroRuns) {
  InProcess([](SavedProcess& process) {
    const FilledPages pages;
    process.SaveAndRead(1, 0);
    madvise(pages.at(100), 200 * kImagePageBytes, MADV_DONTNEED);
    const ReadImage image = process.SaveAndRead(2, 1);
    if (!TracksWrites()) GTEST_SKIP() << "Linux before 6.7 does not tell which pages changed";
    ASSERT_NE(image.header().base, 0u);
    for (const std::size_t page : {100u, 200u, 299u}) {
      const ImageRun* const run = image.RunOf(pages.at(page));
      ASSERT_NE(run, nullptr) << page;
      EXPECT_EQ(run->kind, std::uint32_t{ImageRun::kZero});
    }
    EXPECT_EQ(image.RunOf(pages.at(99)), nullptr);
    EXPECT_EQ(image.RunOf(pages.at(300)), nullptr);
  });
}

TEST(ChangedPagesTest, ZeroedPagesBecomeZeroRuns) {
  InProcess([](SavedProcess& process) {
    const FilledPages pages;
    process.SaveAndRead(1, 0);
    memset(pages.at(5), 0, kImagePageBytes);
    const ReadImage image = process.SaveAndRead(2, 1);
    if (!TracksWrites()) GTEST_SKIP() << "Linux before 6.7 does not tell which pages changed";
    ASSERT_NE(image.header().base, 0u);
    ASSERT_NE(image.RunOf(pages.at(5)), nullptr);
    EXPECT_EQ(image.RunOf(pages.at(5))->kind, std::uint32_t{ImageRun::kZero});
  });
}

TEST(ChangedPagesTest, WhatIsMappedInPlaceOfSomethingElseIsWhole) {
  InProcess([](SavedProcess& process) {
    const FilledPages pages;
    process.SaveAndRead(1, 0);
    void* const at = mmap(pages.at(100), 300 * kImagePageBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ASSERT_EQ(at, pages.at(100));
    memset(pages.at(150), 9, 100 * kImagePageBytes);
    const ReadImage image = process.SaveAndRead(2, 1);
    if (!TracksWrites()) GTEST_SKIP() << "Linux before 6.7 does not tell which pages changed";
    ASSERT_NE(image.header().base, 0u);
    EXPECT_TRUE(image.Holds(pages.at(150), 100 * kImagePageBytes));
    for (const std::size_t page : {100u, 149u, 250u, 399u}) {
      const ImageRun* const run = image.RunOf(pages.at(page));
      ASSERT_NE(run, nullptr) << page;
      EXPECT_EQ(run->kind, std::uint32_t{ImageRun::kZero}) << page;
    }
    EXPECT_EQ(image.RunOf(pages.at(99)), nullptr);
  });
}

TEST(ChangedPagesTest, WhatMovedIsWhole) {
  InProcess([](SavedProcess& process) {
    MappedRegion region = MappedRegion::Private(100 * kImagePageBytes);
    memset(region.data(), 3, region.bytes());
    MappedRegion blocker = MappedRegion::Private(kImagePageBytes);
    process.SaveAndRead(1, 0);
    ASSERT_TRUE(region.Resize(10 * kBytes));
    const ReadImage image = process.SaveAndRead(2, 1);
    EXPECT_TRUE(image.Holds(region.data(), 100 * kImagePageBytes));
  });
}

// Linux before 6.7, and containers that forbid userfaultfd.
TEST(ChangedPagesTest, WithoutScanAndTrackerImagesAreWhole) {
  if (kMayHaveShadow) GTEST_SKIP() << "its terabytes of shadow take minutes without the scan";
  InProcess([](SavedProcess& process) {
    constexpr std::uint32_t kPagemapScan = 0xc0606610;
    Deny({.number = SYS_ioctl, .argument = 1, .value = kPagemapScan, .error = ENOTTY});
    const int flags = O_CLOEXEC | UFFD_USER_MODE_ONLY;
    Deny({.number = SYS_userfaultfd, .argument = 0, .value = flags, .error = EPERM});
    const FilledPages pages;
    madvise(pages.at(300), 100 * kImagePageBytes, MADV_DONTNEED);
    for (const std::uint64_t checkpoint : {1u, 2u}) {
      const ReadImage image = process.SaveAndRead(checkpoint, checkpoint - 1);
      EXPECT_EQ(image.header().base, 0u);
      EXPECT_TRUE(image.Holds(pages.at(0), 300 * kImagePageBytes));
      EXPECT_TRUE(image.Holds(pages.at(400), 600 * kImagePageBytes));
      EXPECT_EQ(image.RunOf(pages.at(350)), nullptr);
      const auto code = reinterpret_cast<const void*>(&InProcess);
      EXPECT_TRUE(image.RegionOf(code)->flags & ImageRegion::kText);
    }
  });
}

TEST(ChangedPagesTest, WithoutATrackerImagesAreWhole) {
  InProcess([](SavedProcess& process) {
    const int flags = O_CLOEXEC | UFFD_USER_MODE_ONLY;
    Deny({.number = SYS_userfaultfd, .argument = 0, .value = flags, .error = EPERM});
    const FilledPages pages;
    process.SaveAndRead(1, 0);
    const ReadImage image = process.SaveAndRead(2, 1);
    EXPECT_EQ(image.header().base, 0u);
    EXPECT_TRUE(image.Holds(pages.at(0), kBytes));
  });
}

// There from Linux 6.13 on, and told from swapped pages from 6.15 on.
TEST(ChangedPagesTest, GuardPagesAreLeftOut) {
  if (!IsFromSix(15)) GTEST_SKIP() << "Linux before 6.15 does not tell which pages are guards";
  InProcess([](SavedProcess& process) {
    constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL
    FilledPages pages;
    process.SaveAndRead(1, 0);
    ASSERT_EQ(madvise(pages.at(10), 2 * kImagePageBytes, kGuardInstall), 0);
    const ReadImage image = process.SaveAndRead(2, 1);
    const ImageRun* const changed = image.RunOf(pages.at(10));
    EXPECT_TRUE(changed == nullptr || changed->kind == ImageRun::kZero);
    const ReadImage whole = process.SaveAndRead(3, 0);
    EXPECT_EQ(whole.RunOf(pages.at(10)), nullptr);
    EXPECT_TRUE(whole.Holds(pages.at(9), kImagePageBytes));
    EXPECT_TRUE(whole.Holds(pages.at(12), kImagePageBytes));
  });
}

}  // namespace
}  // namespace bspnow::runtime
