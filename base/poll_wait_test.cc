#include "base/poll_wait.h"

#include <gtest/gtest.h>

#include <thread>

namespace bspnow {
namespace {

// Two sides that wait for each other in turn lose no wake-up, whether they poll or sleep. With one
// processor assumed for two waiters they do not spin.
void PingPong(std::uint32_t processors, std::uint32_t turns) {
  SharedCounter ping{};
  SharedCounter pong{};
  std::thread other([&] {
    PollWait wait(2, processors);
    for (std::uint32_t i = 1; i <= turns; ++i) {
      wait.Until(ping, i);
      pong.Publish(i);
    }
  });
  PollWait wait(2, processors);
  for (std::uint32_t i = 1; i <= turns; ++i) {
    ping.Publish(i);
    wait.Until(pong, i);
  }
  other.join();
  EXPECT_EQ(pong.value.load(), turns);
  EXPECT_EQ(ping.sleepers.load(), 0u);
  EXPECT_EQ(pong.sleepers.load(), 0u);
}

TEST(PollWaitTest, LosesNoWakeUpWhenProcessorsAbound) { PingPong(2, 20'000); }

TEST(PollWaitTest, LosesNoWakeUpWhenProcessorsAreShort) { PingPong(1, 20'000); }

TEST(PollWaitTest, WakesWhoSleeps) {
  SharedCounter counter{};
  std::thread sleeper([&] {
    PollWait wait(2, 1);
    wait.Until(counter, 1);
  });
  while (counter.sleepers.load() == 0) std::this_thread::yield();  // Its polling has ended.
  counter.Publish(1);
  sleeper.join();
  EXPECT_EQ(counter.sleepers.load(), 0u);
}

// Past 2^32, and from wherever it stopped.
TEST(PollWaitTest, ACounterThatRestsIsNeverTakenForAhead) {
  constexpr std::uint32_t kStep = std::uint32_t{1} << 28;
  for (const std::uint32_t first : {0u, 5u, 0x7fff'fffeu, 0xffff'fffbu}) {
    SharedCounter counter{};
    counter.value.store(first);
    std::uint32_t now = first;
    for (int i = 0; i < 40; ++i, now += kStep) {
      EXPECT_LT(now + kStep - counter.value.load(), 0x8000'0000u) << i;
      counter.KeepUp(now);
      EXPECT_LE(now - counter.value.load(), std::uint32_t{1} << 30) << i;
    }
    for (const std::uint32_t near : {now - 1, now, now + 1, now + 1000}) {
      counter.value.store(near);
      counter.KeepUp(now);
      EXPECT_EQ(counter.value.load(), near);
    }
  }
}

TEST(PollWaitTest, SeesAWordChangeThatWakesNobody) {
  std::atomic<std::uint32_t> word{1};
  WaitWhile(word, 0);  // Not its value: returns at once.
  std::thread other([&] {
    for (int i = 0; i < 10'000; ++i) std::this_thread::yield();
    word.store(2);
  });
  WaitWhile(word, 1);
  EXPECT_EQ(word.load(), 2u);
  other.join();
}

/// Expects something for a while; then the counter is set by who waits for it.
struct ExpectedWork {
  SharedCounter counter{};
  int sleeps_left = 3;
  int looks = 0;
  int awake = 0;

  SideWork AsSideWork() {
    constexpr std::uint64_t kRestNs = 1'000;
    return {.see_to =
                [](void* context, std::uint64_t) {
                  auto& work = *static_cast<ExpectedWork*>(context);
                  work.looks += 1;
                  if (work.awake == 2) work.counter.Publish(1);
                  return kRestNs;
                },
            .name_sources = [](void*, pollfd*) { return 0u; },
            .sleep =
                [](void* context) {
                  auto& work = *static_cast<ExpectedWork*>(context);
                  EXPECT_EQ(work.counter.sleepers.load(), 0u);
                  return work.sleeps_left-- > 0;
                },
            .awake = [](void* context) { static_cast<ExpectedWork*>(context)->awake += 1; },
            .context = this};
  }
};

TEST(PollWaitTest, SleepsWhereWhatItExpectsComesAndThenAtTheCounter) {
  ExpectedWork work;
  const std::atomic<std::uint32_t> word{0};
  PollWait wait(2, 1);
  EXPECT_TRUE(wait.UntilNews(work.counter, 1, {word, 0}, work.AsSideWork()));
  EXPECT_LT(work.sleeps_left, 0);
  EXPECT_GE(work.awake, 2) << "after each sleep at the counter";
  EXPECT_GE(work.looks, 6) << "after each sleep";
  EXPECT_EQ(work.counter.sleepers.load(), 0u);
}

TEST(PollWaitTest, ComparesModuloTwoToThe32) {
  SharedCounter counter{};
  counter.value = 3;
  PollWait wait(1, 1);
  wait.Until(counter, 0xfffffff0u);  // Long past.
  SUCCEED();
}

}  // namespace
}  // namespace bspnow
