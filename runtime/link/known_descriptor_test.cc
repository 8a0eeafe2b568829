#include "runtime/link/known_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

#include "base/unique_fd.h"

namespace bspnow::runtime {
namespace {

UniqueFd OpenNull() { return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

UniqueFd OpenZero() { return UniqueFd(open("/dev/zero", O_RDONLY | O_CLOEXEC)); }

// A program counts on the numbers that it gets: the first file that it opens is 3.
TEST(KnownDescriptorTest, LeavesLowNumbersToTheProgram) {
  UniqueFd opened = OpenNull();
  const int low = opened.get();
  const KnownDescriptor known = KnownDescriptor::OutOfTheWay(std::move(opened));
  const UniqueFd own(known.number());
  EXPECT_GE(known.number(), 500);
  EXPECT_TRUE(known.StillOurs());
  EXPECT_TRUE((fcntl(known.number(), F_GETFD) & FD_CLOEXEC) != 0);
  EXPECT_EQ(OpenNull().get(), low);
}

TEST(KnownDescriptorTest, KnowsThatItWasClosedAndThatAnotherFileTookItsNumber) {
  const KnownDescriptor known = KnownDescriptor::OutOfTheWay(OpenNull());
  UniqueFd(known.number()).Reset();
  EXPECT_FALSE(known.StillOurs());
  const UniqueFd other = OpenZero();
  const UniqueFd taken(dup2(other.get(), known.number()));
  EXPECT_FALSE(known.StillOurs());
}

}  // namespace
}  // namespace bspnow::runtime
