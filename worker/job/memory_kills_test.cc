#include "worker/job/memory_kills.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

class MemoryKillsTest : public testing::Test {
 protected:
  void SetVersionTwo(int kills) {
    std::ofstream(group_ + "/memory.events")
        << "low 0\nhigh 0\nmax 34\noom 2\noom_kill " << kills << "\noom_group_kill 0\n";
  }
  void SetVersionOne(int kills) {
    std::ofstream(group_ + "/memory.oom_control")
        << "oom_kill_disable 0\nunder_oom 0\noom_kill " << kills << "\n";
  }

  const ScratchDirectory scratch_;
  const std::string group_ = scratch_.path();
};

TEST_F(MemoryKillsTest, OfBothVersionsThoseSinceTheLastCallCount) {
  SetVersionOne(7);
  MemoryKills kills(MemoryKillFilesOf(group_));
  EXPECT_FALSE(kills.Take()) << "those of before";
  SetVersionOne(8);
  EXPECT_TRUE(kills.Take());
  EXPECT_FALSE(kills.Take()) << "it is told once";

  SetVersionTwo(1);
  MemoryKills newer(MemoryKillFilesOf(group_));
  SetVersionTwo(3);
  EXPECT_TRUE(newer.Take());
  std::filesystem::remove(group_ + "/memory.events");
  EXPECT_FALSE(newer.Take()) << "the group is gone";
}

TEST_F(MemoryKillsTest, WhereNothingIsCountedThereIsNone) {
  MemoryKills kills(MemoryKillFilesOf(group_));
  EXPECT_FALSE(kills.Take());
  EXPECT_FALSE(MemoryKills().Take());
  std::ofstream(group_ + "/memory.oom_control") << "oom_kill_disable 0\nunder_oom 0\n";
  EXPECT_FALSE(kills.Take());
}

TEST_F(MemoryKillsTest, TheNextFileCountsWhereTheFirstDoesNot) {
  std::ofstream(group_ + "/vmstat") << "nr_free_pages 6\noom_kill 29\n";
  std::vector<std::string> files = MemoryKillFilesOf(group_);
  files.push_back(group_ + "/vmstat");
  MemoryKills kills(files);
  std::ofstream(group_ + "/vmstat") << "nr_free_pages 6\noom_kill 30\n";
  EXPECT_TRUE(kills.Take());
}

TEST_F(MemoryKillsTest, OneIsForgottenAfterAMinute) {
  SetVersionTwo(0);
  MemoryKills kills(MemoryKillFilesOf(group_));
  SetVersionTwo(1);
  EXPECT_FALSE(kills.OnLook(100 * kSecondNs));
  EXPECT_FALSE(kills.OnLook(159 * kSecondNs));
  EXPECT_TRUE(kills.OnLook(160 * kSecondNs));
  EXPECT_FALSE(kills.Take());
  SetVersionTwo(2);
  EXPECT_FALSE(kills.OnLook(162 * kSecondNs));
  EXPECT_TRUE(kills.Take());
}

}  // namespace
}  // namespace bspnow::worker
