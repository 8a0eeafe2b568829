#include "runtime/link/memory_room.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/testing/scratch_directory.h"
#include "runtime/link/memory_group.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kLimit = 1024 * kMiB;
constexpr std::uint64_t kUsable = kLimit - 16 * kMiB;  // The kernel takes something, too.

/// The files of a control group, and what is in the segment of it.
class MemoryRoomTest : public ::testing::Test {
 protected:
  MemoryRoomTest() {
    group_.limit_bytes = kLimit;
    directory_.path().copy(group_.path, MemoryGroup::kPathBytes - 1);
  }

  /// As a whole: another thread may be reading it.
  void Write(const std::string& name, const std::string& text) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path + ".new") << text << '\n';
    std::filesystem::rename(path + ".new", path);
  }

  /// As version 2 has it; what is not held are files in the caches.
  void Use(std::uint64_t bytes, std::uint64_t held) {
    Write("memory.current", std::to_string(bytes));
    Write("memory.stat",
          "anon " + std::to_string(kLimit) + "\nfile " + std::to_string(bytes - held / 2) +
              "\ninactive_anon " + std::to_string(held / 2) + "\nactive_anon " +
              std::to_string(held - held / 2) + "\nanon_thp " + std::to_string(kLimit));
  }

  bool Take(std::uint64_t bytes) { return room_.Take(bytes); }
  /// It is in what the group counts from now on.
  bool Fill(std::uint64_t bytes) {
    if (!room_.Take(bytes)) return false;
    room_.Filled(bytes);
    return true;
  }

  ScratchDirectory directory_;
  MemoryGroup group_{};
  MemoryRoom room_{group_};
};

TEST_F(MemoryRoomTest, WhatProgramsHoldThemselvesLeavesLessForTheirCalls) {
  Use(700 * kMiB, 700 * kMiB);
  EXPECT_TRUE(Fill(300 * kMiB));
  EXPECT_FALSE(Take(400 * kMiB));
  EXPECT_EQ(room_.left_bytes(), kUsable - 700 * kMiB);
}

TEST_F(MemoryRoomTest, FilesInTheCachesGiveWay) {
  Use(kLimit, 200 * kMiB);
  EXPECT_TRUE(Fill(800 * kMiB));
  EXPECT_FALSE(Take(900 * kMiB));
  EXPECT_EQ(room_.left_bytes(), kUsable - 200 * kMiB);
}

TEST_F(MemoryRoomTest, VersionOneCountsTheGroupsBelow) {
  Write("memory.usage_in_bytes", std::to_string(kLimit));
  Write("memory.stat", "active_anon 5\ninactive_anon 7\ntotal_inactive_anon " +
                           std::to_string(500 * kMiB) + "\ntotal_active_anon " +
                           std::to_string(100 * kMiB));
  EXPECT_FALSE(Take(500 * kMiB));
  EXPECT_EQ(room_.left_bytes(), kUsable - 600 * kMiB);
  EXPECT_TRUE(Fill(300 * kMiB));
}

TEST_F(MemoryRoomTest, LittleIsTakenBetweenTwoLooks) {
  Use(0, 0);
  EXPECT_TRUE(Fill(kMiB));
  Use(kLimit, kLimit);
  std::uint64_t unseen = 0;
  while (unseen < kLimit && Fill(kMiB)) unseen += kMiB;
  EXPECT_GT(unseen, 0u);
  EXPECT_LE(unseen, 16 * kMiB);
}

TEST_F(MemoryRoomTest, TheLessIsLeftTheSoonerItLooks) {
  Use(kUsable - 3 * kMiB, kUsable - 3 * kMiB);
  EXPECT_TRUE(Fill(kMiB));
  Use(kUsable, kUsable);
  EXPECT_TRUE(Fill(kMiB));
  EXPECT_FALSE(Take(1));
}

// Its pages go back when it ends, or is killed.
TEST_F(MemoryRoomTest, WhatAWriterOfAnImageHoldsEndsNoJob) {
  Use(kLimit, kLimit);
  group_.images = 1;
  EXPECT_TRUE(Fill(64 * kMiB));
  EXPECT_EQ(group_.filling_bytes.load(), 0u);
  group_.images = 0;
  EXPECT_FALSE(Take(64 * kMiB));
}

TEST_F(MemoryRoomTest, NoMoreIsHeldThanIsUsed) {
  Use(500 * kMiB, 900 * kMiB);
  EXPECT_FALSE(Take(600 * kMiB));
  EXPECT_EQ(room_.left_bytes(), kUsable - 500 * kMiB);
}

TEST_F(MemoryRoomTest, WhatOthersFillIsAwaitedAndNotCountedTwice) {
  Use(0, 0);
  ASSERT_TRUE(Take(600 * kMiB));
  Use(300 * kMiB, 300 * kMiB);
  std::thread other([this] { EXPECT_TRUE(MemoryRoom(group_).Take(400 * kMiB)); });
  while (group_.claimed_bytes.load() == 600 * kMiB) std::this_thread::yield();
  Use(600 * kMiB, 600 * kMiB);
  room_.Filled(600 * kMiB);
  other.join();
  EXPECT_EQ(group_.filling_bytes.load(), 400 * kMiB);
}

TEST_F(MemoryRoomTest, TwoAtATimeDoNotTakeTheSameRoom) {
  Use(0, 0);
  ASSERT_TRUE(Take(600 * kMiB));
  std::thread other([this] { EXPECT_FALSE(MemoryRoom(group_).Take(600 * kMiB)); });
  while (group_.claimed_bytes.load() == 600 * kMiB) std::this_thread::yield();
  Use(600 * kMiB, 600 * kMiB);
  room_.Filled(600 * kMiB);
  other.join();
}

TEST_F(MemoryRoomTest, AGroupThatCannotBeReadLimitsNothing) {
  EXPECT_TRUE(Take(2 * kLimit));
  group_.limit_bytes = 0;
  Use(kLimit, kLimit);
  EXPECT_TRUE(Take(2 * kLimit));
}

TEST_F(MemoryRoomTest, TheTextNamesTheCallAndTheSizes) {
  Use(1000 * kMiB, 1000 * kMiB);
  const auto fill = [this] {
    const FillingMemory filling(group_, {.call = "bsp_put", .pid = Pid{3}}, 64 * kMiB);
  };
  EXPECT_EXIT(fill(), ::testing::ExitedWithCode(6),
              "bsp_put: pid 3 needs 67108864 bytes more to keep what is transferred until the "
              "barrier, and 8388608 are left of the 1073741824");
}

}  // namespace
}  // namespace bspnow::runtime
