#include "runtime/link/lane_barrier.h"

#include <gtest/gtest.h>

namespace bspnow {
namespace {

constexpr std::uint32_t kHosts = 3;
constexpr std::uint32_t kOn = 4;  // The barrier at which all were ready.
constexpr std::uint32_t kBarrier = kOn + 1;

/// Node 0, whose lanes are on.
class LaneBarrierTest : public testing::Test {
 protected:
  LaneBarrierTest() { lanes_.TurnOn(kOn); }

  void Send(std::uint32_t barrier) {
    ASSERT_TRUE(lanes_.BeginSending(barrier));
    lanes_.NoteComposed(barrier);
    lanes_.EndSending();
  }

  LaneState state_{};
  LaneBarrier lanes_{state_, 0, kHosts};
};

TEST_F(LaneBarrierTest, CarriesNothingBeforeAllAreReady) {
  LaneState state{};
  LaneBarrier lanes(state, 0, kHosts);
  EXPECT_FALSE(lanes.MayCarry(1));
  EXPECT_FALSE(lanes.BeginSending(1));
  EXPECT_FALSE(lanes_.MayCarry(kOn));
  EXPECT_TRUE(lanes_.MayCarry(kBarrier));
}

TEST_F(LaneBarrierTest, IsCompleteWhenItsOwnFrameIsSentAndAllOthersAreHere) {
  lanes_.NoteHere(1, kBarrier);
  lanes_.NoteHere(2, kBarrier);
  EXPECT_FALSE(lanes_.Complete(kBarrier));
  Send(kBarrier);
  EXPECT_TRUE(lanes_.Complete(kBarrier));
  lanes_.NoteHere(1, kBarrier + 1);
  EXPECT_TRUE(lanes_.Complete(kBarrier)) << "a peer may be one barrier ahead";
  EXPECT_FALSE(lanes_.Complete(kBarrier + 1));
}

TEST_F(LaneBarrierTest, ABarrierThatIsLeftToWorkersIsNotSent) {
  EXPECT_FALSE(lanes_.LeaveToWorker(kBarrier)) << "the processes will ring";
  EXPECT_FALSE(lanes_.BeginSending(kBarrier));
  EXPECT_TRUE(lanes_.MayCarry(kBarrier + 1));
}

TEST_F(LaneBarrierTest, TheWorkerTakesWhatWasSentBefore) {
  Send(kBarrier);
  EXPECT_TRUE(lanes_.LeaveToWorker(kBarrier));
  EXPECT_TRUE(lanes_.MustStop(kBarrier));
}

TEST_F(LaneBarrierTest, APartOfTheNextBarrierIsRememberedWhateverComesForThisOne) {
  EXPECT_FALSE(lanes_.LeaveToWorker(kBarrier + 1));
  EXPECT_TRUE(lanes_.MayCarry(kBarrier));
  EXPECT_FALSE(lanes_.LeaveToWorker(kBarrier));
  EXPECT_FALSE(lanes_.MayCarry(kBarrier + 1));
}

TEST_F(LaneBarrierTest, AnOrderKeepsBarriersWithTheWorker) {
  state_.hold = 1;
  EXPECT_FALSE(lanes_.BeginSending(kBarrier));
  state_.hold = 0;
  EXPECT_TRUE(lanes_.BeginSending(kBarrier));
}

TEST_F(LaneBarrierTest, IsAbandonedOnceNoProcessSendsOrDrives) {
  ASSERT_TRUE(lanes_.BeginSending(kBarrier));
  lanes_.NoteComposed(kBarrier);
  lanes_.TurnOff();
  EXPECT_FALSE(lanes_.Abandoned());
  lanes_.EndSending();
  EXPECT_TRUE(lanes_.Abandoned());
  EXPECT_FALSE(lanes_.TryToDrive(7)) << "they are the worker's";
  EXPECT_TRUE(lanes_.Abandoned());
  EXPECT_FALSE(lanes_.BeginSending(kBarrier + 1));
}

TEST_F(LaneBarrierTest, FramesThatAreBeingOverwrittenAreNobodysToRepeat) {
  Send(kBarrier);
  Send(kBarrier + 1);
  EXPECT_TRUE(lanes_.StillComposed(kBarrier));
  ASSERT_TRUE(lanes_.BeginSending(kBarrier + 2));
  EXPECT_FALSE(lanes_.StillComposed(kBarrier));
  EXPECT_TRUE(lanes_.StillComposed(kBarrier + 1)) << "a peer may lack it";
  lanes_.GiveUpSending();
  EXPECT_FALSE(lanes_.StillComposed(kBarrier)) << "they were overwritten all the same";
}

TEST_F(LaneBarrierTest, OneDrivesAtATime) {
  ASSERT_TRUE(lanes_.TryToDrive(0));
  EXPECT_FALSE(lanes_.TryToDrive(1));
  lanes_.StopDriving();
  EXPECT_TRUE(lanes_.TryToDrive(1));
}

TEST_F(LaneBarrierTest, AnswersAreLackingOnlyOfWhoWasAskedAtABarrierThatFramesCompleted) {
  Send(kBarrier);
  lanes_.NoteAsked(1, kBarrier);
  EXPECT_FALSE(lanes_.LacksAnyAnswers(kBarrier)) << "the worker may take it over";
  lanes_.NoteGets(kBarrier);
  EXPECT_TRUE(lanes_.LacksAnswers(1, kBarrier));
  EXPECT_FALSE(lanes_.LacksAnswers(2, kBarrier));
  EXPECT_FALSE(lanes_.LacksAnyAnswers(kBarrier + 1));
  lanes_.NoteAnswersHere(1, kBarrier);
  EXPECT_FALSE(lanes_.LacksAnyAnswers(kBarrier));
}

TEST_F(LaneBarrierTest, AnswersAreTheWorkersToSendOnceLanesAreOff) {
  lanes_.BeginAnswers();
  lanes_.NoteAnswers(kBarrier);
  EXPECT_TRUE(lanes_.BeginSendingAnswers());
  lanes_.TurnOff();
  EXPECT_FALSE(lanes_.Abandoned());
  lanes_.EndSending();
  EXPECT_TRUE(lanes_.Abandoned());
  EXPECT_TRUE(lanes_.StillHasAnswers(kBarrier));
  lanes_.BeginAnswers();
  EXPECT_FALSE(lanes_.StillHasAnswers(kBarrier)) << "they are being overwritten";
  EXPECT_FALSE(lanes_.BeginSendingAnswers());
  EXPECT_TRUE(lanes_.Abandoned());
}

TEST_F(LaneBarrierTest, ABarrierThatProcessesWentOnFromIsUnattendedUntilOneComesBack) {
  Send(kBarrier);
  EXPECT_FALSE(lanes_.Unattended(kBarrier)) << "they wait";
  lanes_.GoAhead(kBarrier, 0b10);
  EXPECT_TRUE(lanes_.IsAhead(kBarrier));
  EXPECT_TRUE(lanes_.Unattended(kBarrier));
  EXPECT_FALSE(lanes_.IsAhead(kBarrier + 1));
  EXPECT_FALSE(lanes_.Complete(kBarrier)) << "it goes on without them";
  lanes_.ComeBack(kBarrier);
  EXPECT_FALSE(lanes_.Unattended(kBarrier));
}

TEST_F(LaneBarrierTest, FramesOfBarriersThatAreOverAreNotTaken) {
  EXPECT_FALSE(lanes_.CanCome(kBarrier - 1, kBarrier));
  EXPECT_TRUE(lanes_.CanCome(kBarrier, kBarrier));
  EXPECT_TRUE(lanes_.CanCome(kBarrier + 1, kBarrier));
  EXPECT_FALSE(lanes_.CanCome(kBarrier + 2, kBarrier));
}

}  // namespace
}  // namespace bspnow
