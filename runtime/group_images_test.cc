// Images of jobs that have groups, or supersteps that end by counting.
#include <gtest/gtest.h>
#include <sched.h>
#include <string.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "runtime/testing/counted_supersteps.h"
#include "runtime/testing/nodes.h"

namespace bspnow::runtime {
namespace {

// So that the worker gets its turn.
void Rest() {
  for (const std::uint64_t start = NowNs(); NowNs() - start < 2'000'000;) sched_yield();
}

void SyncSlowly(Process& process, int supersteps) {
  for (int s = 0; s < supersteps; ++s) {
    Rest();
    process.Sync(0);
  }
}

TEST(GroupImagesTest, NoneIsTakenWhileGroupsAreOpen) {
  const JobOutcome outcome =
      RunOnNodes({.node_of = {0, 0}, .saves = {SaveForTest{.superstep = 3}}}, [](Process& process) {
        process.Begin(2);
        Group& group = process.Duplicate(process.root());
        SyncSlowly(process, 30);
        process.Leave(group);
        SyncSlowly(process, 30);
        process.End(0);
      });
  ExpectAllEndWell(outcome);
  ASSERT_EQ(outcome.taken.size(), 2u);
  EXPECT_GT(outcome.taken[0].superstep, 30u);
}

// Pid 1 opens a group of the two when pid 0 has sent it a message there and left.
void LeaveAGroupLongBeforeAnotherOpensIt(Process& process) {
  process.Begin(3);
  const std::uint32_t self = process.pid();
  const auto take_part = [&process, self] {
    const std::uint32_t parts[] = {0, 0, 1};
    Group& group = process.Partition(process.root(), parts);
    if (self == 0) group.Send("test", 1, nullptr, &self, sizeof self);
    process.SyncCounted(group, "test", self == 1 ? 1 : 0);
    Require(group.inbox().count() == (self == 1 ? 1u : 0u), "the message is there");
    process.Leave(group);
  };
  if (self == 0) take_part();
  SyncSlowly(process, 30);
  if (self != 0) take_part();
  SyncSlowly(process, 30);
  process.End(0);
}

TEST(GroupImagesTest, NoneIsTakenWhileSomeHaveLeftAGroupThatOthersHaveYetToOpen) {
  JobOutcome outcome = RunOnNodes({.node_of = {0, 0, 0}, .saves = {SaveForTest{.superstep = 3}}},
                                  LeaveAGroupLongBeforeAnotherOpensIt);
  ExpectAllEndWell(outcome);
  ASSERT_EQ(outcome.taken.size(), 3u);
  EXPECT_GT(outcome.taken[0].superstep, 30u);
  ExpectAllEndWell(ResumeOnNodes({.node_of = {0, 0, 0}}, std::move(outcome.images)));
  // On several nodes the stand-in takes it at this very barrier, or not at all.
  outcome = RunOnNodes({.node_of = {0, 0, 1}, .saves = {SaveForTest{.superstep = 3}}},
                       LeaveAGroupLongBeforeAnotherOpensIt);
  ExpectAllEndWell(outcome);
  EXPECT_TRUE(outcome.taken.empty());
}

// In two groups, of which one has only pid 2. Between two images a process may be another one.
void WorkInParts(Process& process) {
  process.Begin(3);
  const Pid self{process.pid()};
  int restored = 0;
  for (std::uint64_t s = 1; s <= 40; ++s) {
    const std::uint32_t parts[] = {0, 0, 1};
    Group& part = process.Partition(process.root(), parts);
    part.Send("test", (Value(part.self()) + 1) % part.p(), nullptr, &s, sizeof s);
    process.Sync(part, 0);
    process.Leave(part);
    Rest();
    process.Sync(0);
    if (restored == TimesRestored()) continue;
    restored = TimesRestored();
    const Segment& segment = process.root().segment();
    const GroupSums& sums = segment.group_sums(self, 0);
    Require(sums.supersteps == s && sums.messages_out == s && sums.messages_in == s,
            "those of the superstep that ends count, and those of all before");
    Require((segment.measurement(self, 0).site & kWithGroups) != 0, "a reader looks at them");
  }
  process.End(0);
}

TEST(GroupImagesTest, AProcessThatComesBackSaysAllThatItHasDoneInGroups) {
  for (const std::uint32_t last : {0, 1}) {
    const std::vector<std::uint32_t> node_of = {0, 0, last};
    JobOutcome outcome = RunOnNodes({.node_of = node_of, .saves = {{3}}}, WorkInParts);
    ExpectAllEndWell(outcome);
    ASSERT_EQ(outcome.taken.size(), 3u);
    const std::uint64_t from = outcome.taken[0].superstep;
    outcome = ResumeOnNodes({.node_of = node_of, .saves = {{from + 3}}}, std::move(outcome.images));
    ExpectAllEndWell(outcome);
    ASSERT_EQ(outcome.taken.size(), 3u);
    ExpectAllEndWell(ResumeOnNodes({.node_of = node_of}, std::move(outcome.images)));
  }
}

// ---- Supersteps that end by counting ------------------------------------------------------------

void SyncCountedSlowly(Process& process, int supersteps) {
  Group& root = process.root();
  for (int s = 0; s < supersteps; ++s) {
    Rest();
    root.Send("test", (process.pid() + 1) % root.p(), nullptr, &s, sizeof s);
    process.SyncCounted(root, "test", 1);
    Require(root.inbox().count() == 1, "one message");
    Require(memcmp(root.inbox().Front().payload, &s, sizeof s) == 0, "that of this superstep");
  }
}

// Whom nobody sends anything waits for nobody.
void SyncCountedAlone(Process& process, int supersteps) {
  for (int s = 0; s < supersteps; ++s) {
    Rest();
    process.SyncCounted(process.root(), "test", 0);
  }
}

TEST(CountedImagesTest, OneIsTakenThoughNoSuperstepEndsByBspSync) {
  JobOutcome outcome =
      RunOnNodes({.node_of = {0, 0, 0}, .saves = {{3}, {20}}}, [](Process& process) {
        process.Begin(3);
        SyncCountedSlowly(process, 60);
        process.End(0);
      });
  ExpectAllEndWell(outcome);
  ASSERT_EQ(outcome.taken.size(), 6u);
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_EQ(outcome.taken[k].superstep, outcome.taken[k - k % 3].superstep);
  EXPECT_LT(outcome.taken[5].superstep, 60u);
  ExpectAllEndWell(ResumeOnNodes({.node_of = {0, 0, 0}}, std::move(outcome.images)));
}

TEST(CountedImagesTest, ProcessesThatAreFarApartAreSavedInOneSuperstep) {
  constexpr std::uint64_t kSupersteps = 2000;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto program = [seed](Process& process) {
      process.Begin(4);
      RunCountedSupersteps(process, process.root(), seed, kSupersteps);
      process.End(0);
    };
    const std::vector<std::uint32_t> node_of(4, 0);
    JobOutcome outcome =
        RunOnNodes({.node_of = node_of, .saves = {{1}, {100}, {500}, {1000}}}, program);
    ExpectAllEndWell(outcome);
    ASSERT_FALSE(outcome.taken.empty());
    for (std::size_t k = 0; k < outcome.taken.size(); ++k)
      EXPECT_EQ(outcome.taken[k].superstep, outcome.taken[k - k % 4].superstep);
    ExpectAllEndWell(ResumeOnNodes({.node_of = node_of}, std::move(outcome.images)));
  }
}

// It would wait for one who waits for it, in the group.
TEST(CountedImagesTest, NobodyWaitsForABarrierWhileGroupsAreOpen) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 0}, .saves = {{3}}}, [](Process& process) {
    process.Begin(2);
    Group& pair = process.Duplicate(process.root());
    const std::uint32_t self = process.pid();
    if (self == 0) SyncCountedAlone(process, 50);
    if (self == 0) pair.Send("test", 1, nullptr, &self, sizeof self);
    process.SyncCounted(pair, "test", self);
    process.Leave(pair);
    if (self == 1) SyncCountedAlone(process, 50);
    SyncCountedSlowly(process, 30);
    process.End(0);
  });
  ExpectAllEndWell(outcome);
  ASSERT_EQ(outcome.taken.size(), 2u);
  EXPECT_GT(outcome.taken[0].superstep, 50u);
}

// Pid 0 is ahead, and comes to the superstep that all are to end by a barrier, before pid 1 opens
// the group and waits in it, or meanwhile.
TEST(CountedImagesTest, AGroupThatIsOpenedMeanwhilePutsOffTheBarrier) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    const auto program = [seed](Process& process) {
      std::minstd_rand random(static_cast<std::uint32_t>(seed));
      process.Begin(2);
      const std::uint32_t self = process.pid();
      const int ahead = 8 + static_cast<int>(random() % 8);
      const int rests = static_cast<int>(random() % 100);
      if (self == 0) SyncCountedAlone(process, ahead);
      for (int i = 0; self == 1 && i < rests; ++i) Rest();
      Group& pair = process.Duplicate(process.root());
      if (self == 0) pair.Send("test", 1, nullptr, &self, sizeof self);
      process.SyncCounted(pair, "test", self);
      process.Leave(pair);
      if (self == 1) SyncCountedAlone(process, ahead);
      SyncCountedSlowly(process, 30);
      process.End(0);
    };
    const JobOutcome outcome = RunOnNodes({.node_of = {0, 0}, .saves = {{5}}}, program);
    ExpectAllEndWell(outcome);
    ASSERT_EQ(outcome.taken.size(), 2u) << seed;
    EXPECT_EQ(outcome.taken[0].superstep, outcome.taken[1].superstep) << seed;
  }
}

}  // namespace
}  // namespace bspnow::runtime
