#include "net/resolver.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "base/testing/no_threads.h"
#include "net/testing/loop_fixture.h"

namespace bspnow {
namespace {

using ResolverTest = LoopTest;

TEST_F(ResolverTest, AnswersWithTheAddressesOfAName) {
  Resolver resolver(loop_);
  std::optional<Resolver::Answer> answer;
  resolver.Ask({"localhost", 80}, [&](const Resolver::Answer& got) { answer = got; });
  EXPECT_FALSE(answer.has_value());
  RunUntil([&] { return answer.has_value(); });
  ASSERT_TRUE(answer->ok());
  for (const SocketAddress& address : **answer) {
    EXPECT_TRUE(address.IsLoopback());
    EXPECT_EQ(address.port(), 80);
  }
}

TEST_F(ResolverTest, SaysWhyThereIsNoAddress) {
  Resolver resolver(loop_);
  std::optional<Resolver::Answer> answer;
  resolver.Ask({"no such name", 80}, [&](const Resolver::Answer& got) { answer = got; });
  RunUntil([&] { return answer.has_value(); });
  EXPECT_EQ(answer->status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ResolverTest, TheLoopGoesOnWhileANameIsLookedUp) {
  std::promise<void> release;
  Resolver resolver(loop_, [released = release.get_future().share()](const HostPort&) {
    released.wait();
    return Resolver::Answer(absl::NotFoundError("slow"));
  });
  bool answered = false;
  resolver.Ask({"slow", 1}, [&](const Resolver::Answer&) { answered = true; });
  bool turned = false;
  loop_.AddTimer(1, [&] { turned = true; });
  RunUntil([&] { return turned; });
  EXPECT_FALSE(answered);
  release.set_value();
  RunUntil([&] { return answered; });
}

TEST_F(ResolverTest, WithoutAThreadItSaysSoAndAsksNobody) {
  Resolver resolver(loop_);
  std::optional<Resolver::Answer> answer;
  {
    const NoThreads none;
    resolver.Ask({"localhost", 80}, [&](const Resolver::Answer& got) { answer = got; });
  }
  RunUntil([&] { return answer.has_value(); });
  EXPECT_EQ(answer->status().code(), absl::StatusCode::kUnavailable) << answer->status();
  answer.reset();
  resolver.Ask({"localhost", 80}, [&](const Resolver::Answer& got) { answer = got; });
  RunUntil([&] { return answer.has_value(); });
  EXPECT_TRUE(answer->ok()) << answer->status();
}

TEST_F(ResolverTest, OpenQuestionsAreLimitedAndMayOutliveIt) {
  std::promise<void> release;
  auto resolver =
      std::make_unique<Resolver>(loop_, [released = release.get_future().share()](const HostPort&) {
        released.wait();
        return Resolver::Answer(absl::NotFoundError("slow"));
      });
  int refused = 0;
  for (int i = 0; i < 65; ++i) {
    resolver->Ask({"slow", 1}, [&](const Resolver::Answer& got) {
      refused += absl::IsUnavailable(got.status()) ? 1 : 100;
    });
  }
  RunUntil([&] { return refused != 0; });
  EXPECT_EQ(refused, 1);
  resolver.reset();
  release.set_value();
}

}  // namespace
}  // namespace bspnow
