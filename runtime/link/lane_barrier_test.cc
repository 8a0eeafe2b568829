#include "runtime/link/lane_barrier.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <random>
#include <vector>

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
    ASSERT_TRUE(lanes_.BeginSending(barrier, ImageAt::kMaybe));
    lanes_.NoteComposed(barrier, 0);
    lanes_.EndSending();
  }

  LaneState state_{};
  LaneBarrier lanes_{state_, 0, kHosts};
};

TEST_F(LaneBarrierTest, CarriesNothingBeforeAllAreReady) {
  LaneState state{};
  LaneBarrier lanes(state, 0, kHosts);
  EXPECT_FALSE(lanes.MayCarry(1, ImageAt::kMaybe));
  EXPECT_FALSE(lanes.BeginSending(1, ImageAt::kMaybe));
  EXPECT_FALSE(lanes_.MayCarry(kOn, ImageAt::kMaybe));
  EXPECT_TRUE(lanes_.MayCarry(kBarrier, ImageAt::kMaybe));
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
  EXPECT_FALSE(lanes_.BeginSending(kBarrier, ImageAt::kMaybe));
  EXPECT_TRUE(lanes_.MayCarry(kBarrier + 1, ImageAt::kMaybe));
}

TEST_F(LaneBarrierTest, TheWorkerTakesWhatWasSentBefore) {
  Send(kBarrier);
  EXPECT_TRUE(lanes_.LeaveToWorker(kBarrier));
  EXPECT_TRUE(lanes_.MustStop(kBarrier));
}

TEST_F(LaneBarrierTest, APartOfTheNextBarrierIsRememberedWhateverComesForThisOne) {
  EXPECT_FALSE(lanes_.LeaveToWorker(kBarrier + 1));
  EXPECT_TRUE(lanes_.MayCarry(kBarrier, ImageAt::kMaybe));
  EXPECT_FALSE(lanes_.LeaveToWorker(kBarrier));
  EXPECT_FALSE(lanes_.MayCarry(kBarrier + 1, ImageAt::kMaybe));
}

// Past 2^32.
TEST_F(LaneBarrierTest, LanesStayOnAndCanBeLeftHoweverManyBarriersTheyCarry) {
  constexpr std::uint32_t kStep = std::uint32_t{1} << 29;
  std::uint32_t barrier = kBarrier;
  for (int i = 0; i < 20; ++i, barrier += kStep) {
    lanes_.KeepUp(barrier - 1);
    EXPECT_TRUE(lanes_.on());
    EXPECT_TRUE(lanes_.MayCarry(barrier, ImageAt::kMaybe)) << i;
    EXPECT_TRUE(lanes_.MayCarry(barrier + 1, ImageAt::kMaybe)) << i;
  }
  EXPECT_FALSE(lanes_.LeaveToWorker(barrier));
  EXPECT_FALSE(lanes_.MayCarry(barrier, ImageAt::kMaybe));
  lanes_.KeepUp(barrier);
  EXPECT_FALSE(lanes_.MayCarry(barrier, ImageAt::kMaybe)) << "it is near";
  EXPECT_TRUE(lanes_.MayCarry(barrier + 1, ImageAt::kMaybe));
}

TEST_F(LaneBarrierTest, TheWorkerMayKeepBarriers) {
  state_.hold = kHoldAll;
  EXPECT_FALSE(lanes_.BeginSending(kBarrier, ImageAt::kMaybe));
  EXPECT_FALSE(lanes_.BeginSending(kBarrier, ImageAt::kNo));
  state_.hold = kHoldNone;
  EXPECT_TRUE(lanes_.BeginSending(kBarrier, ImageAt::kMaybe));
}

// A program may never come to such a barrier, and its order waits for one.
TEST_F(LaneBarrierTest, AnOrderKeepsBarriersAtWhichAnImageCouldBeTaken) {
  state_.hold = kHoldForImage;
  EXPECT_FALSE(lanes_.BeginSending(kBarrier, ImageAt::kMaybe));
  EXPECT_TRUE(lanes_.BeginSending(kBarrier, ImageAt::kNo));
}

TEST_F(LaneBarrierTest, IsAbandonedOnceNoProcessSendsOrDrives) {
  ASSERT_TRUE(lanes_.BeginSending(kBarrier, ImageAt::kMaybe));
  lanes_.NoteComposed(kBarrier, 0);
  lanes_.TurnOff();
  EXPECT_FALSE(lanes_.Abandoned());
  lanes_.EndSending();
  EXPECT_TRUE(lanes_.Abandoned());
  EXPECT_FALSE(lanes_.TryToDrive(7)) << "they are the worker's";
  EXPECT_TRUE(lanes_.Abandoned());
  EXPECT_FALSE(lanes_.BeginSending(kBarrier + 1, ImageAt::kMaybe));
}

TEST_F(LaneBarrierTest, LanesThatCouldNotBeHandedOverAreOffBeforeTheyAreOn) {
  LaneState state{};
  LaneBarrier lanes(state, 0, 3);
  lanes.TurnOff();
  lanes.TurnOn(kBarrier - 1);
  EXPECT_TRUE(lanes.on());
  EXPECT_FALSE(lanes.MayCarry(kBarrier, ImageAt::kMaybe));
  EXPECT_FALSE(lanes.BeginSending(kBarrier, ImageAt::kMaybe));
  EXPECT_FALSE(lanes.TryToDrive(0));
  EXPECT_TRUE(lanes.Abandoned()) << "the worker sees to what the others have sent";
}

TEST_F(LaneBarrierTest, FramesThatAreBeingOverwrittenAreNobodysToRepeat) {
  Send(kBarrier);
  Send(kBarrier + 1);
  EXPECT_TRUE(lanes_.StillComposed(kBarrier));
  ASSERT_TRUE(lanes_.BeginSending(kBarrier + 2, ImageAt::kMaybe));
  EXPECT_FALSE(lanes_.StillComposed(kBarrier));
  EXPECT_TRUE(lanes_.StillComposed(kBarrier + 1)) << "a peer may lack it";
  lanes_.GiveUpSending();
  EXPECT_FALSE(lanes_.StillComposed(kBarrier)) << "they were overwritten all the same";
}

TEST_F(LaneBarrierTest, WhoComesBackCanDriveThoughWhoDroveHasNotGoneOnYet) {
  Send(kBarrier);
  ASSERT_TRUE(lanes_.TryToDrive(0));
  lanes_.GoAhead(kBarrier, 0);
  EXPECT_TRUE(lanes_.IsAhead(kBarrier));
  lanes_.ComeBack(kBarrier);
  EXPECT_TRUE(lanes_.TryToDrive(1));
}

// Its worker may be sending still what its processes would use again.
TEST_F(LaneBarrierTest, NobodyGoesAheadOfTheBarrierAfterOneOfWorkers) {
  lanes_.LeaveToWorker(kBarrier);
  EXPECT_FALSE(lanes_.MayGoAhead(kBarrier + 1));
  EXPECT_TRUE(lanes_.MayGoAhead(kBarrier + 2));
  lanes_.LeaveToWorker(kBarrier + 2);
  EXPECT_FALSE(lanes_.MayGoAhead(kBarrier + 2)) << "it is to be the workers' itself";
  lanes_.KeepUp(kBarrier + (std::uint32_t{1} << 31));
  EXPECT_TRUE(lanes_.MayGoAhead(kBarrier + (std::uint32_t{1} << 31) + 1));
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

// ---- Heads that go by way of others -------------------------------------------------------------

TEST_F(LaneBarrierTest, AHeadIsNotTakenWhereItsHostSendsItsFrameItself) {
  LaneArrival head{.by = 2, .host = 1, .barrier = kBarrier, .direct = 0b001};
  EXPECT_FALSE(lanes_.Takes(head, kBarrier));
  head.direct = 0b110;
  EXPECT_TRUE(lanes_.Takes(head, kBarrier));
  head.by = 1;
  head.direct = 0b001;
  EXPECT_TRUE(lanes_.Takes(head, kBarrier)) << "this is the frame";
  lanes_.NoteHere(head);
  EXPECT_FALSE(lanes_.Takes(head, kBarrier)) << "processes may read the one that is here";
}

/// All nodes of a job, and what is under way between them.
class Dissemination {
 public:
  Dissemination(std::uint32_t hosts, std::uint32_t seed) : hosts_(hosts), random_(seed) {
    for (std::uint32_t host = 0; host < hosts; ++host) {
      lanes_.emplace_back(states_[host], host, hosts);
      lanes_[host].TurnOn(kOn);
      direct_.push_back(Draw(3) == 0 ? Draw(1u << hosts) & ~(1u << host) : 0);
    }
  }

  /// Each node composes at some time, and what is under way comes in any order.
  void Run() {
    std::uint32_t composed = 0;
    while (composed != hosts_ || !under_way_.empty()) {
      if (composed != hosts_ && (under_way_.empty() || Draw(2) == 0)) {
        Compose(composed++);
        continue;
      }
      const std::uint32_t which = Draw(static_cast<std::uint32_t>(under_way_.size()));
      const Message message = under_way_[which];
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(which));
      ASSERT_TRUE(lanes_[message.to].Takes(message.frame, kBarrier)) << "it came twice";
      ASSERT_NE(lanes_[message.to].Awaited(kBarrier) >> message.frame.by & 1, 0u);
      lanes_[message.to].NoteHere(message.frame);
      SendOn(message.to);
    }
    for (const LaneBarrier& lanes : lanes_) EXPECT_TRUE(lanes.Finished(kBarrier));
  }

  std::uint32_t sends() const { return sends_; }
  bool any_direct() const {
    for (const std::uint32_t hosts : direct_)
      if (hosts != 0) return true;
    return false;
  }

 private:
  struct Message {
    std::uint32_t to;
    LaneArrival frame;
  };

  std::uint32_t Draw(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  void Compose(std::uint32_t host) {
    ASSERT_TRUE(lanes_[host].BeginSending(kBarrier, ImageAt::kMaybe));
    lanes_[host].NoteComposed(kBarrier, direct_[host]);
    for (std::uint32_t to = 0; to < hosts_; ++to)
      if ((direct_[host] >> to & 1) != 0)
        under_way_.push_back({to, {host, host, kBarrier, direct_[host]}});
    SendOn(host);
    lanes_[host].EndSending();
  }

  void SendOn(std::uint32_t by) {
    LaneRelay relay;
    while (lanes_[by].Sent(kBarrier) && lanes_[by].TakeRelay(kBarrier, relay)) {
      sends_ += 1;
      for (std::uint32_t host = 0; host < hosts_; ++host)
        if ((relay.heads >> host & 1) != 0)
          under_way_.push_back({relay.to, {by, host, kBarrier, direct_[host]}});
    }
  }

  std::uint32_t hosts_;
  std::minstd_rand random_;
  std::array<LaneState, kLaneHostsMax> states_{};
  std::vector<LaneBarrier> lanes_;
  std::vector<std::uint32_t> direct_;  ///< By host, as its frame says.
  std::vector<Message> under_way_;
  std::uint32_t sends_ = 0;
};

TEST(LaneDisseminationTest, EachNodeGetsThatOfEachOnceInWhateverOrderItComes) {
  for (std::uint32_t hosts = 2; hosts <= kLaneHostsMax; ++hosts) {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
      SCOPED_TRACE(testing::Message() << hosts << " hosts, seed " << seed);
      Dissemination all(hosts, seed);
      all.Run();
      if (!all.any_direct()) {
        const auto steps = static_cast<std::uint32_t>(std::bit_width(hosts - 1));
        EXPECT_EQ(all.sends(), hosts * steps);
      }
      if (HasFailure()) return;
    }
  }
}

// Who completed it at once would compute, and the nodes after it would wait for what it has.
TEST(LaneDisseminationTest, ABarrierIsFinishedOnlyWhenAllIsSentOn) {
  LaneState state{};
  LaneBarrier lanes(state, 0, 4);
  lanes.TurnOn(kOn);
  ASSERT_TRUE(lanes.BeginSending(kBarrier, ImageAt::kMaybe));
  lanes.NoteComposed(kBarrier, 0);
  LaneRelay relay;
  ASSERT_TRUE(lanes.TakeRelay(kBarrier, relay));
  EXPECT_EQ(relay.to, 1u);
  EXPECT_EQ(relay.heads, 0b0001u);
  EXPECT_FALSE(lanes.TakeRelay(kBarrier, relay)) << "it needs that of node 3";
  for (const std::uint32_t host : {1u, 2u, 3u}) lanes.NoteHere(host, kBarrier);
  EXPECT_TRUE(lanes.Complete(kBarrier));
  EXPECT_FALSE(lanes.Finished(kBarrier));
  ASSERT_TRUE(lanes.TakeRelay(kBarrier, relay));
  EXPECT_EQ(relay.to, 2u);
  EXPECT_EQ(relay.heads, 0b1001u);
  EXPECT_TRUE(lanes.Finished(kBarrier));
}

}  // namespace
}  // namespace bspnow
