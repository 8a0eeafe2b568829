#include "base/turn.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace bspnow {
namespace {

class TurnTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kCount = 4;

  Turn Of(std::uint32_t self) { return {order_, places_, kCount, self}; }

  TurnOrder order_{};
  TurnPlace places_[kCount]{};
};

// `log` is written by who has the turn: the thread sanitizer sees that nobody else does.
TEST_F(TurnTest, GoesByNumber) {
  std::string log;
  std::vector<std::thread> threads;
  for (std::uint32_t i = kCount; i-- > 0;) {
    threads.emplace_back([this, &log, i] {
      Turn turn = Of(i);
      turn.Await();
      for (int time = 0; time < 1000; ++time) {
        log += static_cast<char>('0' + i);
        turn.Pass();
      }
      turn.Leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string expected;
  for (int time = 0; time < 1000; ++time) expected += "0123";
  EXPECT_EQ(log, expected);
}

TEST_F(TurnTest, BeginsAnewWithTheFirstThatIsThere) {
  Of(0).Leave();
  std::thread third([this] {
    Of(3).Await();
    Of(3).BeginAnew();
    Of(3).Leave();
  });
  Of(2).Leave();
  Turn first = Of(1);
  first.Pass();  // To number 3, which gives it back.
  EXPECT_EQ(first.holder(), 1u);
  first.Pass();
  third.join();
}

TEST_F(TurnTest, PassesOverWhoHasLeft) {
  Of(1).Leave();
  Of(2).Leave();
  EXPECT_EQ(Of(0).holder(), 0u);
  std::thread third([this] {
    Of(3).Await();
    Of(3).Leave();
  });
  Of(0).Pass();
  third.join();
  EXPECT_EQ(Of(0).holder(), 0u);
}

TEST_F(TurnTest, WhoDiesWithTheTurnPassesItOn) {
  Of(0).Leave();
  EXPECT_EQ(order_.holder, 1u);
  Of(1).Await();
}

TEST_F(TurnTest, TheLastOneKeepsIt) {
  for (const std::uint32_t i : {1u, 2u, 3u}) Of(i).Leave();
  Of(0).Pass();
  Of(0).Leave();
  EXPECT_EQ(order_.holder, 0u);
}

// Nobody has woken number 1, as its predecessor died after it had given the turn away.
TEST_F(TurnTest, WakesWhoGotTheTurnOfOneThatDied) {
  std::thread next([this] { Of(1).Await(); });
  order_.holder = 1;
  Of(0).Leave();
  next.join();
  EXPECT_EQ(order_.holder, 1u);
}

}  // namespace
}  // namespace bspnow
