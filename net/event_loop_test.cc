#include "net/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

namespace bspnow {
namespace {

struct Pair {
  UniqueFd a, b;
};

Pair SocketPair() {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

TEST(EventLoopTest, OneDescriptorHasBothInterests) {
  EventLoop loop;
  Pair pair = SocketPair();
  int readable = 0, writable = 0;
  loop.OnReadable(pair.a.get(), [&] { ++readable; });
  loop.OnWritable(pair.a.get(), [&] { ++writable; });
  loop.RunOnce();
  EXPECT_EQ(readable, 0);
  EXPECT_EQ(writable, 1);
  ASSERT_EQ(write(pair.b.get(), "x", 1), 1);
  loop.RunOnce();
  EXPECT_EQ(readable, 1);
  EXPECT_EQ(writable, 2);
  loop.StopWriting(pair.a.get());
  loop.RunOnce();  // Level-triggered: the byte is still there.
  EXPECT_EQ(readable, 2);
  EXPECT_EQ(writable, 2);
}

TEST(EventLoopTest, CallbackMayForgetItselfAndOthers) {
  EventLoop loop;
  Pair one = SocketPair(), two = SocketPair();
  int calls = 0;
  const auto forget_both = [&] {
    ++calls;
    loop.Forget(one.a.get());
    loop.Forget(two.a.get());
  };
  loop.OnReadable(one.a.get(), forget_both);
  loop.OnReadable(two.a.get(), forget_both);
  ASSERT_EQ(write(one.b.get(), "x", 1), 1);
  ASSERT_EQ(write(two.b.get(), "x", 1), 1);
  loop.RunOnce();
  EXPECT_EQ(calls, 1);
}

TEST(EventLoopTest, EventOfForgottenDescriptorDoesNotReachItsSuccessor) {
  EventLoop loop;
  Pair one = SocketPair(), two = SocketPair();
  int wrong = 0, calls = 0;
  const auto replace = [&](Pair& mine, Pair& other) {
    if (++calls > 1) return;
    loop.Forget(other.a.get());
    const int number = other.a.get();
    Pair fresh = SocketPair();
    ASSERT_EQ(dup2(fresh.a.get(), number), number);
    loop.OnReadable(number, [&] { ++wrong; });
    loop.Forget(mine.a.get());
  };
  loop.OnReadable(one.a.get(), [&] { replace(one, two); });
  loop.OnReadable(two.a.get(), [&] { replace(two, one); });
  ASSERT_EQ(write(one.b.get(), "x", 1), 1);
  ASSERT_EQ(write(two.b.get(), "x", 1), 1);
  loop.RunOnce();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(wrong, 0);
}

TEST(EventLoopTest, FilesCannotBeWaitedFor) {
  EventLoop loop;
  const UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(loop.OnWritable(file.get(), [] {}));
}

TEST(EventLoopTest, TimersComeInTheirOrder) {
  EventLoop loop;
  std::string order;
  // Far apart: each counts from its own call, and a loaded machine may pause between two of them.
  loop.AddTimer(30'000, [&] { order += 'c'; });
  loop.AddTimer(1, [&] { order += 'a'; });
  const TimerId cancelled = loop.AddTimer(1, [&] { order += 'x'; });
  loop.AddTimer(2, [&] {
    order += 'b';
    loop.Stop();
  });
  loop.CancelTimer(cancelled);
  loop.CancelTimer(kNoTimer);
  loop.Run();
  EXPECT_EQ(order, "ab");
}

TEST(EventLoopTest, TimerMayCancelOneThatIsDueToo) {
  EventLoop loop;
  int calls = 0;
  TimerId first = kNoTimer, second = kNoTimer;
  const auto other = [&](TimerId timer) {
    ++calls;
    loop.CancelTimer(timer);
  };
  first = loop.AddTimer(0, [&] { other(second); });
  second = loop.AddTimer(0, [&] { other(first); });
  loop.AddTimer(1, [&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(calls, 1);
}

TEST(EventLoopTest, PostsOfManyThreadsAllArrive) {
  EventLoop loop;
  constexpr int kThreads = 4, kPosts = 1000;
  int seen = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kPosts; ++i)
        loop.Post([&] {
          if (++seen == kThreads * kPosts) loop.Stop();
        });
    });
  }
  loop.Run();
  EXPECT_EQ(seen, kThreads * kPosts);
}

// Work that comes while the loop polls, while it prepares to sleep, and while it sleeps.
class FakePoller final : public Poller {
 public:
  explicit FakePoller(EventLoop& loop) : loop_(loop), bell_(eventfd(0, EFD_NONBLOCK)) {
    loop_.AddPoller(*this);
    loop_.OnReadable(bell_.get(), [this] { ++rung_; });
  }
  ~FakePoller() {
    loop_.Forget(bell_.get());
    loop_.RemovePoller(*this);
  }

  bool Poll() override { return std::exchange(work_, 0) != 0 && ++handled_; }
  bool PrepareToSleep() override {
    ++slept_;
    if (!come_before_sleep_) eventfd_write(bell_.get(), 1);
    work_ += come_before_sleep_ ? 1 : 0;
    return std::exchange(come_before_sleep_, false);
  }
  void Awake() override { ++awake_; }

  EventLoop& loop_;
  UniqueFd bell_;
  int work_ = 0, handled_ = 0, slept_ = 0, awake_ = 0, rung_ = 0;
  bool come_before_sleep_ = false;
};

TEST(EventLoopTest, PollerIsAskedBeforeTheLoopBlocks) {
  EventLoop loop;
  FakePoller poller(loop);
  poller.work_ = 1;
  loop.RunOnce();
  EXPECT_EQ(poller.handled_, 1);
  EXPECT_EQ(poller.slept_, 0);
}

TEST(EventLoopTest, WorkThatComesBeforeSleepIsNotSleptOver) {
  EventLoop loop;
  FakePoller poller(loop);
  poller.come_before_sleep_ = true;
  while (poller.slept_ == 0) loop.RunOnce();
  EXPECT_EQ(poller.awake_, 1);
  loop.RunOnce();
  EXPECT_EQ(poller.handled_, 1);
}

TEST(EventLoopTest, BellWakesTheLoopFromItsSleep) {
  EventLoop loop;
  FakePoller poller(loop);
  while (poller.rung_ == 0) loop.RunOnce();
  EXPECT_EQ(poller.awake_, poller.slept_);
}

TEST(PollBudgetTest, FallsToNothingWhenPollingIsInVain) {
  PollBudget budget;
  for (int i = 0; i < 10; ++i) budget.OnBlock();
  EXPECT_EQ(budget.budget_ns(), 0u);
  EXPECT_FALSE(budget.KeepPolling(0));
}

TEST(PollBudgetTest, GrowsPastTheUsualGapIfThatIsShort) {
  PollBudget budget;
  std::uint64_t now = 1'000'000'000;
  for (int i = 0; i < 10; ++i) budget.OnBlock();
  for (int i = 0; i < 20; ++i) {
    now += 50'000;
    if (!budget.KeepPolling(now)) budget.OnBlock();
    budget.OnWork(now);
  }
  EXPECT_TRUE(budget.KeepPolling(now + 50'000));
}

TEST(PollBudgetTest, RareWorkDoesNotMakeItPoll) {
  PollBudget budget;
  std::uint64_t now = 1'000'000'000;
  for (int i = 0; i < 20; ++i) {
    now += 1'000'000;
    if (!budget.KeepPolling(now)) budget.OnBlock();
    budget.OnWork(now);
  }
  EXPECT_EQ(budget.budget_ns(), 0u);
}

}  // namespace
}  // namespace bspnow
