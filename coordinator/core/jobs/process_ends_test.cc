#include "coordinator/core/jobs/process_ends.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

namespace bspnow::coordinator {
namespace {

ProcessEnd Exit(Reached reached, int status) {
  return ProcessEnd{
      .reached = reached, .superstep = Superstep{3}, .exit_status = status, .signal = 0};
}

ProcessEnd Killed(int signal) {
  return ProcessEnd{
      .reached = Reached::kRunning, .superstep = Superstep{3}, .exit_status = 0, .signal = signal};
}

TEST(ProcessEndsTest, EndsWithTheStatusOfPid0) {
  ProcessEnds job(2);
  EXPECT_FALSE(job.OnExited(Pid{1}, Exit(Reached::kEnded, 0)).kill_all);
  EXPECT_FALSE(job.finished());
  EXPECT_FALSE(job.OnExited(Pid{0}, Exit(Reached::kEnded, 5)).kill_all);
  EXPECT_TRUE(job.finished());
  EXPECT_EQ(job.exit_status(), 5);
}

TEST(ProcessEndsTest, ReportsAStatusAfterBspEndWithoutKillingTheOthers) {
  ProcessEnds job(2);
  EXPECT_FALSE(job.OnExited(Pid{1}, Exit(Reached::kEnded, 4)).kill_all);
  job.OnExited(Pid{0}, Exit(Reached::kEnded, 0));
  EXPECT_EQ(job.exit_status(), 4);
}

TEST(ProcessEndsTest, NamesTheSignalThatKilledAProcess) {
  ProcessEnds job(2);
  const Actions actions = job.OnExited(Pid{1}, Killed(SIGSEGV));
  EXPECT_TRUE(actions.kill_all);
  ASSERT_EQ(actions.reports.size(), 1u);
  EXPECT_EQ(actions.reports[0],
            "pid 1 was killed by signal 11 (Segmentation fault) in superstep 3");
  EXPECT_EQ(job.exit_status(), 128 + SIGSEGV);
}

TEST(ProcessEndsTest, TellsForWhatAProcessWasKilled) {
  ProcessEnds job(2);
  ProcessEnd end = Killed(SIGKILL);
  end.killed_for = "for want of memory";
  EXPECT_EQ(job.OnExited(Pid{1}, end).reports,
            std::vector<std::string>{
                "pid 1 was killed by signal 9 (Killed) in superstep 3, for want of memory"});
}

TEST(ProcessEndsTest, ReportsOnlyTheFirstFailure) {
  ProcessEnds job(3);
  EXPECT_EQ(job.OnExited(Pid{2}, Killed(SIGSEGV)).reports.size(), 1u);
  EXPECT_TRUE(job.OnExited(Pid{0}, Killed(SIGKILL)).reports.empty());
  EXPECT_TRUE(job.OnExited(Pid{1}, Killed(SIGKILL)).reports.empty());
  EXPECT_TRUE(job.finished());
  EXPECT_EQ(job.exit_status(), 128 + SIGSEGV);
}

TEST(ProcessEndsTest, LeavingWithoutBspEndIsAnErrorEvenWithStatus0) {
  ProcessEnds job(2);
  const Actions actions = job.OnExited(Pid{1}, Exit(Reached::kRunning, 0));
  EXPECT_TRUE(actions.kill_all);
  ASSERT_EQ(actions.reports.size(), 1u);
  EXPECT_NE(actions.reports[0].find("pid 1 left without bsp_end in superstep 3 (exit status 0)"),
            std::string::npos);
  EXPECT_EQ(job.exit_status(), 6);
}

TEST(ProcessEndsTest, AnAbortHasSaidItsTextItself) {
  ProcessEnds job(2);
  const Actions actions = job.OnExited(Pid{1}, Exit(Reached::kAborted, 6));
  EXPECT_TRUE(actions.kill_all);
  EXPECT_TRUE(actions.reports.empty());
  EXPECT_EQ(job.exit_status(), 6);
}

TEST(ProcessEndsTest, Pid0MayLeaveBeforeBspBegin) {
  ProcessEnds job(2);
  EXPECT_FALSE(job.OnBegun(Pid{1}).kill_all);
  const Actions actions = job.OnExited(Pid{0}, Exit(Reached::kAttached, 0));
  EXPECT_TRUE(actions.kill_all);  // pid 1 waits in bsp_begin for a number that never comes.
  EXPECT_TRUE(actions.reports.empty());
  job.OnExited(Pid{1}, Killed(SIGKILL));
  EXPECT_EQ(job.exit_status(), 0);
}

TEST(ProcessEndsTest, AnotherPidMustNotLeaveBeforeBspBegin) {
  ProcessEnds job(2);
  EXPECT_FALSE(job.OnExited(Pid{1}, Exit(Reached::kStarted, 0)).kill_all);
  const Actions actions = job.OnBegun(Pid{0});
  EXPECT_TRUE(actions.kill_all);
  ASSERT_EQ(actions.reports.size(), 1u);
  EXPECT_NE(actions.reports[0].find("pid 1 left before bsp_begin"), std::string::npos);
}

TEST(ProcessEndsTest, UnneededProcessesLeaveWithoutAWord) {
  ProcessEnds job(2);
  EXPECT_FALSE(job.OnBegun(Pid{0}).kill_all);
  EXPECT_FALSE(job.OnBegun(Pid{1}).kill_all);
  EXPECT_FALSE(job.OnExited(Pid{1}, Exit(Reached::kUnneeded, 0)).kill_all);
  EXPECT_FALSE(job.OnExited(Pid{0}, Exit(Reached::kEnded, 0)).kill_all);
  EXPECT_EQ(job.exit_status(), 0);
}

TEST(ProcessEndsTest, AnInterruptGivesTheShellsStatus) {
  ProcessEnds job(1);
  EXPECT_TRUE(job.OnInterrupted(SIGINT).kill_all);
  EXPECT_FALSE(job.OnInterrupted(SIGINT).kill_all);
  job.OnExited(Pid{0}, Killed(SIGINT));
  EXPECT_EQ(job.exit_status(), 128 + SIGINT);
}

TEST(ProcessEndsTest, WhatBreaksAJobIsReportedUnlessItFailedBefore) {
  ProcessEnds job(2);
  const Actions actions = job.OnBroken(1, "worker w3 lost");
  EXPECT_TRUE(actions.kill_all);
  EXPECT_EQ(actions.reports, std::vector<std::string>{"worker w3 lost"});
  EXPECT_TRUE(job.OnBroken(127, "no such program").reports.empty());
  EXPECT_EQ(job.exit_status(), 1);
}

TEST(ProcessEndsTest, KnowsWhenNoProcessWasABspProcess) {
  ProcessEnds job(1);
  job.OnExited(Pid{0}, Exit(Reached::kStarted, 0));
  EXPECT_TRUE(job.never_attached());
}

}  // namespace
}  // namespace bspnow::coordinator
