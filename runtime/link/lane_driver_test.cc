#include "runtime/link/lane_driver.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/send_descriptors.h"
#include "base/unique_fd.h"
#include "runtime/link/testing/lane_node.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint32_t kFirst = 7;

struct Ends {
  UniqueFd here;
  UniqueFd there;
};

Ends MakeEnds(int type) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// One of two nodes, with one process each. All barriers from kFirst on are the lanes'.
class Node {
 public:
  explicit Node(std::uint32_t self) : self_(self), segment_(SegmentOfTwoNodes(self)) {
    NodeHeader& header = segment_.header();
    header.nodes = 2;
    header.participants.value = 2;
    header.barrier.released.value = kFirst;
    LaneBarrier(segment_.lanes().state, self, 2).TurnOn(kFirst - 1);
  }

  const Segment& segment() const { return segment_; }
  NodeHeader& header() const { return segment_.header(); }
  LaneState& state() const { return segment_.lanes().state; }

  /// What the process here puts to the other one in the superstep that this barrier ends.
  void Owe(std::uint32_t barrier, const std::string& records) {
    HeapUse use;
    const std::uint64_t bytes = kChunkHeaderBytes + records.size();
    const std::uint64_t at = segment_.TakeRoom(Pid{self_}, barrier & 1, bytes, use);
    std::byte* const chunk = segment_.arena(Pid{self_}) + at;
    *reinterpret_cast<Chunk*>(chunk) = Chunk{.next = 0, .used_bytes = bytes};
    memcpy(chunk + kChunkHeaderBytes, records.data(), records.size());
    segment_.entry(Pid{self_}, Pid{1 - self_}, (barrier - 1) & 1).puts = at;
    header().barrier.phases[barrier & 1].with_data = 1;
  }

  /// The frame to the other node.
  std::string Frame(std::uint32_t barrier) {
    const LaneShape shape{.segment = &segment_, .self = self_, .hosts = 2, .p = 2};
    EXPECT_TRUE(ComposeLaneFrames(shape, barrier, LaneRoute::kAsOwed));
    const std::vector<std::byte> frame = FrameTo(segment_, 1 - self_, barrier);
    return {reinterpret_cast<const char*>(frame.data()), frame.size()};
  }

  /// What came from the other process.
  std::string Records(std::uint32_t barrier) const {
    const std::uint64_t puts = segment_.entry(Pid{1 - self_}, Pid{self_}, (barrier - 1) & 1).puts;
    if (puts == 0) return "";
    const std::byte* const at = segment_.arena(Pid{1 - self_}) + puts;
    return {reinterpret_cast<const char*>(at) + kChunkHeaderBytes,
            reinterpret_cast<const Chunk*>(at)->used_bytes - kChunkHeaderBytes};
  }

 private:
  const std::uint32_t self_;
  Segment segment_;
};

std::string RandomRecords(std::mt19937& random, std::size_t bytes) {
  std::string records(bytes, 0);
  for (char& byte : records) byte = static_cast<char>(random());
  return records;
}

/// A process that drives, and another node, which is the test's.
class LaneDriverTest : public testing::Test {
 protected:
  LaneDriverTest() {
    const LaneHanding handing{.hosts = 2, .bulk_lanes = 1, .trusted = 1, .reserved = 0};
    const int fds[] = {lane_.here.get(), bulk_.here.get()};
    EXPECT_EQ(SendDescriptors(mailbox_.there.get(), std::as_bytes(std::span(&handing, 1)), fds,
                              IfFull::kFail),
              ssize_t{sizeof handing});
    driver_.Attach(node_.segment(), Pid{0},
                   Doorbell(node_.header().bell, KnownDescriptor(bell_.here.get())),
                   KnownDescriptor(mailbox_.here.get()));
  }
  ~LaneDriverTest() override {
    int numbers[kLanesMax + kBulkLanesMax];
    driver_.Name(numbers);
    for (const int number : numbers)
      if (number >= 0) UniqueFd(number).Reset();
  }

  /// In pieces, as TCP may cut it.
  void Send(std::string bytes) {
    while (!bytes.empty()) {
      const std::size_t piece = std::min<std::size_t>(bytes.size(), 1 + random_() % 90'000);
      ASSERT_EQ(send(lane_.there.get(), bytes.data(), piece, 0), static_cast<ssize_t>(piece));
      bytes.erase(0, piece);
    }
  }

  /// The process here arrives, and waits for the other node's frame.
  void Pass(std::uint32_t barrier) {
    ASSERT_TRUE(driver_.Send(barrier, LaneDriver::Until::kOver));
    driver_.Drive(barrier, LaneDriver::Until::kOver);
  }
  std::uint32_t Released() const { return node_.header().barrier.released.value; }

  std::mt19937 random_{testing::UnitTest::GetInstance()->random_seed() + 1u};
  Node node_{0};
  Node other_{1};
  Ends lane_ = MakeEnds(SOCK_STREAM);
  Ends bulk_ = MakeEnds(SOCK_STREAM);
  Ends bell_ = MakeEnds(SOCK_SEQPACKET);
  Ends mailbox_ = MakeEnds(SOCK_SEQPACKET);
  LaneDriver driver_;
};

TEST_F(LaneDriverTest, FramesOfAllLengthsComeWhole) {
  // Around the room for what is short, and the longest.
  const std::size_t longest =
      kLaneFrameBytesMax - sizeof(LaneFrame) - sizeof(LaneEntry) - kChunkHeaderBytes;
  const std::size_t lengths[] = {16,      65'000,  65'200,  65'536, 300'000,
                                 100'000, longest, 250'000, 48,     400'000};
  std::uint32_t barrier = kFirst;
  for (const std::size_t length : lengths) {
    const std::string records = RandomRecords(random_, length);
    other_.Owe(barrier, records);
    std::thread peer([&, frame = other_.Frame(barrier)] { Send(frame); });
    Pass(barrier);
    peer.join();
    ASSERT_EQ(Released(), barrier + 1);
    ASSERT_TRUE(node_.Records(barrier) == records) << length << " bytes";
    ++barrier;
  }
}

TEST_F(LaneDriverTest, LongRecordsAreSentThoughTheLaneTakesAPartOfThemAtATime) {
  const std::string records = RandomRecords(random_, 400'000);
  node_.Owe(kFirst, records);
  std::vector<std::byte> come(sizeof(LaneFrame));
  std::thread peer([&] {
    recv(lane_.there.get(), come.data(), come.size(), MSG_WAITALL);
    come.resize(reinterpret_cast<const LaneFrame*>(come.data())->bytes);
    recv(lane_.there.get(), come.data() + sizeof(LaneFrame), come.size() - sizeof(LaneFrame),
         MSG_WAITALL);
    Send(other_.Frame(kFirst));
  });
  Pass(kFirst);
  peer.join();
  EXPECT_EQ(node_.segment().lanes().pieces[1][kFirst & 1].count, 1u);
  EXPECT_GT(come.size(), records.size());
  EXPECT_TRUE(come == FrameTo(node_.segment(), 1, kFirst));
}

TEST_F(LaneDriverTest, ALongFrameIsFollowedByTheNextBarriers) {
  const std::string first = RandomRecords(random_, 200'000);
  const std::string second = RandomRecords(random_, 400'000);
  other_.Owe(kFirst, first);
  other_.Owe(kFirst + 1, second);
  std::thread peer([&, frames = other_.Frame(kFirst) + other_.Frame(kFirst + 1)] { Send(frames); });
  Pass(kFirst);
  EXPECT_TRUE(node_.Records(kFirst) == first);
  Pass(kFirst + 1);
  peer.join();
  EXPECT_TRUE(node_.Records(kFirst + 1) == second);
}

// The other node left it to its worker when it had sent a part: nobody waits for the rest, which
// must not be written over a later frame.
TEST_F(LaneDriverTest, TheRestOfALongFrameIsDroppedOnceItsBarrierIsOver) {
  other_.Owe(kFirst, RandomRecords(random_, 300'000));
  const std::string late = other_.Frame(kFirst);
  Send(late.substr(0, 90'000));
  LaneBarrier barrier(node_.state(), 0, 2);
  ASSERT_TRUE(driver_.Send(kFirst, LaneDriver::Until::kOver));
  std::thread worker([&] {
    while (node_.state().under_way[1].come < 90'000) std::this_thread::yield();
    barrier.LeaveToWorker(kFirst);
  });
  driver_.Drive(kFirst, LaneDriver::Until::kOver);
  worker.join();
  ASSERT_EQ(Released(), kFirst);
  node_.header().barrier.released.value = kFirst + 1;  // By the worker.

  const std::string records = RandomRecords(random_, 250'000);
  other_.Owe(kFirst + 1, records);
  // Of the same parity as the late one: its frame has come here another way.
  std::byte* const kept = node_.segment().lanes().in[1][kFirst & 1];
  memset(kept, 'k', kLaneFrameBytesMax);
  std::thread peer([&, rest = late.substr(90'000) + other_.Frame(kFirst + 1)] { Send(rest); });
  Pass(kFirst + 1);
  peer.join();
  EXPECT_TRUE(node_.Records(kFirst + 1) == records);
  EXPECT_EQ(std::count(kept, kept + kLaneFrameBytesMax, std::byte{'k'}), kLaneFrameBytesMax);
}

// It says where the rest is received.
TEST_F(LaneDriverTest, NoBitOfALongFramesHeadIsBelieved) {
  other_.Owe(kFirst, RandomRecords(random_, 100'000));
  const std::string whole = other_.Frame(kFirst);
  for (const std::size_t at : {offsetof(LaneFrame, bytes) + 1, offsetof(LaneFrame, barrier),
                               offsetof(LaneFrame, barrier) + 3, offsetof(LaneFrame, direct)}) {
    std::string frame = whole;
    frame[at] ^= 1;
    const auto& head = *reinterpret_cast<const LaneFrame*>(frame.data());
    EXPECT_NE(CrcOfLongHead(head), head.head_crc32c) << at;
  }
  std::byte* const kept = node_.segment().lanes().in[1][(kFirst + 1) & 1];
  memset(kept, 'k', kLaneFrameBytesMax);
  std::string frame = whole;
  frame[offsetof(LaneFrame, barrier)] ^= 15;  // 7 becomes 8.
  std::thread peer([&] { Send(frame); });
  ASSERT_TRUE(driver_.Send(kFirst, LaneDriver::Until::kOver));
  driver_.Drive(kFirst, LaneDriver::Until::kOver);
  peer.join();
  EXPECT_EQ(node_.state().broken, 1u);
  EXPECT_EQ(std::count(kept, kept + kLaneFrameBytesMax, std::byte{'k'}), kLaneFrameBytesMax);
}

// It computes, or waits for what comes after this frame, of which it needs nothing any more.
TEST_F(LaneDriverTest, NobodySendsForEverToWhoLeftTheBarrierToItsWorker) {
  node_.Owe(kFirst, RandomRecords(random_, 500'000));
  std::thread worker([&] {
    while (node_.state().sent == 0) std::this_thread::yield();
    LaneBarrier(node_.state(), 0, 2).LeaveToWorker(kFirst);
  });
  EXPECT_FALSE(driver_.Send(kFirst, LaneDriver::Until::kOver));
  worker.join();
  EXPECT_EQ(node_.state().broken, 1u);
}

TEST_F(LaneDriverTest, ADamagedLongFrameBreaksTheLane) {
  other_.Owe(kFirst, RandomRecords(random_, 300'000));
  std::string frame = other_.Frame(kFirst);
  frame[frame.size() - 1 - random_() % 200'000] ^= static_cast<char>(1 << random_() % 8);
  std::thread peer([&] { Send(frame); });
  ASSERT_TRUE(driver_.Send(kFirst, LaneDriver::Until::kOver));
  driver_.Drive(kFirst, LaneDriver::Until::kOver);
  peer.join();
  EXPECT_EQ(Released(), kFirst);
  EXPECT_EQ(node_.state().broken, 1u);
}

}  // namespace
}  // namespace bspnow::runtime
