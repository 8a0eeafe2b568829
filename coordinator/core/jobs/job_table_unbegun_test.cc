// Epochs of which some nodes have begun nothing: after a restart of the coordinator, and where the
// start of a job that is not to run again has failed.
#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/jobs/job_table_restart_fixture.h"

namespace bspnow::coordinator {
namespace {

// The row of a start says RUNNING, and for some time nobody has been ordered it: images may have to
// come first. A planned restart of the coordinator then is no loss of anything that ran.
TEST_F(JobTableRestartTest, AStartThatNobodyWasOrderedIsNoLossOfAJobThatIsNotToRunAgain) {
  const JobId job = Run(OnceOnly(3));
  Restart();
  ReturnsUnordered(kOne, {});
  EXPECT_EQ(State(job), proto::RUNNING) << "the other one may have been";
  ReturnsUnordered(kTwo, {{job, 0}});
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(Shown(job).losses_size(), 0);
  Later(kSecondNs);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_EQ(all_.starts.back().epoch, Epoch{2});
  EXPECT_EQ(Shown(job).restarts(), 0u);
}

TEST_F(JobTableRestartTest, AStartThatOneHostWasOrderedMayHaveRunThere) {
  const JobId job = Run(OnceOnly(3));
  Restart();
  ReturnsUnordered(kOne, {});
  EXPECT_EQ(Returns(kTwo, {Held(job, 1)}).size(), 1u);
  EXPECT_EQ(State(job), proto::ENDING);
  Cleared(job, kTwo);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).reason(), "worker w1 is back without its processes");
}

TEST_F(JobTableRestartTest, AStartThatAHostTookAndHoldsNoMoreIsLost) {
  const JobId job = Run(OnceOnly(3));
  Restart();
  ReturnsUnordered(kOne, {{job, 1}});
  EXPECT_EQ(State(job), proto::ENDING);
  EXPECT_EQ(Shown(job).reason(), "worker w1 is back without its processes");
}

TEST_F(JobTableRestartTest, AJobThatIsInterruptedBeforeItIsFoundUnorderedEnds) {
  const JobId job = Run(Request(3));
  Restart();
  ReturnsUnordered(kOne, {});
  Do(table_.OnSignal(job, SIGINT, at_));
  ReturnsUnordered(kTwo, {});
  EXPECT_EQ(State(job), proto::CANCELLED);
}

/// The node has the order, and has started nothing.
HeldEpoch Unbegun(JobId job) {
  return {.job = job,
          .epoch = Epoch{1},
          .participants = 0,
          .clearing = false,
          .begun = {},
          .exited = {},
          .never_began = true};
}

HeldEpoch CouldNotBegin(JobId job) {
  HeldEpoch held = Unbegun(job);
  held.clearing = true;
  return held;
}

// That it could not start was on its way when the coordinator died: the program was not to be had.
TEST_F(JobTableRestartTest, AStartThatFailedUnheardIsNoLossOfAJobThatIsNotToRunAgain) {
  const JobId job = Run(OnceOnly(3));
  Restart();
  EXPECT_EQ(Returns(kOne, {CouldNotBegin(job)}).size(), 1u);
  EXPECT_EQ(State(job), proto::RUNNING) << "the other one may have begun";
  ReturnsUnordered(kTwo, {});
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(all_.ends.size(), 1u);
  Cleared(job, kOne);
  Later(kSecondNs);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_EQ(all_.starts.back().epoch, Epoch{2});
  EXPECT_EQ(Shown(job).losses_size(), 0);
}

TEST_F(JobTableRestartTest, AnOrderThatReachedOneHostOfTwoIsTakenBackIfNothingHasBegun) {
  for (const bool first : {true, false}) {
    const JobId job = Run(OnceOnly(3));
    Restart();
    if (first) Returns(kTwo, {Unbegun(job)});
    ReturnsUnordered(kOne, {});
    if (!first) Returns(kTwo, {Unbegun(job)});
    EXPECT_EQ(State(job), proto::RECOVERING);
    EXPECT_EQ(all_.ends.back().worker, kTwo);
    Cleared(job, kTwo);
    Later(kSecondNs);
    EXPECT_EQ(State(job), proto::RUNNING);
    Anew();
  }
}

TEST_F(JobTableRestartTest, AnOrderThatIsTakenBackTooLateEndsAJobThatIsNotToRunAgain) {
  const JobId job = Run(OnceOnly(3));
  Restart();
  Returns(kTwo, {Unbegun(job)});
  ReturnsUnordered(kOne, {});
  proto::JobCleared used;
  used.set_began(true);
  EXPECT_TRUE(table_.AddUsage(job, Epoch{1}, kTwo, used));
  Cleared(job, kTwo);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).exit_status(), 1);
  EXPECT_EQ(Shown(job).reason(),
            "the coordinator was restarted before its processes had begun; its processes had begun "
            "on node w2, and it is not to run again");
}

TEST_F(JobTableRestartTest, AProcessThatBeginsWhileAnotherHostIsAwaitedHasRun) {
  const JobId job = Run(OnceOnly(3));
  Restart();
  Returns(kTwo, {Unbegun(job)});
  Do(table_.OnBegun(job, Epoch{1}, Pid{2}, at_));
  ReturnsUnordered(kOne, {});
  EXPECT_EQ(State(job), proto::ENDING);
}

// As without a restart: other nodes are tried.
TEST_F(JobTableRestartTest, AStartThatFailsAfterTheRestartIsTriedAgain) {
  const JobId job = Run(OnceOnly(3));
  Restart();
  for (const WorkerId host : {kOne, kTwo}) Returns(host, {Unbegun(job)});
  EXPECT_EQ(all_.returned.size(), 1u);
  NotStarted(job, kOne, "no space left on device", 1);
  EXPECT_EQ(State(job), proto::RECOVERING);
}

// The node that had nothing is gone again before the other one is back.
TEST_F(JobTableRestartTest, AHostThatHadNothingMayBeLostWhileAnotherIsAwaited) {
  for (const bool ordered : {false, true}) {
    const JobId job = Run(OnceOnly(3));
    Restart();
    ReturnsUnordered(kOne, {});
    Do(NodeLost(kOne, {}));
    EXPECT_EQ(State(job), proto::RUNNING);
    if (ordered) {
      Returns(kTwo, {Held(job, 1)});
      EXPECT_EQ(State(job), proto::ENDING);
      Cleared(job, kTwo);
      EXPECT_EQ(State(job), proto::FAILED);
    } else {
      ReturnsUnordered(kTwo, {});
      EXPECT_EQ(State(job), proto::RECOVERING);
      Up(WorkerId{3}, 2);
      Later(kSecondNs);
      EXPECT_EQ(State(job), proto::RUNNING);
    }
    Anew();
  }
}

TEST_F(JobTableRestartTest, AHostThatHadNothingMayBeLostWhileTheOtherDoesNotReturn) {
  const JobId job = Run(Request(3));
  Restart();
  ReturnsUnordered(kOne, {});
  Do(NodeLost(kOne, {}));
  Later(kReturnNs);
  EXPECT_EQ(State(job), proto::RECOVERING);
  Up(WorkerId{3}, 3);
  EXPECT_EQ(State(job), proto::RUNNING);
}

// Of two nodes one says that it cannot start, and the other one had begun by then.
TEST_F(JobTableRestartTest, AJobThatIsNotToRunAgainEndsIfAHostHadBegunUnheard) {
  for (const bool began : {true, false}) {
    const JobId job = Run(OnceOnly(3));
    NotStarted(job, kOne, "no space left on device", 1);
    EXPECT_EQ(State(job), proto::RECOVERING);
    proto::JobCleared used;
    used.set_began(began);
    table_.AddUsage(job, Epoch{1}, kTwo, used);
    Cleared(job, kTwo);
    Cleared(job, kOne);
    EXPECT_EQ(State(job), began ? proto::FAILED : proto::RECOVERING);
    Anew();
  }
}

// It runs again in any case.
TEST_F(JobTableRestartTest, AJobThatMayRunAgainDoesSoWhateverHadBegun) {
  const JobId job = Run(Request(3));
  NotStarted(job, kOne, "no space left on device", 1);
  proto::JobCleared used;
  used.set_began(true);
  table_.AddUsage(job, Epoch{1}, kTwo, used);
  for (const WorkerId host : {kOne, kTwo}) Cleared(job, host);
  EXPECT_EQ(State(job), proto::RECOVERING);
}

}  // namespace
}  // namespace bspnow::coordinator
