#include "runtime/link/lane_handing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <span>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/send_descriptors.h"
#include "base/units.h"
#include "runtime/link/link.h"

namespace bspnow::runtime {
namespace {

class LaneHandingTest : public testing::Test {
 protected:
  LaneHandingTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    worker_ = UniqueFd(ends[0]);
    process_ = UniqueFd(ends[1]);
    mailbox_ = KnownDescriptor(process_.get());
  }
  ~LaneHandingTest() override {
    for (const KnownDescriptor& lane : lanes_) {
      if (lane.number() >= 0) UniqueFd(lane.number()).Reset();
    }
  }

  void Put(const LaneHanding& handing, const std::vector<int>& fds) {
    const auto bytes = std::as_bytes(std::span(&handing, 1));
    ASSERT_EQ(SendDescriptors(worker_.get(), bytes, fds, IfFull::kFail), ssize_t{sizeof handing});
  }

  /// The write ends of the pipes of which the read ends were put.
  std::vector<UniqueFd> PutPipes(std::uint32_t count, std::uint32_t bulk_lanes = 0) {
    std::vector<UniqueFd> read_ends;
    std::vector<UniqueFd> write_ends;
    std::vector<int> fds;
    for (std::uint32_t i = 0; i < count; ++i) {
      int ends[2];
      EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
      read_ends.emplace_back(ends[0]);
      write_ends.emplace_back(ends[1]);
      fds.push_back(ends[0]);
    }
    Put({.hosts = count + 1 - bulk_lanes, .bulk_lanes = bulk_lanes, .trusted = 1, .reserved = 0},
        fds);
    return write_ends;
  }

  bool Take(std::uint32_t others, KnownDescriptor* lanes) {
    HandedBulkLanes bulk;
    return TakeLanes(mailbox_, {.others = others, .bulk_lanes = 0}, lanes, bulk) ==
           LanesTaken::kAll;
  }

  static bool AnybodyReads(const UniqueFd& write_end) {
    signal(SIGPIPE, SIG_IGN);
    return write(write_end.get(), "x", 1) == 1;
  }

  UniqueFd worker_;
  UniqueFd process_;
  KnownDescriptor mailbox_;
  KnownDescriptor lanes_[kLanesMax];
};

TEST_F(LaneHandingTest, TakesOneMessageAndMovesItsLanesAway) {
  const std::vector<UniqueFd> first = PutPipes(2);
  const std::vector<UniqueFd> second = PutPipes(2);
  ASSERT_TRUE(Take(2, lanes_));
  for (int i = 0; i < 2; ++i) {
    EXPECT_GE(lanes_[i].number(), 100);
    EXPECT_EQ(fcntl(lanes_[i].number(), F_GETFD), FD_CLOEXEC);
    ASSERT_EQ(write(first[i].get(), i == 0 ? "a" : "b", 1), 1);
    char byte = 0;
    EXPECT_EQ(read(lanes_[i].number(), &byte, 1), 1);
    EXPECT_EQ(byte, i == 0 ? 'a' : 'b') << "in the order of the hosts";
  }
  EXPECT_EQ(lanes_[2].number(), -1);
  KnownDescriptor others[kLanesMax];
  ASSERT_TRUE(Take(2, others)) << "the second one is still there";
  for (int i = 0; i < 2; ++i) UniqueFd(others[i].number()).Reset();
}

TEST_F(LaneHandingTest, WaitsForAMessageThatComesSoon) {
  std::thread worker([this] { PutPipes(1); });
  EXPECT_TRUE(Take(1, lanes_));
  worker.join();
}

TEST_F(LaneHandingTest, GivesUpAfterASecond) {
  const std::uint64_t start_ns = NowNs();
  EXPECT_FALSE(Take(1, lanes_));
  EXPECT_GE(NowNs() - start_ns, 900 * kNsPerMs);
}

TEST_F(LaneHandingTest, KeepsNothingOfAnotherNumberOfLanes) {
  for (const std::uint32_t sent : {1, 3, 4, 5}) {
    const std::vector<UniqueFd> pipes = PutPipes(sent);
    EXPECT_FALSE(Take(2, lanes_));
    for (const UniqueFd& pipe : pipes) EXPECT_FALSE(AnybodyReads(pipe)) << sent;
  }
  EXPECT_EQ(lanes_[0].number(), -1);
}

TEST_F(LaneHandingTest, SaysThatThereIsNoRoomForDescriptors) {
  const std::vector<UniqueFd> pipes = PutPipes(2);
  HandedBulkLanes bulk;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const UniqueFd last(dup(worker_.get()));
  const rlimit full{static_cast<rlim_t>(last.get()) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &full), 0);
  EXPECT_EQ(TakeLanes(mailbox_, {.others = 2, .bulk_lanes = 0}, lanes_, bulk),
            LanesTaken::kNoDescriptors);
  setrlimit(RLIMIT_NOFILE, &before);
  for (const UniqueFd& pipe : pipes) EXPECT_FALSE(AnybodyReads(pipe));
}

TEST_F(LaneHandingTest, GivesBulkLanesAndClosesThoseThatNobodyTakes) {
  const std::vector<UniqueFd> pipes = PutPipes(5, 4);
  {
    HandedBulkLanes bulk;
    ASSERT_EQ(TakeLanes(mailbox_, {.others = 1, .bulk_lanes = 4}, lanes_, bulk), LanesTaken::kAll);
    EXPECT_TRUE(bulk.trusted);
    ASSERT_EQ(write(pipes[3].get(), "x", 1), 1);
    char byte = 0;
    EXPECT_EQ(read(bulk.lanes[2].get(), &byte, 1), 1) << "the lane of the other host is before";
  }
  EXPECT_TRUE(AnybodyReads(pipes[0]));
  for (int i = 1; i < 5; ++i) EXPECT_FALSE(AnybodyReads(pipes[i]));
  const std::vector<UniqueFd> more = PutPipes(5, 3);
  HandedBulkLanes bulk;
  EXPECT_EQ(TakeLanes(mailbox_, {.others = 1, .bulk_lanes = 4}, lanes_, bulk), LanesTaken::kNone)
      << "too few";
}

TEST_F(LaneHandingTest, NoticesThatWorkerOrMailboxIsGone) {
  worker_.Reset();
  EXPECT_FALSE(Take(1, lanes_));
  process_.Reset();
  EXPECT_FALSE(Take(1, lanes_));
  HandedBulkLanes bulk;
  EXPECT_EQ(TakeLanes(KnownDescriptor(), {.others = 1, .bulk_lanes = 0}, lanes_, bulk),
            LanesTaken::kNone);
}

}  // namespace
}  // namespace bspnow::runtime
