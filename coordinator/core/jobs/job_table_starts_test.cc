// Starts that fail: where they are tried again, how often, and who rests.
#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {
namespace {

TEST_F(JobTableRecoveryTest, ImagesThatCannotBeRestoredAreTheSameLossInAFurtherEpoch) {
  const JobId job = Run(Request(3));
  Killed(job, 0, SIGKILL);
  ClearedByAll(job);
  NotStarted(job, kTwo, "pid 0: damaged", 1);
  NotStarted(job, kTwo, "pid 1: damaged", 1);
  EXPECT_EQ(State(job), proto::RECOVERING);
  ClearedByAll(job);
  Later(kSecondNs);
  NotStarted(job, kTwo, "pid 0: damaged", 1);  // Is not said once more.
  ClearedByAll(job);
  Later(kSecondNs);
  EXPECT_EQ(LastStart().epoch, Epoch{4});
  ResumedByAll(job, {.from_start = false, .superstep = Superstep{800}, .participants = 3});
  ASSERT_EQ(Shown(job).losses_size(), 1);
  EXPECT_TRUE(Shown(job).losses(0).resumed());
  EXPECT_EQ(
      Shown(job).losses(0).reason(),
      "pid 0 (on w1) was killed by signal 9 (Killed) in superstep 3; node w2 could not start it: "
      "pid 0: damaged");
  EXPECT_EQ(Shown(job).restarts(), 1u);
}

TEST_F(JobTableRecoveryTest, AJobThatOneNodeCannotStartRunsOnAnotherAndTheNodeRests) {
  const JobId job = Submit(Request(2));
  const WorkerId sick = FirstHost(job);
  const WorkerId sound = sick == kOne ? kTwo : kOne;
  NotStarted(job, sick, "no space left on device", 1);
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(Lines(), "node " + NameOf(sick) + " could not start it: no space left on device\n");
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::RECOVERING);  // Attempts are delayed.
  Later(kSecondNs);
  ASSERT_EQ(State(job), proto::RUNNING);
  EXPECT_EQ(FirstHost(job), sound);
  EXPECT_EQ(nodes_.Find(sick)->rests_until_ns, 0u);  // The fault may be the job's.
  ResumedByAll(job, {});
  EXPECT_EQ(Shown(job).restarts(), 0u);
  EXPECT_TRUE(Shown(job).losses().empty());
  EXPECT_EQ(nodes_.Find(sick)->fault, "no space left on device");

  const JobId waits = Submit(Request(2));
  EXPECT_EQ(State(waits), proto::WAITING);
  EXPECT_EQ(Shown(waits).reason(),
            "needs 2 slots, 0 free; node " + NameOf(sick) + " rests: `bsp nodes` says why");
  Later(6 * kSecondNs);
  EXPECT_EQ(FirstHost(waits), sick);
  ResumedByAll(waits, {});
  EXPECT_EQ(nodes_.Find(sick)->fault, "");
}

TEST_F(JobTableRecoveryTest, ANodeRestsLongerEachTimeAlsoAfterItWasLost) {
  Node& node = *nodes_.Find(kOne);
  node.OnFault("no memory", at_.now_ns);
  EXPECT_EQ(node.rests_until_ns, at_.now_ns + 5 * kSecondNs);
  node.OnFault("no memory", at_.now_ns);
  EXPECT_EQ(node.rests_until_ns, at_.now_ns + 10 * kSecondNs);
  Lost(kOne);
  Up(WorkerId{3}, 2);
  Node& again = AddNode(nodes_, WorkerId{4}, NameOf(kOne), 2);
  EXPECT_EQ(again.rests_until_ns, at_.now_ns + 10 * kSecondNs);
  for (int i = 0; i < 100; ++i) again.OnFault("no memory", at_.now_ns);
  EXPECT_EQ(again.rests_until_ns, at_.now_ns + 300 * kSecondNs);
}

TEST_F(JobTableRecoveryTest, AProgramThatCannotBeExecutedAnywhereFailsOnceAllNodesWereTried) {
  const JobId job = Submit(Request(2));
  const WorkerId first = FirstHost(job);
  NotStarted(job, first, "a.out: no such file or directory", 127);
  ClearedByAll(job);
  Later(kSecondNs);
  ASSERT_NE(FirstHost(job), first);
  NotStarted(job, FirstHost(job), "a.out: no such file or directory", 127);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).exit_status(), 127);
  for (const WorkerId worker : {kOne, kTwo}) EXPECT_EQ(nodes_.Find(worker)->fault, "");
}

TEST_F(JobTableRecoveryTest, AJobOfRootFailsAtOnceWhereEachRunsAsTheUserOfHisName) {
  for (const WorkerId worker : {kOne, kTwo})
    nodes_.Find(worker)->registration.mutable_node()->set_accounts("same");
  proto::JobSpec spec = Request(2);
  spec.set_user("root");
  const JobId job = Submit(spec);
  NotStarted(job, FirstHost(job), "the account \"root\" is root's", 126);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).reason(), "the account \"root\" is root's");
}

TEST_F(JobTableRecoveryTest, AJobOfRootIsTriedOnANodeThatHasAnAccountForIt) {
  proto::JobSpec spec = Request(2);
  spec.set_user("root");
  const JobId job = Submit(spec);
  const WorkerId first = FirstHost(job);
  for (const WorkerId worker : {kOne, kTwo})
    nodes_.Find(worker)->registration.mutable_node()->set_accounts(worker == first ? "same"
                                                                                   : "fixed:jobs");
  NotStarted(job, first, "the account \"root\" is root's", 126);
  ClearedByAll(job);
  Later(kSecondNs);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_NE(FirstHost(job), first);
}

TEST_F(JobTableRecoveryTest, ANodeThatIsTheOnlyOneIsTriedAgainWithGrowingDelays) {
  Lost(kTwo);
  const JobId job = Submit(Request(2));
  std::uint64_t waited_ns = 0;
  for (std::uint32_t i = 0; i < kStartsMax; ++i) {
    NotStarted(job, kOne, "no memory", 1);
    ClearedByAll(job);
    ASSERT_EQ(State(job), proto::RECOVERING);
    const std::uint64_t due_ns = table_.next_deadline_ns();
    ASSERT_GT(due_ns, at_.now_ns);
    waited_ns += due_ns - at_.now_ns;
    Later(due_ns - at_.now_ns);
    ASSERT_EQ(State(job), proto::RUNNING) << i;
  }
  EXPECT_GT(waited_ns, 60 * kSecondNs);
  EXPECT_LT(waited_ns, 300 * kSecondNs);
  NotStarted(job, kOne, "no memory", 1);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).reason(), "gave up after 16 tries to start it; the last: no memory");
}

TEST_F(JobTableRecoveryTest, AnEpochThatNobodyTookIsNoRestart) {
  proto::JobSpec spec = Request(2);
  spec.set_restarts_max(1);
  const JobId job = Submit(spec);
  for (int i = 0; i < 3; ++i) {
    const WorkerId host = FirstHost(job);
    Lost(host);
    Up(WorkerId{Value(host) + 10}, 2);
    Later(20 * kSecondNs);
    ASSERT_EQ(State(job), proto::RUNNING) << i << " " << Shown(job).reason();
  }
  EXPECT_EQ(Shown(job).restarts(), 0u);
  EXPECT_TRUE(Shown(job).losses().empty());
}

TEST_F(JobTableRecoveryTest, WhatMustNotRunTwiceIsNotTriedAgainOnceAHostHasBegun) {
  const JobId job = Submit(OnceOnly(3));
  Resumed(job, kOne);
  NotStarted(job, kTwo, "no memory", 1);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::FAILED);
}

TEST_F(JobTableRecoveryTest, AStartThatHangsIsTriedElsewhere) {
  const JobId job = Submit(Request(2));
  const WorkerId hangs = FirstHost(job);
  table_.OnLaunched(job, Epoch{1}, 1'000'000'000, at_);
  Later(kStartNs + 99 * kSecondNs);
  EXPECT_EQ(State(job), proto::RUNNING);
  Later(kSecondNs);
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(Lines(), "node " + NameOf(hangs) +
                         " could not start it: its processes did not run in the time that a start "
                         "may take\n");
  ClearedByAll(job);
  Later(kSecondNs);
  EXPECT_NE(FirstHost(job), hangs);
  ResumedByAll(job, {});
  EXPECT_EQ(table_.next_deadline_ns(), nodes_.Find(hangs)->rests_until_ns);
  EXPECT_EQ(Shown(job).restarts(), 0u);
}

// With large images it is given longer than others, and after a pause, too.
TEST_F(JobTableRecoveryTest, APauseTakesNothingOfTheTimeThatAStartMayTake) {
  const JobId job = Submit(Request(2));
  table_.OnLaunched(job, Epoch{1}, 100'000'000'000, at_);
  const std::uint64_t images_ns = 10'000 * kSecondNs;
  Later(60 * kSecondNs);
  const std::uint64_t night_ns = 40'000 * kSecondNs;
  at_.now_ns += night_ns;
  table_.OnPaused(night_ns, at_);
  Later(kStartNs + images_ns - 61 * kSecondNs);
  EXPECT_EQ(State(job), proto::RUNNING);
  Later(61 * kSecondNs);
  EXPECT_EQ(State(job), proto::RECOVERING);
}

TEST_F(JobTableRecoveryTest, AStartThatHangsOnTwoNodesBlamesEachOfThem) {
  const JobId job = Submit(Request(3));
  table_.OnLaunched(job, Epoch{1}, 0, at_);
  Later(kStartNs);
  EXPECT_EQ(Lines(),
            "nodes w1, w2 could not start it: its processes did not run in the time that a start "
            "may take\n");
  const auto& refused_by = table_.jobs().at(job).refused_by;
  ASSERT_EQ(refused_by.size(), 2u);
  EXPECT_TRUE(refused_by.contains("w1") && refused_by.contains("w2"));
  ClearedByAll(job);
  Up(WorkerId{3}, 3);
  Later(kSecondNs);
  ResumedByAll(job, {});
  EXPECT_EQ(nodes_.all().size(), 3u);
  for (const WorkerId worker : {kOne, kTwo}) EXPECT_NE(nodes_.Find(worker)->fault, "");
}

}  // namespace
}  // namespace bspnow::coordinator
