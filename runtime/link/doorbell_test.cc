#include "runtime/link/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace bspnow::runtime {
namespace {

class DoorbellTest : public testing::Test {
 protected:
  DoorbellTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    worker_ = UniqueFd(ends[0]);
    process_ = UniqueFd(ends[1]);
    doorbell_ = Doorbell(bell_, KnownDescriptor(process_.get()));
  }

  ssize_t Rings() {
    char rings[64];
    const ssize_t n = recv(worker_.get(), rings, sizeof rings, MSG_DONTWAIT);
    EXPECT_TRUE(n > 0 || errno == EAGAIN);
    return n > 0 ? n : 0;
  }

  WorkerBell bell_{};
  UniqueFd worker_;
  UniqueFd process_;
  Doorbell doorbell_;
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
  EXPECT_EQ(Rings(), 0);
  bell_.sleeping = 1;
  doorbell_.AllArrived(1);
  doorbell_.Handed();
  EXPECT_EQ(Rings(), 2);
  EXPECT_EQ(bell_.sleeping, 1u);  // It is the worker's word.
}

TEST_F(DoorbellTest, LeavesAFileAloneThatHasTakenItsNumber) {
  const int number = process_.get();
  process_.Reset();
  UniqueFd file(memfd_create("users", MFD_CLOEXEC));
  if (file.get() != number) file = UniqueFd(dup3(file.get(), number, O_CLOEXEC));
  bell_.sleeping = 1;
  doorbell_.AllArrived(3);
  EXPECT_EQ(bell_.barriers, 4u);
  EXPECT_EQ(lseek(file.get(), 0, SEEK_END), 0);
}

TEST_F(DoorbellTest, LeavesASocketAloneThatHasTakenItsNumber) {
  const int number = process_.get();
  process_.Reset();
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd theirs(ends[1]);
  UniqueFd users(ends[0]);  // The lowest number that is free.
  if (users.get() != number) users = UniqueFd(dup3(users.get(), number, O_CLOEXEC));
  bell_.sleeping = 1;
  doorbell_.AllArrived(3);
  char ring;
  EXPECT_EQ(recv(theirs.get(), &ring, sizeof ring, MSG_DONTWAIT), -1);
}

TEST_F(DoorbellTest, DoesNotWaitForAWorkerThatDoesNotListen) {
  fcntl(process_.get(), F_SETFL, 0);
  bell_.sleeping = 1;
  for (std::uint32_t i = 0; i < 10'000; ++i) doorbell_.AllArrived(i);
  EXPECT_EQ(bell_.barriers, 10'000u);
}

}  // namespace
}  // namespace bspnow::runtime
