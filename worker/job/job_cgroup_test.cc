// Where this process may make no control group, those that need one are skipped.
#include "worker/job/job_cgroup.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

TEST(JobCgroupTest, AnOrdinaryDirectoryIsNone) {
  const ScratchDirectory scratch;
  EXPECT_FALSE(JobCgroup::Make(scratch.path(), "group").has_value());
  EXPECT_NE(access((scratch.path() + "/group").c_str(), F_OK), 0);
  EXPECT_FALSE(JobCgroup::Make("", "group").has_value());
}

TEST(JobCgroupTest, WhatStartsOthersAllTheTimeIsKilledWithAllOfThem) {
  const std::string name = "bspnow-test-" + std::to_string(getpid());
  const auto group = JobCgroup::Make(OwnCgroup(), name);
  if (!group) GTEST_SKIP() << "no control group can be made here";
  const pid_t child = fork();
  if (child == 0) {
    if (write(group->entry(), "0", 1) != 1) _exit(1);
    for (int i = 0; i < 100'000; ++i) {
      if (const pid_t next = fork(); next != 0) pause();  // The newest goes on.
    }
    _exit(0);
  }
  const auto members = [&group] {
    std::ifstream file(group->path() + "/cgroup.procs");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  const std::uint64_t begin_ns = NowNs();
  const auto late = [begin_ns] { return NowNs() - begin_ns > 20'000'000'000u; };
  while (members() < 5 && !late()) {
  }
  while (!EndCgroup(group->path()) && !late()) {
  }
  EXPECT_NE(access(group->path().c_str(), F_OK), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

}  // namespace
}  // namespace bspnow::worker
