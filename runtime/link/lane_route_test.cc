#include "runtime/link/lane_route.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/unique_fd.h"

namespace bspnow::runtime {
namespace {

TEST(LaneRouteTest, OfTwoNodesEachHasTheOthersHeadInAnyCase) {
  EXPECT_FALSE(HeadsGoStraight(2, 1'000'000));
}

TEST(LaneRouteTest, OfThreeNodesEachSendsTwoHeadsEitherWay) { EXPECT_TRUE(HeadsGoStraight(3, 0)); }

// A byte and its acknowledgement take 5 to 20 us over loopback as the kernel counts, and 100 to 200
// us between two PCs at a switch of 1 Gbit/s.
TEST(LaneRouteTest, HeadsGoStraightWhereAWayTakesLongerThanSends) {
  for (const std::uint32_t nodes : {4u, 8u, 16u}) {
    EXPECT_FALSE(HeadsGoStraight(nodes, 10'000)) << nodes;
    EXPECT_TRUE(HeadsGoStraight(nodes, 100'000)) << nodes;
  }
  EXPECT_FALSE(HeadsGoStraight(16, 50'000)) << "15 sends in place of 4 take longer than 3 ways";
}

TEST(LaneRouteTest, TheKernelKnowsHowFarAConnectionGoes) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof address;
  ASSERT_EQ(bind(listener.get(), name, bytes), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), name, &bytes), 0);
  const UniqueFd socket_to_it(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(LeastRttNs(socket_to_it.get()), 0u) << "nothing has gone there";
  ASSERT_EQ(connect(socket_to_it.get(), name, bytes), 0);
  EXPECT_GT(LeastRttNs(socket_to_it.get()), 0u);
}

TEST(LaneRouteTest, OfWhatIsNoTcpConnectionNothingIsKnown) {
  const UniqueFd local(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(LeastRttNs(local.get()), 0u);
}

}  // namespace
}  // namespace bspnow::runtime
