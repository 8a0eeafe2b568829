#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {
namespace {

constexpr ResumePoint kFrom800{.from_start = false, .superstep = Superstep{800}, .participants = 3};

// ---- What "Recovery" in docs/design.md promises -------------------------------------------------

TEST_F(JobTableRecoveryTest, AKilledProcessSendsAllBackToTheLastCheckpoint) {
  const JobId job = Run(Request(3));
  Killed(job, 1, SIGSEGV);
  EXPECT_EQ(State(job), proto::RECOVERING);
  EXPECT_EQ(all_.recovering, std::vector<JobId>{job});
  ASSERT_EQ(all_.ends.size(), 2u);
  EXPECT_FALSE(all_.ends[0].keep_files);
  EXPECT_EQ(all_.ends[0].epoch, Epoch{1});
  Cleared(job, kOne);
  EXPECT_TRUE(all_.starts.empty());  // The old epoch may still advance on the other node.
  Cleared(job, kTwo);
  EXPECT_EQ(all_.cleared, std::vector<JobId>{job});
  ASSERT_EQ(all_.starts.size(), 1u);
  EXPECT_EQ(LastStart().epoch, Epoch{2});
  EXPECT_TRUE(LastStart().resumes);
  EXPECT_EQ(State(job), proto::RUNNING);
  at_.now_ns += 14 * kSecondNs / 10;
  ResumedByAll(job, kFrom800);
  EXPECT_EQ(Lines(),
            "pid 1 (on w1) was killed by signal 11 (Segmentation fault) in superstep 3\n"
            "resumed from superstep 800 in 1.4 s\n");
  ASSERT_EQ(Shown(job).losses_size(), 1);
  const proto::JobLoss& loss = Shown(job).losses(0);
  EXPECT_EQ(loss.superstep(), 3u);
  EXPECT_TRUE(loss.resumed());
  EXPECT_FALSE(loss.from_start());
  EXPECT_EQ(loss.from_superstep(), 800u);
  EXPECT_EQ(loss.after_ms(), 1400u);
  EXPECT_EQ(Shown(job).restarts(), 1u);
  EXPECT_EQ(Shown(job).reason(), "");
  EXPECT_EQ(all_.store.back().records[0].job().losses_size(), 1);
}

TEST_F(JobTableRecoveryTest, AJobWithoutACheckpointStartsAgain) {
  const JobId job = Run(Request(2));
  Killed(job, 0, SIGKILL);
  ClearedByAll(job);
  ResumedByAll(job, {});
  EXPECT_TRUE(Shown(job).losses(0).from_start());
  EXPECT_NE(Lines().find("resumed from the start in 0.0 s"), std::string::npos);
}

TEST_F(JobTableRecoveryTest, WhatFailsByItselfIsNotStartedAgain) {
  const JobId exits = Run(Request(2));
  Exits(exits, 1, Exit(Reached::kRunning, 3));
  EXPECT_EQ(State(exits), proto::ENDING);
  ClearedByAll(exits);
  EXPECT_EQ(Shown(exits).exit_status(), 3);

  const JobId aborts = Run(Request(2));
  Exits(aborts, 1, Exit(Reached::kAborted, 6));
  ClearedByAll(aborts);
  EXPECT_EQ(State(aborts), proto::FAILED);

  const JobId large = Run(Request(2));
  Do(table_.OnFailed(large, Epoch{1}, "an h-relation of 1 TiB", at_));
  ClearedByAll(large);
  EXPECT_EQ(State(large), proto::FAILED);
  EXPECT_TRUE(Shown(large).losses().empty());
}

TEST_F(JobTableRecoveryTest, ALostWorkersProcessesGoToWhoIsLeft) {
  const JobId job = Run(Request(3));
  Up(WorkerId{3}, 2);
  Do(NodeLost(kOne, {{job, Superstep{812}}}));
  EXPECT_EQ(State(job), proto::RECOVERING);
  ASSERT_EQ(all_.ends.size(), 1u);
  EXPECT_EQ(all_.ends[0].worker, kTwo);
  EXPECT_EQ(Shown(job).losses(0).reason(), "worker w1 lost at superstep 812: lease expired");
  EXPECT_EQ(Shown(job).losses(0).superstep(), 812u);
  Cleared(job, kTwo);
  EXPECT_EQ(NodesOf(Record(job)), (std::vector<std::string>{"w2", "w3"}));
  EXPECT_EQ(LastStart().epoch, Epoch{2});
}

TEST_F(JobTableRecoveryTest, WhatTheServiceBrokeIsRecovered) {
  const JobId job = Run(Request(2));
  Do(table_.OnBroken(job, Epoch{1}, "its processes were killed, with bsp-host", at_));
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_EQ(EpochOf(Record(job)), Epoch{2});
}

TEST_F(JobTableRecoveryTest, NothingBreaksAJobWhoseProcessesHaveAllEnded) {
  const JobId job = Run(Request(1));
  Exits(job, 0, Exit(Reached::kEnded, 0));
  Do(table_.OnBroken(job, Epoch{1}, "the worker was shut down", at_));
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::SUCCEEDED);
}

TEST_F(JobTableRecoveryTest, WaitsForSlotsWithTheReasonAndGoesFirst) {
  const JobId job = Run(Request(4));
  const JobId other = Submit(Request(2));
  Lost(kOne);
  Cleared(job, kTwo);
  EXPECT_EQ(State(job), proto::RECOVERING);
  // Options are of the submission, and that was long ago.
  EXPECT_EQ(Shown(job).reason(), "needs 4 slots, the cluster has 2: start more workers");
  EXPECT_EQ(State(other), proto::RUNNING);  // It would wait in vain.
  const JobId third = Submit(Request(2));
  Up(WorkerId{3}, 2);
  EXPECT_EQ(State(third), proto::WAITING);
  EXPECT_EQ(Shown(job).reason(), "needs 4 slots, 2 free");
  Exits(other, 0, Exit(Reached::kEnded, 0));
  Exits(other, 1, Exit(Reached::kEnded, 0));
  ClearedByAll(other);
  EXPECT_EQ(State(job), proto::RUNNING);
}

TEST_F(JobTableRecoveryTest, ARecoveringJobGoesBeforeAnOlderOneOfItsPriority) {
  const JobId first = Run(Request(2));
  const JobId job = Run(Request(2));
  const JobId wide = Submit(Request(4));
  const JobId urgent = [&] {
    proto::JobSpec spec = Request(2);
    spec.set_priority(1);
    return Submit(spec);
  }();
  Killed(job, 0, SIGKILL);
  Cleared(job, FirstHost(job));
  EXPECT_EQ(State(urgent), proto::RUNNING);
  EXPECT_EQ(State(job), proto::RECOVERING);
  Exits(first, 0, Exit(Reached::kEnded, 0));
  Exits(first, 1, Exit(Reached::kEnded, 0));
  ClearedByAll(first);
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_EQ(State(wide), proto::WAITING);
}

TEST_F(JobTableRecoveryTest, NeedsACpuThatItsImageKnows) {
  Lost(kOne);
  Lost(kTwo);
  const auto modern_up = [this](WorkerId worker) {
    AddNode(nodes_, worker, NameOf(worker), 4).cpu_features = {"avx2", "avx512f"};
    Do(table_.OnNodeUp(worker, at_));
  };
  modern_up(WorkerId{3});
  const JobId job = Run(Request(4));
  Up(kOne, 4);
  Up(kTwo, 4);
  ASSERT_EQ(NodesOf(Record(job)), std::vector<std::string>{"w3"});
  table_.SetCpuFeatures(job, {"avx2", "avx512f"});
  Lost(WorkerId{3});
  EXPECT_EQ(Shown(job).reason(),
            "needs avx2, which nodes w1, w2 lack; with --cpu common a job needs less");
  modern_up(WorkerId{4});
  EXPECT_EQ(NodesOf(Record(job)), std::vector<std::string>{"w4"});
}

// ---- How often ----------------------------------------------------------------------------------

TEST_F(JobTableRecoveryTest, GivesUpWhenRestartsBringNoProgress) {
  const JobId job = RunWithRestarts(2, 3);
  for (int restart = 1; restart <= 3; ++restart) {
    Killed(job, 1, SIGKILL);
    ClearedByAll(job);
    ASSERT_EQ(State(job), proto::RUNNING) << restart;
  }
  Killed(job, 1, SIGKILL);
  EXPECT_EQ(State(job), proto::ENDING);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGKILL);
  EXPECT_EQ(Shown(job).reason(),
            "gave up after 3 restarts without a checkpoint in between; last loss: pid 1 (on w1) "
            "was killed by signal 9 (Killed) in superstep 3");
  EXPECT_EQ(Shown(job).losses_size(), 4);
  EXPECT_EQ(Shown(job).restarts(), 3u);
}

TEST_F(JobTableRecoveryTest, ACommitIsProgress) {
  const JobId job = RunWithRestarts(2, 1);
  for (int restart = 1; restart <= 20; ++restart) {
    Killed(job, 1, SIGKILL);
    ClearedByAll(job);
    ASSERT_EQ(State(job), proto::RUNNING) << restart;
    Do(table_.OnCheckpointCommitted(job, at_));
    EXPECT_EQ(all_.store.back().records[0].restarts_in_row(), 0u);
  }
  EXPECT_EQ(Shown(job).restarts(), 20u);
  EXPECT_EQ(Shown(job).losses_size(), kLossesMax);
}

TEST_F(JobTableRecoveryTest, StandardInputCannotBeSentTwice) {
  const JobId job = Run(Request(2));
  Do(table_.OnInput(job, at_));
  EXPECT_TRUE(all_.store.back().records[0].took_input());
  Killed(job, 1, SIGKILL);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGKILL);
  EXPECT_NE(Shown(job).reason().find("cannot be started again, because pid 0 was sent standard"),
            std::string::npos);
}

// ---- More than one thing at once ----------------------------------------------------------------

TEST_F(JobTableRecoveryTest, ASecondLossWhileItIsClearedAwayIsTheSameRecovery) {
  const JobId job = Run(Request(3));
  Killed(job, 0, SIGKILL);
  Killed(job, 1, SIGKILL);
  Do(table_.OnBroken(job, Epoch{1}, "an arena was damaged", at_));
  Exits(job, 2, Exit(Reached::kAborted, 6));
  EXPECT_EQ(Shown(job).losses_size(), 1);
  EXPECT_EQ(all_.ends.size(), 2u);
  Lost(kTwo);
  EXPECT_TRUE(all_.starts.empty());
  Cleared(job, kOne);
  EXPECT_EQ(State(job), proto::RECOVERING);  // Two slots are left.
  Up(WorkerId{3}, 1);
  EXPECT_EQ(LastStart().epoch, Epoch{2});
}

TEST_F(JobTableRecoveryTest, AllHostsLostAtOnce) {
  const JobId job = Run(Request(3));
  Lost(kOne);
  Lost(kTwo);
  EXPECT_EQ(Shown(job).reason(), "no worker is up");
  EXPECT_EQ(all_.cleared, std::vector<JobId>{job});
  Up(WorkerId{3}, 3);
  EXPECT_EQ(LastStart().hosts.size(), 1u);
}

TEST_F(JobTableRecoveryTest, AHostLostBeforeItsRestartIsStoredIsNoFurtherLoss) {
  const JobId job = Run(Request(2));
  Killed(job, 0, SIGKILL);
  const WorkerId host = FirstHost(job);
  const JobOrders cleared = WithPass(table_.OnCleared(job, Epoch{1}, host, at_));
  ASSERT_EQ(State(job), proto::RUNNING);
  const WorkerId next = FirstHost(job);
  const JobOrders lost = WithPass(NodeLost(next, {}));
  for (const JobTransition& transition : cleared.store) {
    Do(table_.OnStored(transition.sequence, at_));
  }
  EXPECT_TRUE(all_.starts.empty());
  for (const JobTransition& transition : lost.store) Do(table_.OnStored(transition.sequence, at_));
  ASSERT_EQ(all_.starts.size(), 1u);
  EXPECT_EQ(LastStart().epoch, Epoch{3});
  EXPECT_NE(LastStart().hosts[0].worker, next);
  EXPECT_EQ(Shown(job).losses_size(), 1);
}

TEST_F(JobTableRecoveryTest, AHostLostBeforeProcessesRanIsPartOfTheSameLoss) {
  const JobId job = Run(Request(2));
  Killed(job, 0, SIGKILL);
  ClearedByAll(job);
  Lost(FirstHost(job));
  Later(kSecondNs);
  ASSERT_EQ(all_.starts.size(), 2u);
  EXPECT_EQ(LastStart().epoch, Epoch{3});
  ResumedByAll(job, kFrom800);
  ASSERT_EQ(Shown(job).losses_size(), 1);
  EXPECT_TRUE(Shown(job).losses(0).resumed());
  EXPECT_EQ(Shown(job).restarts(), 1u);
}

TEST_F(JobTableRecoveryTest, EventsOfTheLostEpochChangeNothing) {
  const JobId job = Run(Request(2));
  Killed(job, 0, SIGKILL);
  const WorkerId host = FirstHost(job);
  Do(table_.OnCleared(job, Epoch{1}, host, at_));
  ASSERT_EQ(EpochOf(Record(job)), Epoch{2});
  all_ = {};
  Do(table_.OnExited(job, Epoch{1}, Pid{1}, Exit(Reached::kAborted, 6), at_));
  Do(table_.OnCleared(job, Epoch{1}, host, at_));
  Do(table_.OnResumed(job, Epoch{1}, host, at_));
  Do(table_.OnNotStarted(job, Epoch{1}, {.node = NameOf(host), .reason = "late", .exit_status = 1},
                         at_));
  EXPECT_EQ(State(job), proto::RUNNING);
  EXPECT_TRUE(all_.ends.empty() && all_.lines.empty() && all_.store.empty());
}

TEST_F(JobTableRecoveryTest, HigherPidsHadLeftWhenTheImagesWereTaken) {
  const JobId job = Run(Request(2));
  Killed(job, 0, SIGKILL);
  ClearedByAll(job);
  ResumedByAll(job, {.from_start = false, .superstep = Superstep{5}, .participants = 1});
  Exits(job, 0, Exit(Reached::kEnded, 0));
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::SUCCEEDED);
  EXPECT_FALSE(Shown(job).never_attached());
}

// ---- What users do meanwhile --------------------------------------------------------------------

TEST_F(JobTableRecoveryTest, CancelledWhileItIsClearedAwayEndsWhenItIs) {
  const JobId job = Run(Request(2));
  Killed(job, 0, SIGSEGV);
  Do(table_.OnCancel(job, "cancelled", at_));
  EXPECT_EQ(State(job), proto::ENDING);
  EXPECT_EQ(all_.ends.size(), 1u);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGTERM);
  EXPECT_TRUE(all_.starts.empty());
}

TEST_F(JobTableRecoveryTest, CancelledWhileItWaitsForSlotsEndsAtOnce) {
  const JobId job = Run(Request(4));
  Lost(kOne);
  Cleared(job, kTwo);
  Do(table_.OnSignal(job, SIGINT, at_));
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGINT);
  EXPECT_EQ(all_.ended, std::vector<JobId>{job});
}

TEST_F(JobTableRecoveryTest, AnAttachedJobRecoversAndEndsWithItsClient) {
  proto::JobSpec spec = Request(2);
  spec.set_attached(true);
  const JobId job = Run(spec);
  Killed(job, 0, SIGKILL);
  ClearedByAll(job);
  ASSERT_EQ(State(job), proto::RUNNING);
  Killed(job, 0, SIGKILL);
  Do(table_.OnClientLeft(job, at_));
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::CANCELLED);
}

TEST_F(JobTableRecoveryTest, ALossAfterAnInterruptIsTheEnd) {
  const JobId job = Run(Request(2));
  Do(table_.OnSignal(job, SIGINT, at_));
  Killed(job, 0, SIGINT);
  Killed(job, 1, SIGINT);
  EXPECT_EQ(State(job), proto::ENDING);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::CANCELLED);
  EXPECT_TRUE(Shown(job).losses().empty());
}

TEST_F(JobTableRecoveryTest, TheTimeLimitIsOfRunningTimeByTheMonotonicClock) {
  proto::JobSpec spec = Request(4);
  spec.set_time_limit_s(60);
  const JobId job = Run(spec);
  at_.now_ns += 20 * kSecondNs;
  Killed(job, 0, SIGKILL);
  EXPECT_EQ(table_.next_deadline_ns(), at_.now_ns + kClearNs);
  at_.now_ns += 1000 * kSecondNs;    // It recovers for long,
  at_.unix_ms += 40 * 86'400'000LL;  // and somebody sets the clock.
  ClearedByAll(job);
  ResumedByAll(job, {});
  EXPECT_EQ(table_.next_deadline_ns(), at_.now_ns + 40 * kSecondNs);
  at_.now_ns += 10 * kSecondNs;
  Lost(kOne);
  Cleared(job, kTwo);
  EXPECT_EQ(Shown(job).run_ms(), 30'000u);
  Up(WorkerId{3}, 2);
  ResumedByAll(job, {});
  Later(30 * kSecondNs);
  Later(2 * kSecondNs);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).reason(), "the time limit of 60 s is reached");
}

TEST_F(JobTableRecoveryTest, WhatDiesTwiceOfItsOwnFaultAtOnePlaceIsNotStartedAgain) {
  const JobId job = RunWithRestarts(2, 10);
  Killed(job, 0, SIGSEGV);
  ClearedByAll(job);
  ResumedByAll(job, {});
  Killed(job, 1, SIGSEGV);
  EXPECT_EQ(State(job), proto::ENDING);
  ClearedByAll(job);
  EXPECT_EQ(State(job), proto::FAILED);
  EXPECT_EQ(Shown(job).exit_status(), 128 + SIGSEGV);
  EXPECT_NE(Shown(job).reason().find("it is the program that fails there"), std::string::npos);
}

TEST_F(JobTableRecoveryTest, WhatIsKilledFromOutsideOrElsewhereIsStartedAgain) {
  const JobId job = RunWithRestarts(2, 10);
  for (const int signal : {SIGKILL, SIGKILL, SIGSEGV, SIGBUS, SIGSEGV}) {
    Killed(job, 0, signal);
    ASSERT_EQ(State(job), proto::RECOVERING) << signal;
    ClearedByAll(job);
    ResumedByAll(job, {});
  }
  EXPECT_EQ(Shown(job).restarts(), 5u);
}

}  // namespace
}  // namespace bspnow::coordinator
