#include "worker/exchange/barrier_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/link/lane_barrier.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kPatienceNs = 5'000;

NodeSegment SegmentOf(std::uint32_t nprocs) {
  return *NodeSegment::Create(SegmentPlan{.job = JobId{1},
                                          .epoch = Epoch{1},
                                          .nprocs = nprocs,
                                          .check_full = false,
                                          .memory_bytes = std::uint64_t{1} << 30,
                                          .address_space_bytes = std::uint64_t{1} << 40});
}

class LookAtBarrierTest : public testing::Test {
 protected:
  LookAtBarrierTest() {
    segment_.segment().header().participants.value.store(3);
    segment_.segment().header().barrier.released.value.store(7);
    for (const Pid pid : pids_) {
      cell(pid).state.store(ProcessState::kRunning);
      cell(pid).os_pid = static_cast<std::uint32_t>(getpid());
      cell(pid).arrived.store(8);
    }
  }

  ProcessCell& cell(Pid pid) { return segment_.segment().cell(pid); }
  BarrierLook Look() const { return LookAtBarrier(segment_, pids_); }

  const std::vector<Pid> pids_ = {Pid{0}, Pid{1}, Pid{2}};
  NodeSegment segment_ = SegmentOf(4);
};

TEST_F(LookAtBarrierTest, FindsNobodyLateWhenAllHaveArrived) {
  EXPECT_EQ(Look(), (BarrierLook{.passed = 7, .arrived = 3}));
}

TEST_F(LookAtBarrierTest, NamesWhoseArrivalIsOfAnEarlierBarrier) {
  cell(Pid{1}).arrived.store(7);
  const BarrierLook look = Look();
  EXPECT_EQ(look.arrived, 2u);
  ASSERT_EQ(look.late.size(), 1u);
  EXPECT_EQ(look.late[0].pid, Pid{1});
  EXPECT_EQ(look.late[0].lateness, Lateness::kComputing);  // This test runs.
  EXPECT_TRUE(look.late[0].begun);
}

// Pid 1 waits for the answer of a process of another node, pid 2 computes after the same barrier.
TEST_F(LookAtBarrierTest, WhoWaitsForAnswersToItsGetsIsNotLate) {
  for (const Pid pid : {Pid{1}, Pid{2}}) cell(pid).arrived.store(7);
  cell(Pid{1}).started.value.store(5);
  cell(Pid{1}).answered.value.store(5);
  cell(Pid{2}).started.value.store(6);
  cell(Pid{2}).answered.value.store(5);
  const BarrierLook look = Look();
  EXPECT_EQ(look.arrived, 2u);
  ASSERT_EQ(look.late.size(), 1u);
  EXPECT_EQ(look.late[0].pid, Pid{2});
}

// Pids 0 and 2 are a group, in which 2 is awaited; pid 1 waits for both.
TEST_F(LookAtBarrierTest, WhoWaitsInAGroupIsNotLate) {
  const Segment& segment = segment_.segment();
  GroupSlot& slot = segment.group_slot(0);
  slot.members = 2;
  slot.offset = segment.layout().parts_offset;
  slot.state.store(GroupSlot::kOpen);
  segment.header().groups.used.store(1);
  const Segment part = segment.Part(slot.offset, LayOutGroup(segment.layout(), 2));
  part.header().barrier.released.value.store(4);
  part.cell(Pid{0}).member = 0;
  part.cell(Pid{1}).member = 2;
  part.cell(Pid{0}).arrived.store(5);
  cell(Pid{0}).arrived.store(7);
  cell(Pid{2}).arrived.store(7);
  const BarrierLook look = Look();
  EXPECT_EQ(look.passed, 11u);
  EXPECT_EQ(look.arrived, 2u);
  ASSERT_EQ(look.late.size(), 1u);
  EXPECT_EQ(look.late[0].pid, Pid{2});
  slot.members = 5;  // Nonsense is passed over.
  EXPECT_EQ(Look().late.size(), 2u);
}

TEST_F(LookAtBarrierTest, TellsStoppedAsleepAndDead) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  cell(Pid{1}).arrived.store(7);
  cell(Pid{1}).os_pid = static_cast<std::uint32_t>(child);
  while (Look().late.at(0).lateness != Lateness::kAsleep) usleep(1000);  // tidy: a child's start
  kill(child, SIGSTOP);
  waitpid(child, nullptr, WUNTRACED);
  EXPECT_EQ(Look().late.at(0).lateness, Lateness::kStopped);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(Look().late.at(0).lateness, Lateness::kDead);
}

// Whoever drives the lanes has arrived, but the others are released by its hand.
TEST_F(LookAtBarrierTest, NamesWhoDrivesTheLanesAndIsStopped) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  cell(Pid{2}).os_pid = static_cast<std::uint32_t>(child);
  segment_.segment().lanes().state.driver.store(3);
  EXPECT_TRUE(Look().late.empty());
  kill(child, SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  const BarrierLook look = Look();
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  ASSERT_EQ(look.late.size(), 1u);
  EXPECT_EQ(look.late[0].pid, Pid{2});
  EXPECT_EQ(look.late[0].lateness, Lateness::kStopped);
  EXPECT_EQ(look.arrived, 2u);
}

// Of barrier 7: they have what they count on, and compute.
TEST_F(LookAtBarrierTest, WhoWentAheadOfTheBarrierIsLateAtIt) {
  LaneBarrier lanes(segment_.segment().lanes().state, 0, 2);
  lanes.GoAhead(7, 0);
  EXPECT_EQ(Look().late.size(), 3u);
  lanes.ComeBack(7);
  EXPECT_TRUE(Look().late.empty());
}

TEST_F(LookAtBarrierTest, TellsForHowManyMessagesAProcessWaits) {
  segment_.segment().header().first_superstep = 100;
  cell(Pid{1}).arrived.store(7);
  cell(Pid{1}).counted_wait.expected.store(3);
  cell(Pid{1}).counted_wait.here.store(2);
  cell(Pid{1}).counted_wait.superstep.store(6);
  const LateProcess late = Look().late.at(0);
  EXPECT_EQ(late.lateness, Lateness::kCounting);
  EXPECT_EQ(late.messages, (MessagesAwaited{.superstep = 105, .expected = 3, .here = 2}));
  cell(Pid{2}).arrived.store(7);
  EXPECT_EQ(Look().late.at(0).pid, Pid{2}) << "it may be the one that is to send them";
  EXPECT_EQ(Look().late.at(1).pid, Pid{1});
  // Supersteps go on without a barrier.
  cell(Pid{1}).started.value.fetch_add(1);
  EXPECT_NE(Look().passed, 7u);
}

TEST_F(LookAtBarrierTest, WaitsForNobodyWhoIsNotNeededOrHasEnded) {
  cell(Pid{1}).state.store(ProcessState::kEnded);
  cell(Pid{1}).arrived.store(7);
  cell(Pid{2}).state.store(ProcessState::kUnneeded);
  cell(Pid{2}).arrived.store(0);
  EXPECT_EQ(Look().arrived, 1u);
  EXPECT_TRUE(Look().late.empty());
}

TEST_F(LookAtBarrierTest, BeforeBeginAllWaitForPid0) {
  segment_.segment().header().participants.value.store(0);
  segment_.segment().header().barrier.released.value.store(0);
  for (const Pid pid : pids_) {
    cell(pid).arrived.store(0);
    cell(pid).state.store(ProcessState::kAttached);
  }
  cell(Pid{0}).state.store(ProcessState::kStarted);
  cell(Pid{0}).os_pid = 0;
  const BarrierLook look = Look();
  EXPECT_EQ(look.arrived, 2u);
  ASSERT_EQ(look.late.size(), 1u);
  EXPECT_EQ(look.late[0].pid, Pid{0});
  EXPECT_FALSE(look.late[0].begun);
}

BarrierLook LookWith(std::uint32_t passed, Lateness lateness) {
  return {.passed = passed,
          .arrived = 1,
          .late = {{.pid = Pid{1}, .os_pid = 42, .lateness = lateness, .begun = true}}};
}

TEST(BarrierWatchTest, SaysOnceWhatLastsLongerThanPatience) {
  BarrierWatch watch(0);
  const BarrierLook look = LookWith(0, Lateness::kComputing);
  EXPECT_FALSE(watch.OnLook(look, 4'999, kPatienceNs));
  EXPECT_EQ(watch.OnLook(look, 5'000, kPatienceNs), look);
  EXPECT_FALSE(watch.OnLook(look, 9'000, kPatienceNs));
  EXPECT_EQ(watch.since_ns(), 0u);
}

TEST(BarrierWatchTest, SaysAgainWhatHasChanged) {
  BarrierWatch watch(0);
  EXPECT_TRUE(watch.OnLook(LookWith(0, Lateness::kComputing), 5'000, kPatienceNs));
  const BarrierLook stopped = LookWith(0, Lateness::kStopped);
  EXPECT_EQ(watch.OnLook(stopped, 6'000, kPatienceNs), stopped);
}

TEST(BarrierWatchTest, SaysItAgainForACoordinatorThatWasStartedAgain) {
  BarrierWatch watch(0);
  const BarrierLook look = LookWith(0, Lateness::kStopped);
  EXPECT_TRUE(watch.OnLook(look, 5'000, kPatienceNs));
  watch.SayAgain();
  EXPECT_EQ(watch.OnLook(look, 7'000, kPatienceNs), look);
  EXPECT_EQ(watch.since_ns(), 0u);
  EXPECT_FALSE(watch.OnLook(look, 9'000, kPatienceNs));
}

// What the earlier coordinator did not acknowledge is sent to this one, which may believe it still.
TEST(BarrierWatchTest, TakesBackAlsoWhatItWasToSayAgain) {
  BarrierWatch watch(0);
  EXPECT_TRUE(watch.OnLook(LookWith(0, Lateness::kStopped), 5'000, kPatienceNs));
  watch.SayAgain();
  EXPECT_EQ(watch.OnLook(LookWith(1, Lateness::kStopped), 7'000, kPatienceNs),
            BarrierLook{.passed = 1});
}

TEST(BarrierWatchTest, TakesBackWhatItSaidWhenTheBarrierMoves) {
  BarrierWatch watch(0);
  EXPECT_FALSE(watch.OnLook(LookWith(1, Lateness::kComputing), 1'000, kPatienceNs));
  EXPECT_EQ(watch.since_ns(), 1'000u);
  EXPECT_TRUE(watch.OnLook(LookWith(1, Lateness::kComputing), 6'000, kPatienceNs));
  EXPECT_EQ(watch.OnLook(LookWith(2, Lateness::kComputing), 7'000, kPatienceNs),
            BarrierLook{.passed = 2});
  EXPECT_FALSE(watch.OnLook(LookWith(3, Lateness::kComputing), 8'000, kPatienceNs));
}

}  // namespace
}  // namespace bspnow::worker
