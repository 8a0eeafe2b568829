// For tests of what a loop runs: it runs until something happens.
#ifndef NET_TESTING_LOOP_FIXTURE_H_
#define NET_TESTING_LOOP_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "net/event_loop.h"

namespace bspnow {

class LoopTest : public testing::Test {
 protected:
  template <typename Condition>
  void RunUntil(Condition condition) {
    const TimerId limit = loop_.AddTimer(30'000, [] { FAIL() << "did not happen in 30 s"; });
    while (!condition() && !HasFailure()) loop_.RunOnce();
    loop_.CancelTimer(limit);
  }

  void RunFor(std::uint64_t ms) {
    bool over = false;
    loop_.AddTimer(ms, [&over] { over = true; });
    RunUntil([&over] { return over; });
  }

  EventLoop loop_;
};

}  // namespace bspnow

#endif  // NET_TESTING_LOOP_FIXTURE_H_
