#include "worker/departure.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/clock.h"
#include "base/units.h"
#include "worker/core/testing/fake_node.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kDrainMs = 60'000;
constexpr std::uint64_t kUnheardTestMs = 1'000;

class DepartureTest : public testing::Test {
 protected:
  DepartureTest() {
    proto::RegisterReply reply;
    reply.set_lease_ms(1000);
    jobs_.OnRegistered(reply);
    jobs_.OnLeaseRenewed(NowNs());
    departure_.OnRegistered();
  }

  /// How long it goes on, at most until `ms` have passed.
  std::uint64_t RunMs(std::uint64_t ms) {
    const std::uint64_t begin_ns = NowNs();
    const TimerId late = loop_.AddTimer(ms, [this] { loop_.Stop(); });
    loop_.Run();
    loop_.CancelTimer(late);
    return (NowNs() - begin_ns) / kNsPerMs;
  }
  void RenewNowAndThen() {
    jobs_.OnLeaseRenewed(NowNs());
    loop_.AddTimer(kUnheardTestMs / 8, [this] { RenewNowAndThen(); });
  }

  EventLoop loop_;
  FakeNode node_;
  HostedJobs jobs_{node_, node_, kDrainMs, [](const proto::WorkerEvent&) {}};
  int asked_ = 0;
  Departure departure_{loop_,
                       jobs_,
                       "one",
                       {.drain_ms = kDrainMs, .unheard_ms = kUnheardTestMs},
                       [this](const proto::WorkerEvent& event) { asked_ += event.has_leaving(); }};
};

TEST_F(DepartureTest, EndsOnceNoCoordinatorIsHeardOf) {
  departure_.OnSignal(SIGTERM);
  EXPECT_EQ(asked_, 1);
  const std::uint64_t ms = RunMs(kDrainMs / 2);
  EXPECT_GE(ms, kUnheardTestMs - 1);
  EXPECT_LT(ms, kDrainMs / 2);
}

TEST_F(DepartureTest, StaysWhileTheLeaseIsRenewed) {
  RenewNowAndThen();
  departure_.OnSignal(SIGTERM);
  EXPECT_GE(RunMs(4 * kUnheardTestMs), 4 * kUnheardTestMs);
  departure_.OnMayLeave();
  EXPECT_LT(RunMs(kDrainMs / 2), kDrainMs / 2);
}

TEST_F(DepartureTest, ACoordinatorThatComesBackInTimeIsAskedAgain) {
  departure_.OnSignal(SIGTERM);
  loop_.AddTimer(kUnheardTestMs / 2, [this] {
    departure_.OnRegistered();
    RenewNowAndThen();
  });
  EXPECT_GE(RunMs(4 * kUnheardTestMs), 4 * kUnheardTestMs);
  EXPECT_EQ(asked_, 2);
}

}  // namespace
}  // namespace bspnow::worker
