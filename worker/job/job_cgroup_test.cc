// Where this process may make no control group, those that need one are skipped.
#include "worker/job/job_cgroup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

constexpr JobLimits kLimits{.memory_bytes = 16 << 20, .tasks = 20, .processes = 2};

TEST(JobCgroupTest, AnOrdinaryDirectoryIsNone) {
  const ScratchDirectory scratch;
  const CgroupTrees trees{.any = scratch.path(), .memory = {}, .pids = {}, .cpu = {}};
  EXPECT_FALSE(JobCgroup::Make(trees, "group", kLimits).has_value());
  EXPECT_NE(access((scratch.path() + "/group").c_str(), F_OK), 0);
  EXPECT_FALSE(JobCgroup::Make({}, "group", kLimits).has_value());
  EXPECT_EQ(CgroupTrees().Limits(), "none");
}

// Runs `program` in the group; its wait status once the group has gone.
int StatusInGroup(JobCgroup& group, const std::function<void()>& program,
                  const std::function<bool()>& is_enough) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int entry : group.entries()) {
      if (write(entry, "0", 1) != 1) _exit(1);
    }
    program();
    _exit(0);
  }
  const std::uint64_t begin_ns = NowNs();
  const auto late = [begin_ns] { return NowNs() - begin_ns > 20'000'000'000u; };
  while (!is_enough() && !late()) {
  }
  while (!group.End() && !late()) {
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

std::string Name() { return "bspnow-test-" + std::to_string(getpid()); }

TEST(JobCgroupTest, WhatStartsOthersAllTheTimeIsKilledWithAllOfThem) {
  const CgroupTrees trees = PrepareCgroups();
  auto group = JobCgroup::Make(trees, Name(), kLimits);
  if (!group) GTEST_SKIP() << "no control group can be made here";
  const std::string path = (trees.any.empty() ? trees.pids : trees.any) + "/" + Name();
  const int status = StatusInGroup(
      *group,
      [] {
        for (int i = 0; i < 100'000; ++i) {
          if (const pid_t next = fork(); next != 0) pause();  // The newest goes on.
        }
      },
      [&group] { return group->Members().size() >= 5; });
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(JobCgroupTest, WhatTakesMoreMemoryIsKilledAndKnown) {
  const CgroupTrees trees = PrepareCgroups();
  auto group = JobCgroup::Make(trees, Name(), kLimits);
  if (!group || trees.memory.empty()) GTEST_SKIP() << "memory cannot be limited here";
  EXPECT_EQ(group->TakeMemoryKill(), MemoryKill::kNone);
  bool ran_out = false;
  const int status = StatusInGroup(
      *group,
      [] {
        std::vector<char> much(2 * kLimits.memory_bytes, 1);
        pause();
      },
      [&] { return ran_out = group->TakeMemoryKill() == MemoryKill::kAtOwnLimit; });
  EXPECT_TRUE(ran_out);
  EXPECT_EQ(group->TakeMemoryKill(), MemoryKill::kNone) << "it is told once";
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

// Of who writes an image, say: what ends the job much later has nothing to do with it.
TEST(JobCgroupTest, AKillThatTheJobOutlivesIsForgotten) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  const CgroupTrees trees = PrepareCgroups();
  auto group = JobCgroup::Make(trees, Name(), kLimits);
  if (!group || trees.memory.empty()) GTEST_SKIP() << "memory cannot be limited here";
  group->OnLook(0);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const UniqueFd has_ended(ends[0]);
  UniqueFd lives(ends[1]);
  constexpr std::uint64_t kKilledNs = kSecondNs;
  bool ran_out = false;
  StatusInGroup(
      *group,
      [] {
        std::vector<char> much(2 * kLimits.memory_bytes, 1);
        pause();
      },
      [&] {
        lives.Reset();
        char none;
        if (read(has_ended.get(), &none, 1) != 0) return false;
        for (const std::uint64_t after_ns : {0 * kSecondNs, 59 * kSecondNs, 60 * kSecondNs})
          group->OnLook(kKilledNs + after_ns);
        ran_out = group->TakeMemoryKill() == MemoryKill::kAtOwnLimit;
        return true;
      });
  EXPECT_FALSE(ran_out);
}

TEST(JobCgroupTest, AFreshKillCountsHoweverOftenItIsLookedAt) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  const CgroupTrees trees = PrepareCgroups();
  auto group = JobCgroup::Make(trees, Name(), kLimits);
  if (!group || trees.memory.empty()) GTEST_SKIP() << "memory cannot be limited here";
  bool ran_out = false;
  StatusInGroup(
      *group,
      [] {
        std::vector<char> much(2 * kLimits.memory_bytes, 1);
        pause();
      },
      [&] {
        // The first look comes after an hour: what counts is the time since it.
        for (const std::uint64_t at_s : {3'600, 3'602, 3'604}) group->OnLook(at_s * kSecondNs);
        return ran_out = group->TakeMemoryKill() == MemoryKill::kAtOwnLimit;
      });
  EXPECT_TRUE(ran_out);
}

TEST(JobCgroupTest, WhatStartsTooManyIsRefused) {
  const CgroupTrees trees = PrepareCgroups();
  auto group = JobCgroup::Make(trees, Name(), kLimits);
  if (!group || trees.pids.empty()) GTEST_SKIP() << "processes cannot be limited here";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::uint64_t started = 0;
  StatusInGroup(
      *group,
      [&ends] {
        std::uint64_t number = 1;
        for (; number < 2 * kLimits.tasks; ++number) {
          const pid_t next = fork();
          if (next == 0) pause();
          if (next < 0) break;
        }
        if (write(ends[1], &number, sizeof number) != sizeof number) _exit(1);
        pause();
      },
      [&] { return read(ends[0], &started, sizeof started) == sizeof started; });
  EXPECT_EQ(started, kLimits.tasks);
}

TEST(JobCgroupTest, WhatAnEarlierWorkerLeftIsFound) {
  const CgroupTrees trees = PrepareCgroups();
  if (!JobCgroup::Make(trees, Name() + "-1", kLimits))
    GTEST_SKIP() << "no control group can be made here";
  std::vector<JobCgroup> left = JobCgroup::Left(trees, Name());
  EXPECT_FALSE(left.empty());
  for (JobCgroup& group : left) EXPECT_TRUE(group.End());
  EXPECT_TRUE(JobCgroup::Left(trees, Name()).empty());
}

// As when the machine has none left: the job did not take more than it may.
TEST(JobCgroupTest, AKillForWantOfSomebodyElsesMemoryIsNotTheGroups) {
  constexpr std::uint64_t kAbove = kLimits.memory_bytes / 2;
  const CgroupTrees trees = PrepareCgroups();
  if (trees.memory.empty()) GTEST_SKIP() << "memory cannot be limited here";
  const std::string above = trees.memory + "/" + Name() + "-above";
  ASSERT_EQ(mkdir(above.c_str(), 0755), 0);
  for (const char* const name : {"memory.use_hierarchy", "cgroup.subtree_control"})
    std::ofstream(above + "/" + name) << (name[0] == 'm' ? "1" : "+memory");
  for (const char* const name :
       {"memory.max", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"})
    std::ofstream(above + "/" + name) << kAbove;
  std::ofstream(above + "/memory.swap.max") << 0;
  {
    auto group =
        JobCgroup::Make({.any = {}, .memory = above, .pids = {}, .cpu = {}}, Name(), kLimits);
    ASSERT_TRUE(group.has_value());
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    const UniqueFd has_ended(ends[0]);
    UniqueFd lives(ends[1]);
    MemoryKill killed = MemoryKill::kNone;
    const int status = StatusInGroup(
        *group,
        [] {
          std::vector<char> much(kAbove * 3 / 2, 1);
          pause();
        },
        [&] {
          lives.Reset();
          char none;
          if (killed == MemoryKill::kNone) killed = group->TakeMemoryKill();
          return read(has_ended.get(), &none, 1) == 0;
        });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    if (killed == MemoryKill::kNone) killed = group->TakeMemoryKill();
    EXPECT_EQ(killed, MemoryKill::kElsewhere);
    EXPECT_GE(group->peak_bytes(), kAbove / 2);
    EXPECT_LE(group->peak_bytes(), kAbove);
  }
  rmdir(above.c_str());
}

}  // namespace
}  // namespace bspnow::worker
