#include "worker/exchange/lane_keeper.h"

#include <gtest/gtest.h>

namespace bspnow::worker {
namespace {

constexpr std::uint32_t kHosts = 2;
constexpr std::uint32_t kBarrier = 5;
constexpr std::uint64_t kShort = LaneKeeper::kPatienceNs / 10;

/// Of node 0, whose processes have sent their frame of kBarrier and wait.
class LaneKeeperTest : public testing::Test {
 protected:
  LaneKeeperTest() {
    lanes_.TurnOn(kBarrier - 1);
    EXPECT_TRUE(lanes_.BeginSending(kBarrier, ImageAt::kMaybe));
    lanes_.NoteComposed(kBarrier, 0);
    lanes_.EndSending();
    EXPECT_FALSE(Look().repeat);
  }

  LaneKeeper::Actions Look(std::uint64_t after_ns = kShort) {
    now_ns_ += after_ns;
    return keeper_.Look(kBarrier, now_ns_);
  }

  LaneState state_{};
  LaneBarrier lanes_{state_, 0, kHosts};
  LaneKeeper keeper_{lanes_, 0, kHosts};
  std::uint64_t now_ns_ = 0;
};

TEST_F(LaneKeeperTest, WhoWaitsRepeatsAgainAndAgain) {
  EXPECT_FALSE(Look().repeat);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Look(LaneKeeper::kPatienceNs).repeat);
    EXPECT_FALSE(Look().repeat);
  }
  EXPECT_FALSE(keeper_.off());
}

/// The barrier is passed, and host 1 was asked for something.
class LaneKeeperAnswersTest : public LaneKeeperTest {
 protected:
  LaneKeeperAnswersTest() {
    lanes_.NoteAsked(1, kBarrier);
    lanes_.NoteGets(kBarrier);
    EXPECT_FALSE(LookAfter().repeat);
  }

  LaneKeeper::Actions LookAfter(std::uint64_t after_ns = kShort) {
    now_ns_ += after_ns;
    return keeper_.Look(kBarrier + 1, now_ns_);
  }
};

TEST_F(LaneKeeperAnswersTest, WhoWaitsForAnswersAsksAgainAndAgain) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(LookAfter(LaneKeeper::kPatienceNs).repeat);
    EXPECT_FALSE(LookAfter().repeat);
  }
  EXPECT_FALSE(keeper_.off());
  lanes_.NoteAnswersHere(1, kBarrier);
  EXPECT_FALSE(LookAfter(LaneKeeper::kPatienceNs).repeat);
}

TEST_F(LaneKeeperAnswersTest, AnswersThatOnlyTheWorkerHasEndTheLanes) {
  EXPECT_TRUE(keeper_.OnAnswers(1, kBarrier, kBarrier + 1));
  EXPECT_FALSE(LookAfter().shut_down) << "they may come";
  EXPECT_TRUE(LookAfter(LaneKeeper::kPatienceNs).shut_down);
  EXPECT_TRUE(LookAfter(0).install);
  EXPECT_FALSE(keeper_.TakeAnswers(0, kBarrier + 1));
  EXPECT_TRUE(keeper_.TakeAnswers(1, kBarrier + 1));
  EXPECT_FALSE(lanes_.LacksAnyAnswers(kBarrier));
  EXPECT_FALSE(LookAfter(0).install);
}

TEST_F(LaneKeeperAnswersTest, OnlyAnswersThatAreLackingAreKept) {
  EXPECT_FALSE(keeper_.OnAnswers(kHosts, kBarrier, kBarrier + 1)) << "of nobody";
  EXPECT_FALSE(keeper_.OnAnswers(1, kBarrier - 1, kBarrier + 1));
  EXPECT_FALSE(keeper_.OnAnswers(1, kBarrier, kBarrier + 2)) << "it is over";
  lanes_.NoteAnswersHere(1, kBarrier);
  EXPECT_FALSE(keeper_.OnAnswers(1, kBarrier, kBarrier + 1)) << "they came by the lane";
}

TEST_F(LaneKeeperAnswersTest, ItsOwnAnswersAreSentOnceTheLanesAreTheWorkers) {
  state_.broken = 1;
  EXPECT_TRUE(LookAfter().look_again);
  EXPECT_FALSE(LookAfter().repeat_answers) << "its processes have not answered";
  lanes_.BeginAnswers();
  lanes_.NoteAnswers(kBarrier);
  EXPECT_TRUE(LookAfter().repeat_answers);
  EXPECT_FALSE(LookAfter().repeat_answers) << "once; who lacks them asks";
}

// They read no lane while they compute, so what the worker has may be in theirs, too.
TEST_F(LaneKeeperTest, WhoWentAheadOfABarrierIsInNoHurryToSeeItsEnd) {
  lanes_.GoAhead(kBarrier, 0b10);
  EXPECT_TRUE(keeper_.OnRepeated(1, kBarrier, kBarrier));
  for (int i = 0; i < 3; ++i) {
    const LaneKeeper::Actions actions = Look(LaneKeeper::kPatienceNs);
    EXPECT_FALSE(actions.shut_down);
    EXPECT_FALSE(actions.repeat);
  }
  lanes_.ComeBack(kBarrier);
  EXPECT_FALSE(Look().shut_down) << "the wait begins now";
  EXPECT_TRUE(Look(LaneKeeper::kPatienceNs).shut_down);
}

// Nobody drives, and a lane is found broken: its worker sees to the end of the barrier.
TEST_F(LaneKeeperTest, ABarrierThatProcessesWentOnFromIsCompletedByTheWorker) {
  lanes_.GoAhead(kBarrier, 0);
  state_.broken = 1;
  EXPECT_TRUE(Look().look_again);
  EXPECT_TRUE(keeper_.OnRepeated(1, kBarrier, kBarrier));
  EXPECT_TRUE(Look().install);
  EXPECT_TRUE(keeper_.TakeRepeated(1, kBarrier & 1, kBarrier));
  EXPECT_TRUE(Look().complete);
}

TEST_F(LaneKeeperTest, AFrameThatMayStillComeByItsLaneIsWaitedFor) {
  EXPECT_TRUE(keeper_.OnRepeated(1, kBarrier, kBarrier));
  EXPECT_FALSE(Look().shut_down);
  lanes_.NoteHere(1, kBarrier);
  EXPECT_FALSE(Look(LaneKeeper::kPatienceNs).shut_down);
  EXPECT_FALSE(keeper_.off());
}

TEST_F(LaneKeeperTest, AFrameThatOnlyTheWorkerHasEndsTheLanes) {
  EXPECT_TRUE(keeper_.OnRepeated(1, kBarrier, kBarrier));
  EXPECT_FALSE(Look().shut_down) << "it may still come";
  const LaneKeeper::Actions actions = Look(LaneKeeper::kPatienceNs);
  EXPECT_TRUE(actions.shut_down);
  EXPECT_TRUE(actions.repeat) << "the others may lack some, too";
  EXPECT_TRUE(actions.look_again);
  EXPECT_FALSE(actions.install) << "who drove may have passed this barrier";
  const LaneKeeper::Actions then = Look(0);
  EXPECT_TRUE(then.install);
  EXPECT_FALSE(then.complete);
  EXPECT_TRUE(keeper_.TakeRepeated(1, kBarrier & 1, kBarrier));
  EXPECT_TRUE(Look(0).complete);
}

TEST_F(LaneKeeperTest, NothingIsTouchedWhileAProcessDrives) {
  ASSERT_TRUE(lanes_.TryToDrive(0));
  EXPECT_TRUE(keeper_.OnRepeated(1, kBarrier, kBarrier));
  state_.broken = 1;
  EXPECT_TRUE(Look().shut_down);
  EXPECT_FALSE(Look().install);
  lanes_.StopDriving();
  EXPECT_TRUE(Look().look_again);
  EXPECT_TRUE(Look().install);
}

// Who drove passed the barrier at the last moment: at the next one nobody has arrived.
TEST_F(LaneKeeperTest, WhatWasReleasedBeforeTheLastDriverStoppedIsNotCompletedAgain) {
  lanes_.NoteHere(1, kBarrier);
  state_.broken = 1;
  const LaneKeeper::Actions actions = Look();
  EXPECT_TRUE(actions.look_again);
  EXPECT_FALSE(actions.complete);
  now_ns_ += kShort;
  EXPECT_FALSE(keeper_.Look(kBarrier + 1, now_ns_).complete);
}

TEST_F(LaneKeeperTest, ABarrierThatIsLeftToWorkersIsNotCompletedByFrames) {
  EXPECT_TRUE(keeper_.OnPartByWorker(kBarrier));
  EXPECT_TRUE(keeper_.OnRepeated(1, kBarrier, kBarrier));
  state_.broken = 1;
  EXPECT_TRUE(Look().look_again);
  if (Look().install) keeper_.TakeRepeated(1, kBarrier & 1, kBarrier);
  EXPECT_FALSE(Look().complete);
}

TEST_F(LaneKeeperTest, OnlyFramesThatCanBeLackingAreKept) {
  EXPECT_FALSE(keeper_.OnRepeated(0, kBarrier, kBarrier)) << "its own";
  EXPECT_FALSE(keeper_.OnRepeated(kHosts, kBarrier, kBarrier)) << "of nobody";
  EXPECT_FALSE(keeper_.OnRepeated(1, kBarrier - 1, kBarrier)) << "of a barrier that is over";
  EXPECT_TRUE(keeper_.OnRepeated(1, kBarrier + 1, kBarrier)) << "a peer may be ahead";
}

TEST_F(LaneKeeperTest, FramesOfThisBarrierAndTheOneBeforeCanBeRepeated) {
  EXPECT_TRUE(keeper_.Repeatable(kBarrier, kBarrier));
  EXPECT_TRUE(keeper_.Repeatable(kBarrier, kBarrier + 1));
  EXPECT_FALSE(keeper_.Repeatable(kBarrier, kBarrier + 2));
  EXPECT_FALSE(keeper_.Repeatable(kBarrier - 1, kBarrier)) << "it went by the worker";
}

/// Node 0 of three: what node 1 has to say may come by way of node 2.
TEST(LaneKeeperOfThreeTest, WhatOnlyTheWorkerHasProvesNothingBeforeAllHaveCome) {
  LaneState state{};
  LaneBarrier lanes(state, 0, 3);
  LaneKeeper keeper(lanes, 0, 3);
  lanes.TurnOn(kBarrier - 1);
  ASSERT_TRUE(lanes.BeginSending(kBarrier, ImageAt::kMaybe));
  lanes.NoteComposed(kBarrier, 0);
  lanes.EndSending();
  std::uint64_t now_ns = 0;
  EXPECT_TRUE(keeper.OnRepeated(1, kBarrier, kBarrier));
  for (int i = 0; i < 5; ++i) {
    now_ns += LaneKeeper::kPatienceNs;
    EXPECT_FALSE(keeper.Look(kBarrier, now_ns).shut_down) << "node 2 may be late";
  }
  EXPECT_TRUE(keeper.OnRepeated(2, kBarrier, kBarrier));
  EXPECT_FALSE(keeper.Look(kBarrier, now_ns).shut_down) << "now both are on their way";
  now_ns += LaneKeeper::kOnTheWayNs;
  EXPECT_TRUE(keeper.Look(kBarrier, now_ns).shut_down);
}

}  // namespace
}  // namespace bspnow::worker
