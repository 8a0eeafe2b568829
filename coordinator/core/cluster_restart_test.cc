// A coordinator that comes back: what its workers tell it, and what it tells them.
#include <gtest/gtest.h>
#include <signal.h>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

using TwoHostsTest = ClusterFixture;

TEST_F(TwoHostsTest, ARestoreThatFailsCountsWhileOtherHostsAreAwaited) {
  const FakeWorker first = Join("w1", 1);
  const FakeWorker second = Join("w2", 1);
  const JobId job = Submit(Request("key"));
  EXPECT_EQ(Starts(first) + Starts(second), 2u);
  Restart();
  FakeWorker returned = Join(Returning(first, 0));
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_restore_failed()->set_reason("no space");
  EXPECT_EQ(Report(returned, event), absl::OkStatus());
  Join(Returning(second, 1));
  Settle();
  EXPECT_EQ(Show(job).state(), proto::RECOVERING);
  EXPECT_EQ(Show(job).reason(), "node w1 could not start it: no space");
}

TEST_F(TwoHostsTest, WhoeverHasNotReturnedIsNamed) {
  const FakeWorker first = Join("w1", 1);
  const FakeWorker second = Join("w2", 1);
  const JobId job = Submit(Request("key"));
  Restart();
  EXPECT_EQ(Show(job).reason(), "w1, w2 have not returned yet after a restart of the coordinator");
  Join(Returning(first, 0));
  EXPECT_EQ(Show(job).reason(), "w2 has not returned yet after a restart of the coordinator");
  Join(Returning(second, 1));
  Settle();
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
  EXPECT_EQ(Show(job).reason(), "");
}

TEST_F(TwoHostsTest, ImagesAreDamagedOnceTwoEpochsInTurnFoundNoSoundOne) {
  FakeWorker workers[] = {Join("w1", 2), Join("w2", 2)};
  const JobId job = Submit(Request("key"));
  FakeWorker& host = workers[Starts(workers[0]) == 1 ? 0 : 1];
  ReportBegun(host, job, Epoch{1}, {0, 1});
  Settle();
  ReportProgress(host, job, Epoch{1}, 1);
  const auto takes = OrdersOf(host, &proto::Order::has_take_checkpoint);
  ASSERT_EQ(takes.size(), 1u);
  const std::uint64_t number = takes[0].take_checkpoint().checkpoint();
  ReportStored(host, job, Epoch{1}, number, {0, 1});
  ReportCopied(host, job, number, &host == workers ? "w2" : "w1");
  Settle();
  ReportExited(host, job, Epoch{1}, 1, SIGKILL);
  Settle();
  ReportCleared(host, job, Epoch{1});
  Settle();
  for (const std::uint64_t epoch : {2, 3}) {
    EXPECT_EQ(Show(job).epoch(), epoch);
    proto::WorkerEvent event = EventOf(job, Epoch{epoch});
    event.mutable_restore_failed()->set_checkpoint(number);
    event.mutable_restore_failed()->add_pids(0);
    for (FakeWorker& worker : workers) Renew(worker);
    for (FakeWorker& worker : workers) EXPECT_EQ(Report(worker, event), absl::OkStatus());
    EXPECT_EQ(cluster_->Figures().checkpoints.damaged, epoch - 2);
    for (FakeWorker& worker : workers) ReportCleared(worker, job, Epoch{epoch});
    Settle();
    world_.timers.Advance(500);
    Settle();
  }
}

// Its JobStarted was on its way when the coordinator died: JobResumed is still to come.
TEST_F(TwoHostsTest, AnEpochThatIsPutBackRunsWhenItsProcessesDo) {
  const FakeWorker first = Join("w1", 2);
  FakeWorker worker = first;
  const JobId job = Run(worker);
  ReportExited(worker, job, Epoch{1}, 0, SIGKILL);
  ReportCleared(worker, job, Epoch{1});
  Settle();
  ASSERT_EQ(Starts(worker), 2u);
  Restart();
  proto::RegisterRequest request = Returning(first, 0);
  proto::HeldJob& held = *request.mutable_held(0);
  held.set_epoch(2);
  held.clear_begun();
  held.set_participants(2);
  held.set_resumed_from(1);
  held.set_put_back(true);
  worker = Join(request);
  proto::WorkerEvent event = EventOf(job, Epoch{2});
  event.mutable_started();
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  Settle();
  EXPECT_FALSE(cluster_->table().Runs(job, Epoch{2}));
  event.mutable_resumed();
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  Settle();
  EXPECT_TRUE(cluster_->table().Runs(job, Epoch{2}));
  EXPECT_TRUE(Show(job).losses(0).resumed());
  EXPECT_FALSE(Show(job).losses(0).from_start());
}

// A file server hangs, say: the job is to start elsewhere in time, whoever ordered this start.
TEST_F(TwoHostsTest, AStartThatThePredecessorOrderedMayTakeNoLongerThanAnyOther) {
  const FakeWorker first = Join("w1", 2);
  const JobId job = Submit(Request("key"));
  ASSERT_EQ(Starts(first), 1u);
  Restart();
  proto::RegisterRequest request = Returning(first, 0);
  request.mutable_held(0)->clear_begun();
  Join(request);
  Settle();
  const std::uint64_t started_by_ns = world_.timers.Now().now_ns + kStartNs;
  EXPECT_FALSE(cluster_->table().Runs(job, Epoch{1}));
  EXPECT_EQ(cluster_->table().next_deadline_ns(), started_by_ns);
}

// It computes for hours before bsp_begin, or is no BSP program.
TEST_F(TwoHostsTest, ProcessesThatWereStartedRunThoughNoneHasBegun) {
  const FakeWorker first = Join("w1", 2);
  const JobId job = Submit(Request("key"));
  Restart();
  proto::RegisterRequest request = Returning(first, 0);
  request.mutable_held(0)->clear_begun();
  request.mutable_held(0)->mutable_started()->add_pids(0);
  Join(request);
  Settle();
  EXPECT_TRUE(cluster_->table().Runs(job, Epoch{1}));
  EXPECT_EQ(cluster_->table().next_deadline_ns(), kNoEnd);
}

// The epoch was being cleared away when daemon and coordinator died: its processes may pass
// barriers for as long as their lease holds.
TEST_F(TwoHostsTest, ANewDaemonWaitsForTheLeaseOfAnEpochThatWasBeingCleared) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  ReportExited(worker, job, Epoch{1}, 0, SIGKILL);
  Settle();
  ASSERT_EQ(Show(job).state(), proto::RECOVERING);
  Restart();
  proto::RegisterRequest anew = Registration("w1", 2);
  anew.set_incarnation(7);
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(anew).status()));
  proto::RegisterRequest by_another_cluster = anew;
  by_another_cluster.set_cluster("c2");
  by_another_cluster.set_previous_worker(99);
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(by_another_cluster).status()));
  world_.timers.Advance(1000);  // By the clock of that machine it may not be over.
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(anew).status()));
  world_.timers.Advance(250);
  const FakeWorker joined = Join(anew);
  Settle();
  EXPECT_EQ(Starts(joined), 1u);
}

TEST_F(TwoHostsTest, ACloneDoesNotTakeThePlaceOfAWorkerWhoseJobsRun) {
  const FakeWorker worker = Join("w1", 2);
  FakeWorker host = worker;
  const JobId job = Run(host);
  proto::RegisterRequest clone = Registration("w1", 2);
  clone.set_incarnation(7);
  Restart();
  world_.timers.Advance(2'000);
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(clone).status()));
  Join(Returning(worker, 0));
  Settle();
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
  EXPECT_EQ(Show(job).losses_size(), 0);
  Restart();
  world_.timers.Advance(10'000);
  Join(clone);
  Settle();
  EXPECT_EQ(Show(job).losses_size(), 1) << "it has been given up";
}

// ---- Figures ------------------------------------------------------------------------------------

TEST_F(TwoHostsTest, TotalsGoOnFromWhatTheJournalWasTold) {
  const FakeWorker first = Join("w1", 1);
  const FakeWorker second = Join("w2", 1);
  const JobId job = Submit(Request("key"));
  JobRecord& record = world_.journal.records[job];
  record.mutable_job()->mutable_totals()->set_supersteps(40);
  record.mutable_job()->mutable_totals()->set_exchange_ns(900);
  record.set_totals_epoch(1);
  Restart();
  Join(Returning(first, 0));
  Join(Returning(second, 1));
  Settle();
  EXPECT_EQ(Show(job).totals().supersteps(), 40u);
  EXPECT_EQ(Show(job).totals().total_ns(), 900u);
}

TEST_F(TwoHostsTest, TotalsOfAnEpochThatWasLostDoNotCount) {
  const FakeWorker first = Join("w1", 1);
  const FakeWorker second = Join("w2", 1);
  const JobId job = Submit(Request("key"));
  world_.journal.records[job].mutable_job()->mutable_totals()->set_supersteps(40);
  Restart();
  Join(Returning(first, 0));
  Join(Returning(second, 1));
  Settle();
  EXPECT_EQ(Show(job).totals().supersteps(), 0u);
}

TEST_F(TwoHostsTest, ACoordinatorThatEndsStoresWhatItsJobsHaveDone) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  ProgressBody progress{};
  progress.totals.supersteps = 7;
  progress.totals.compute_ns = 500 * kNprocs;
  progress.superstep = 7;
  progress.processes = kNprocs;
  FrameHeader header = HeaderOf(FrameKind::kProgress);
  header.source_worker = Value(worker.id);
  header.job = Value(job);
  header.epoch = 1;
  EXPECT_EQ(cluster_->barriers().OnFrame(header, BytesOf(progress)), FrameFault::kNone);
  cluster_->Close();
  EXPECT_EQ(world_.journal.records[job].job().totals().supersteps(), 7u);
  EXPECT_EQ(world_.journal.records[job].job().totals().total_ns(), 500u);
  EXPECT_EQ(world_.journal.records[job].totals_epoch(), 1u);
}

// Its acknowledgement was lost with the last coordinator, which had counted it.
TEST_F(TwoHostsTest, OutputThatIsSentAgainCountsOnce) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  ReportOutput(worker, job, Epoch{1});
  cluster_->Close();
  Restart();
  worker = Join(Returning(worker, 0));
  ReportOutput(worker, job, Epoch{1});
  Settle();
  EXPECT_EQ(Show(job).output_bytes(), 2u);
}

// ---- A journal that is an older copy ------------------------------------------------------------

class OlderJournalTest : public ClusterFixture {
 protected:
  static proto::RegisterRequest Knowing(std::uint64_t term, std::uint64_t term_key) {
    proto::RegisterRequest request = Registration("w1", 2);
    request.set_term(term);
    request.set_term_key(term_key);
    return request;
  }
  /// It keeps the first image of this job.
  static proto::RegisterRequest Keeping(std::uint64_t job) {
    proto::RegisterRequest request = Registration("w1", 2);
    request.add_stored()->set_job(job);
    request.mutable_stored(0)->add_checkpoints(1);
    return request;
  }
  static std::size_t Keeps(const FakeWorker& worker) {
    return OrdersOf(worker, &proto::Order::has_keep_checkpoints).size();
  }
};

TEST_F(OlderJournalTest, ACoordinatorThatWorkersHaveOutlivedTakesAHigherTerm) {
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(Knowing(9, 3)).status()));
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(Knowing(9, 3)).status()));
  EXPECT_EQ(Waiting(world_.journal.calls), std::vector<std::string>{"term 9"});
  EXPECT_EQ(world_.starts_anew, 0);
  Settle();
  EXPECT_EQ(world_.starts_anew, 1);
}

TEST_F(OlderJournalTest, ATermThatTheJournalDoesNotTakeIsTriedAgain) {
  EXPECT_FALSE(cluster_->Register(Knowing(9, 3)).ok());
  Finish(world_.journal.calls, absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(world_.starts_anew, 0);
  EXPECT_FALSE(cluster_->Register(Knowing(9, 3)).ok());
  Settle();
  EXPECT_EQ(world_.starts_anew, 1);
}

TEST_F(OlderJournalTest, AnotherRunOfTheSameTermIsALaterOne) {
  Start({.cluster = "c1", .term = 4, .term_key = 77});
  EXPECT_FALSE(cluster_->Register(Knowing(4, 78)).ok());
  EXPECT_EQ(Waiting(world_.journal.calls), std::vector<std::string>{"term 4"});
  EXPECT_TRUE(cluster_->Register(Knowing(4, 77)).ok());
  proto::RegisterRequest other = Registration("w2", 2);
  other.set_term(3);
  other.set_term_key(1);
  EXPECT_TRUE(cluster_->Register(other).ok());
}

// Peers know a worker's streams by its id.
TEST_F(OlderJournalTest, AnotherRunOfTheSameTermGivesOtherIds) {
  Start({.cluster = "c1", .term = 4, .term_key = 77});
  const WorkerId before = Join("w1", 2).id;
  Start({.cluster = "c1", .term = 4, .term_key = 78'000});
  EXPECT_NE(Join("w1", 2).id, before);
}

TEST_F(OlderJournalTest, ATermThatNobodyCanHaveHadChangesNothing) {
  EXPECT_TRUE(
      absl::IsFailedPrecondition(cluster_->Register(Knowing(std::uint64_t{1} << 40, 3)).status()));
  EXPECT_TRUE(world_.journal.calls.empty());
}

TEST_F(OlderJournalTest, ImagesOfAnUnknownJobAreKeptAndNamed) {
  FakeWorker worker = Join(Keeping(7));
  EXPECT_EQ(Keeps(worker), 0u);
  ASSERT_EQ(cluster_->ListNodes().nodes(0).unknown_jobs_size(), 1);
  EXPECT_EQ(cluster_->ListNodes().nodes(0).unknown_jobs(0), 7u);
  proto::WorkerEvent late = EventOf(JobId{7}, Epoch{1});
  late.mutable_checkpoint_stored()->set_checkpoint(2);
  EXPECT_EQ(Report(worker, late), absl::OkStatus());
  EXPECT_EQ(Keeps(worker), 0u);
}

TEST_F(OlderJournalTest, ImagesOfAJobThatEndedLongAgoAreNotKept) {
  Start({.cluster = "c1", .term = 4, .last_job = JobId{9}, .forgotten = JobId{8}});
  EXPECT_EQ(Keeps(Join(Keeping(7))), 1u);
  EXPECT_EQ(cluster_->ListNodes().nodes(0).unknown_jobs_size(), 0);
}

// It had images; they went when others had newer ones, before this coordinator's time.
TEST_F(OlderJournalTest, ADirectoryWithoutImagesGoesWithItsJob) {
  FakeWorker host = Join("w1", 2);
  const JobId job = Run(host);
  proto::RegisterRequest empty = Registration("w2", 2);
  empty.add_stored()->set_job(Value(job));
  const FakeWorker worker = Join(empty);
  EXPECT_EQ(Keeps(worker), 0u);
  Cancel(job);
  Settle();
  ReportCleared(host, job, Epoch{1});
  Settle();
  EXPECT_EQ(Keeps(worker), 1u);
}

TEST_F(OlderJournalTest, EpochsHaveNumbersAboveAllThatAnybodyHasSeen) {
  const JobId job = Submit(Request("a"));
  proto::RegisterRequest holding = Registration("w1", 2);
  holding.add_held()->set_job(Value(job));
  holding.mutable_held(0)->set_epoch(5);
  Join(holding);
  Settle();
  EXPECT_EQ(Show(job).epoch(), 6u);
}

TEST_F(OlderJournalTest, JobsHaveNumbersAboveAllThatAnybodyHasSeen) {
  Start({.cluster = "c1", .term = 4, .last_job = JobId{9}});
  EXPECT_EQ(Submit(Request("a")), JobId{10});
  Join(Keeping(20));
  EXPECT_EQ(Submit(Request("b")), JobId{21});
  proto::RegisterRequest holding = Registration("w2", 2);
  holding.add_held()->set_job(30);
  Join(holding);
  EXPECT_EQ(Submit(Request("c")), JobId{31});
}

// Of that run the coordinator knows nothing; the worker that it meets first was there before, too.
TEST_F(OlderJournalTest, NothingIsStartedWhileAForgottenRunMayHaveALease) {
  Submit(Request("a"));
  Restart();
  proto::RegisterRequest returning = Registration("w1", 2);
  returning.set_previous_worker(5);
  const FakeWorker worker = Join(returning);
  Settle();
  EXPECT_EQ(Starts(worker), 0u);
  const JobId fresh = Submit(Request("b"));
  world_.timers.Advance(1000);  // By the clock of that run's machine it may not be over.
  Settle();
  EXPECT_EQ(Starts(worker), 0u);
  world_.timers.Advance(250);
  Settle();
  EXPECT_EQ(Starts(worker), 1u);
  EXPECT_EQ(Show(fresh).state(), proto::WAITING);
}

TEST_F(OlderJournalTest, WhatAForgottenRunHasPrintedIsCutBeforeTheFirstStart) {
  Submit(Request("a"));
  Restart();
  world_.timers.Advance(1250);  // Somebody may have a lease.
  const FakeWorker worker = Join("w1", 2);
  SettleUntilLog();
  EXPECT_EQ(Waiting(world_.logs.calls), std::vector<std::string>{"cut 1"});
  EXPECT_EQ(Starts(worker), 0u);
  Settle();
  EXPECT_EQ(Starts(worker), 1u);
}

}  // namespace
}  // namespace bspnow::coordinator
