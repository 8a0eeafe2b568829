#include "worker/rpc/silence_watch.h"

#include <gtest/gtest.h>

#include <latch>

#include "base/clock.h"
#include "base/testing/no_threads.h"
#include "base/units.h"

namespace bspnow::worker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{300};
constexpr std::uint64_t kPatienceNs = 300 * kNsPerMs;

TEST(SilenceWatchTest, ACallThatDoesNotMoveIsCancelled) {
  std::latch cancelled(1);
  const SilenceWatch watch(kPatience, [&] { cancelled.count_down(); });
  cancelled.wait();
  EXPECT_TRUE(watch.fired());
}

TEST(SilenceWatchTest, ACallThatMovesMayTakeAsLongAsItLikes) {
  SilenceWatch watch(kPatience, [] {});
  const std::uint64_t begin_ns = NowNs();
  while (NowNs() - begin_ns < 4 * kPatienceNs) watch.Moved();
  EXPECT_FALSE(watch.fired());
}

TEST(SilenceWatchTest, ACallThatNobodyCanWatchIsCancelledAtOnce) {
  const NoThreads none;
  int cancelled = 0;
  const SilenceWatch watch(kPatience, [&] { ++cancelled; });
  EXPECT_EQ(cancelled, 1);
  EXPECT_TRUE(watch.fired());
  EXPECT_FALSE(watch.watches());
}

TEST(SilenceWatchTest, ASyncOfManyBytesIsWaitedForLonger) {
  std::latch cancelled(1);
  SilenceWatch watch(kPatience, [&] { cancelled.count_down(); });
  watch.ExpectSync(3 * kPatience.count() * SilenceWatch::kSyncedBytesPerMsLeast);
  const std::uint64_t begin_ns = NowNs();
  cancelled.wait();
  EXPECT_GE(NowNs() - begin_ns, 3 * kPatienceNs);
}

}  // namespace
}  // namespace bspnow::worker
