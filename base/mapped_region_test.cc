#include "base/mapped_region.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace bspnow {
namespace {

constexpr std::size_t kSparseBytes = std::size_t{1} << 30;
constexpr int kMayNotLock = 77;

std::int64_t BlocksOf(const UniqueFd& memory) {
  struct stat status {};
  return fstat(memory.get(), &status) == 0 ? status.st_blocks : -1;
}

/// In a child: 0 if a sparse file stays so where all that is mapped is locked.
int MapWhereAllIsLocked() {
  const UniqueFd memory(memfd_create("sparse", MFD_CLOEXEC));
  if (ftruncate(memory.get(), kSparseBytes) != 0) return 1;
  if (mlockall(MCL_FUTURE) != 0) return kMayNotLock;
  const MappedRegion region = MappedRegion::Shared(memory.get(), kSparseBytes);
  if (!region.valid()) return errno == EAGAIN ? kMayNotLock : 2;
  if (BlocksOf(memory) != 0) return 3;
  region.data()[kSparseBytes / 2] = std::byte{7};
  return BlocksOf(memory) > 0 ? 0 : 4;
}

TEST(MappedRegionTest, ASparseFileStaysSoWhereAllThatIsMappedIsLocked) {
  const pid_t child = fork();
  if (child == 0) _exit(MapWhereAllIsLocked());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kMayNotLock) GTEST_SKIP() << "little memory may be locked here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(MappedRegionTest, SaysWhyAFileCannotBeMapped) {
  EXPECT_FALSE(MappedRegion::Shared(-1, 4096).valid());
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace bspnow
