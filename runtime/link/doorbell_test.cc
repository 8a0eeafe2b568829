#include "runtime/link/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace bspnow::runtime {
namespace {

class DoorbellTest : public testing::Test {
 protected:
  std::uint64_t Rings() {
    std::uint64_t rings = 0;
    const ssize_t n = read(eventfd_.get(), &rings, sizeof rings);
    EXPECT_TRUE(n == sizeof rings || errno == EAGAIN);
    return rings;
  }

  WorkerBell bell_{};
  UniqueFd eventfd_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Doorbell doorbell_{bell_, eventfd_.get()};
};

TEST_F(DoorbellTest, SaysWhatHasHappened) {
  doorbell_.Begun();
  doorbell_.AllArrived(7);
  doorbell_.AllAnswered(41);
  doorbell_.Handed();
  doorbell_.Handed();
  EXPECT_EQ(bell_.begun, 1u);
  EXPECT_EQ(bell_.barriers, 8u);
  EXPECT_EQ(bell_.answers, 42u);
  EXPECT_EQ(bell_.handed, 2u);
}

TEST_F(DoorbellTest, RingsOnlyAWorkerThatSleeps) {
  doorbell_.AllArrived(0);
  EXPECT_EQ(Rings(), 0u);
  bell_.sleeping = 1;
  doorbell_.AllArrived(1);
  doorbell_.Handed();
  EXPECT_EQ(Rings(), 2u);
  EXPECT_EQ(bell_.sleeping, 1u);  // It is the worker's word.
}

TEST_F(DoorbellTest, LeavesAFileAloneThatHasTakenItsNumber) {
  const int number = eventfd_.get();
  eventfd_.Reset();
  UniqueFd file(memfd_create("users", MFD_CLOEXEC));
  if (file.get() != number) file = UniqueFd(dup3(file.get(), number, O_CLOEXEC));
  bell_.sleeping = 1;
  doorbell_.AllArrived(3);
  EXPECT_EQ(bell_.barriers, 4u);
  EXPECT_EQ(lseek(file.get(), 0, SEEK_END), 0);
}

}  // namespace
}  // namespace bspnow::runtime
