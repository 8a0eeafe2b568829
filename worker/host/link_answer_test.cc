#include "worker/host/link_answer.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bspnow::worker {
namespace {

constexpr std::byte kText[] = {std::byte{7}};

class LinkAnswerTest : public testing::Test {
 protected:
  LinkAnswerTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    link_ = UniqueFd(ends[0]);
    process_ = UniqueFd(ends[1]);
  }

  ssize_t Receive() {
    char text[8];
    return recv(process_.get(), text, sizeof text, MSG_DONTWAIT);
  }

  UniqueFd link_;
  UniqueFd process_;
};

TEST_F(LinkAnswerTest, GoesWithItsDescriptors) {
  const int descriptors[] = {process_.get(), -1};
  const LinkAnswer answer(kText, descriptors);
  EXPECT_TRUE(answer.Send(link_.get()));
  EXPECT_EQ(Receive(), 1);
}

// Without them a process would take it for another answer.
TEST_F(LinkAnswerTest, WaitsIfADescriptorCouldNotBeCopied) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const int descriptors[] = {process_.get()};
  const LinkAnswer answer(kText, descriptors);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(answer.Send(link_.get()));
  EXPECT_EQ(errno, EMFILE);
  EXPECT_EQ(Receive(), -1);
}

}  // namespace
}  // namespace bspnow::worker
