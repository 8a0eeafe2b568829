#include "worker/passed_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

TEST(PassedDirectoryTest, IsNoneToWhichEverybodyMayWrite) {
  const ScratchDirectory scratch;
  EXPECT_TRUE(CheckWriters(scratch.path()).ok());
  for (const mode_t mode : {0777u, 01777u}) {
    ASSERT_EQ(chmod(scratch.path().c_str(), mode), 0);
    const absl::Status refused = CheckWriters(scratch.path());
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_NE(refused.message().find("chmod o-w " + scratch.path()), std::string::npos) << refused;
  }
  ASSERT_EQ(chmod(scratch.path().c_str(), 0711), 0);
}

TEST(PassedDirectoryTest, OfAWorkerOfRootIsNoOtherUsers) {
  constexpr uid_t kService = 4711;
  const ScratchDirectory scratch;
  if (geteuid() != 0 || chown(scratch.path().c_str(), kService, kService) != 0)
    GTEST_SKIP() << "nobody but root gives files away";
  const absl::Status refused = CheckWriters(scratch.path());
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  for (const std::string& part : {std::string("uid 4711"), "chown root " + scratch.path()})
    EXPECT_NE(refused.message().find(part), std::string::npos) << refused;
}

TEST(PassedDirectoryTest, ThatIsNotThereIsNotSafe) {
  EXPECT_TRUE(absl::IsNotFound(CheckWriters("/nonexistent/directory")));
}

}  // namespace
}  // namespace bspnow::worker
