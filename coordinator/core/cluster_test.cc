// Jobs, workers and clients: what must not happen before what. Checkpoints and recovery are in
// cluster_recovery_test.cc.
#include "coordinator/core/cluster.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/units.h"
#include "coordinator/core/testing/cluster_fixture.h"
#include "net/stream_key.h"

namespace bspnow::coordinator {
namespace {

using ClusterTest = ClusterFixture;

absl::Status Full() { return absl::ResourceExhaustedError("disk full"); }

// ---- From submission to start -------------------------------------------------------------------

TEST_F(ClusterTest, AcknowledgesASubmissionOnceTheJournalHasIt) {
  bool answered = false;
  cluster_->Submit(kAnAdministrator, Request("key"), [&](const absl::StatusOr<JobId>& job) {
    answered = true;
    EXPECT_TRUE(job.ok());
  });
  world_.timers.RunPosted();
  EXPECT_FALSE(answered);
  Finish(world_.journal.calls, absl::OkStatus());
  EXPECT_TRUE(answered);
}

TEST_F(ClusterTest, RefusesASubmissionThatTheJournalDoesNotTake) {
  FakeWorker worker = Join("w1", 2);
  absl::Status refused;
  cluster_->Submit(kAnAdministrator, Request("key"),
                   [&](const absl::StatusOr<JobId>& job) { refused = job.status(); });
  Finish(world_.journal.calls, Full());
  Settle();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(Starts(worker), 0u);
}

TEST_F(ClusterTest, OfARefusedSubmissionNoRowIsWrittenThoughItWasAltered) {
  cluster_->Submit(kAnAdministrator, Request("key"), [](const absl::StatusOr<JobId>&) {});
  proto::AlterJobRequest request;
  request.set_job(1);
  request.set_name("new");
  const Answer altered = NewAnswer();
  cluster_->Alter(request, Into(altered));
  EXPECT_EQ(Waiting(world_.journal.calls), std::vector<std::string>{"job 1"});
  Finish(world_.journal.calls, Full());
  Settle();
  ASSERT_TRUE(altered->has_value());
  EXPECT_TRUE(absl::IsResourceExhausted((*altered)->status())) << (*altered)->status();
  EXPECT_FALSE(cluster_->Show(JobId{1}).ok());
}

TEST_F(ClusterTest, AnElementIsAlteredOnceItsArrayIsAccepted) {
  proto::SubmitJobRequest array = Request("key");
  array.mutable_array()->set_last(1);
  array.mutable_array()->set_step(1);
  cluster_->Submit(kAnAdministrator, array, [](const absl::StatusOr<JobId>&) {});
  proto::AlterJobRequest request;
  request.set_job(2);
  request.set_name("new");
  const Answer altered = NewAnswer();
  cluster_->Alter(request, Into(altered));
  Settle();
  ASSERT_TRUE(altered->has_value() && (*altered)->ok());
  EXPECT_EQ(world_.journal.records[JobId{2}].job().spec().name(), "new");
  EXPECT_EQ(Show(JobId{1}).spec().name(), "");
}

TEST_F(ClusterTest, TheSameKeyIsTheSameJob) {
  EXPECT_EQ(Submit(Request("key")), Submit(Request("key")));
  EXPECT_NE(Submit(Request("key")), Submit(Request("another")));
}

TEST_F(ClusterTest, StartsAJobOnceItsPlacementIsStored) {
  FakeWorker worker = Join("w1", 2);
  cluster_->Submit(kAnAdministrator, Request("key"), [](const absl::StatusOr<JobId>&) {});
  Finish(world_.journal.calls, absl::OkStatus());  // It is accepted, and placed soon.
  world_.timers.RunPosted();
  ASSERT_EQ(Waiting(world_.journal.calls), std::vector<std::string>{"job 1"});
  EXPECT_EQ(Starts(worker), 0u);
  Finish(world_.journal.calls, absl::OkStatus());
  EXPECT_EQ(Starts(worker), 1u);
}

TEST_F(ClusterTest, APlacementThatTheJournalRefusesIsNotStarted) {
  FakeWorker worker = Join("w1", 2);
  cluster_->Submit(kAnAdministrator, Request("key"), [](const absl::StatusOr<JobId>&) {});
  Finish(world_.journal.calls, absl::OkStatus());
  world_.timers.RunPosted();
  Finish(world_.journal.calls, Full());
  world_.timers.RunPosted();
  EXPECT_EQ(Starts(worker), 0u);
  EXPECT_EQ(Show(JobId{1}).state(), proto::WAITING);
}

TEST_F(ClusterTest, RefusesContentsThatWereNotUploaded) {
  Cluster cluster(
      ClusterPorts{.timers = world_.timers,
                   .journal = world_.journal,
                   .logs = world_.logs,
                   .frames = world_.frames,
                   .start_anew = [] {},
                   .ended_by_client = [](const auto&) {},
                   .find_missing = [](const auto&, const auto& contents,
                                      const auto& missing) { missing(*contents.begin()); },
                   .has_room = [](const auto&) { return absl::OkStatus(); }},
      ClusterSettings{.barrier_address = "coordinator:1",
                      .checkpoint_limits = {.mtbf_ns = 1, .overhead_max = 1},
                      .checkpoint_copies = 0},
      {.cluster = "c1", .term = 1});
  absl::Status refused;
  cluster.Submit(kAnAdministrator, Request("key"),
                 [&](const absl::StatusOr<JobId>& job) { refused = job.status(); });
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
}

// ---- To the end ---------------------------------------------------------------------------------

TEST_F(ClusterTest, AnswersAWaitOnceTheEndIsStored) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  const Answer ended = NewAnswer();
  cluster_->Wait(job, Into(ended));
  ReportExited(worker, job, Epoch{1}, 0, 0);
  ReportExited(worker, job, Epoch{1}, 1, 0);
  EXPECT_EQ(Ends(worker), 0u);
  Settle();
  EXPECT_EQ(Ends(worker), 1u);
  ReportCleared(worker, job, Epoch{1});
  EXPECT_FALSE(ended->has_value());
  Settle();
  ASSERT_TRUE(ended->has_value());
  EXPECT_EQ((**ended)->state(), proto::SUCCEEDED);
  EXPECT_EQ(world_.logs.ended, std::vector<JobId>{job});
}

TEST_F(ClusterTest, EventsThatFollowOutputTakeEffectOnceThatOutputIsInTheLog) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  ReportOutput(worker, job, Epoch{1});
  const std::uint64_t before = worker.sink->acknowledged;
  ReportExited(worker, job, Epoch{1}, 0, SIGSEGV);
  world_.timers.RunPosted();
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
  EXPECT_EQ(worker.sink->acknowledged, before);
  Finish(world_.logs.calls, absl::OkStatus());
  EXPECT_NE(Show(job).state(), proto::RUNNING);
  EXPECT_EQ(worker.sink->acknowledged, worker.last_event);
}

TEST_F(ClusterTest, LoggedOutputOfOneJobAcknowledgesNoneOfAnother) {
  FakeWorker worker = Join("w1", 4);
  const JobId a = Run(worker);
  const JobId b = Submit(Request("another"));
  ReportBegun(worker, b, Epoch{1}, {0, 1});
  Settle();
  const std::uint64_t before = worker.last_event;
  ReportOutput(worker, a, Epoch{1});
  ReportExited(worker, a, Epoch{1}, 0, SIGSEGV);
  ReportOutput(worker, b, Epoch{1});
  FinishOne(world_.logs.calls, absl::StrCat("append ", Value(b)));
  EXPECT_EQ(Show(a).state(), proto::RUNNING);
  EXPECT_EQ(worker.sink->acknowledged, before);
  FinishOne(world_.logs.calls, absl::StrCat("append ", Value(a)));
  EXPECT_NE(Show(a).state(), proto::RUNNING);
  EXPECT_EQ(worker.sink->acknowledged, worker.last_event);
}

TEST_F(ClusterTest, OutputBeyondTheLimitFailsTheJobAndALostPieceRecoversIt) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  ReportOutput(worker, job, Epoch{1});
  Finish(world_.logs.calls, absl::FailedPreconditionError("a gap"));
  EXPECT_EQ(Show(job).state(), proto::RECOVERING);
  Settle();
  ReportCleared(worker, job, Epoch{1});
  Settle();
  EXPECT_EQ(Starts(worker), 2u);
  ReportOutput(worker, job, Epoch{2});
  Finish(world_.logs.calls, absl::OutOfRangeError("too much"));
  Settle();
  ReportCleared(worker, job, Epoch{2});
  Settle();
  EXPECT_EQ(Show(job).state(), proto::FAILED);
}

TEST_F(ClusterTest, AnEndThatFollowsLostOutputDoesNotCount) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  ReportOutput(worker, job, Epoch{1});
  ReportExited(worker, job, Epoch{1}, 0, 0);
  ReportExited(worker, job, Epoch{1}, 1, 0);
  Finish(world_.logs.calls, absl::FailedPreconditionError("a gap"));
  EXPECT_EQ(Show(job).state(), proto::RECOVERING);
}

TEST_F(ClusterTest, OutputOfAnOlderEpochIsDropped) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  ReportOutput(worker, job, Epoch{7});
  EXPECT_TRUE(world_.logs.calls.empty());
  EXPECT_EQ(worker.sink->acknowledged, worker.last_event);
}

// ---- Workers ------------------------------------------------------------------------------------

TEST_F(ClusterTest, AnEventTakesEffectOnceHoweverOftenItComes) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_output()->set_text("x\n");
  EXPECT_EQ(Report(worker, event), absl::OkStatus());
  event.set_sequence(worker.last_event);
  EXPECT_EQ(cluster_->OnEvent(worker.id, event), absl::OkStatus());
  EXPECT_EQ(world_.logs.calls.size(), 1u);
  event.set_sequence(worker.last_event + 2);
  EXPECT_TRUE(absl::IsInvalidArgument(cluster_->OnEvent(worker.id, event)));
}

// With another's it would arrive at barriers in its name.
TEST_F(ClusterTest, EachWorkerHasAKeyOfItsOwnForItsStream) {
  const FakeWorker first = Join("w1", 2);
  const FakeWorker second = Join("w2", 2);
  const StreamKey key = cluster_->barriers().KeyOf(first.id);
  EXPECT_FALSE(key.empty());
  EXPECT_NE(key, cluster_->barriers().KeyOf(second.id));
  EXPECT_TRUE(cluster_->barriers().KeyOf(WorkerId{99}).empty());
}

TEST_F(ClusterTest, ANameBelongsToTheWorkerThatIsConnected) {
  Join("w1", 2);
  proto::RegisterRequest another = Registration("w1", 2);
  another.set_incarnation(7);
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster_->Register(another).status()));
}

TEST_F(ClusterTest, ASuccessorRegistersWhenTheLeaseOfItsPredecessorIsOver) {
  FakeWorker worker = Join("w1", 2);
  Renew(worker);
  cluster_->OnStreamBroken(worker.id, worker.sink.get());
  cluster_->barriers().OnDisconnected(worker.id);
  proto::RegisterRequest another = Registration("w1", 2);
  another.set_incarnation(7);
  EXPECT_TRUE(absl::IsUnavailable(cluster_->Register(another).status()));
  world_.timers.Advance(1300);
  const auto reply = cluster_->Register(another);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_NE(WorkerId{reply->worker()}, worker.id);
}

TEST_F(ClusterTest, AWorkerThatKeepsJobsOfAnotherClusterIsNotRegistered) {
  proto::RegisterRequest stranger = Registration("w1", 2);
  stranger.set_cluster("c2");
  stranger.add_stored()->set_job(1);
  const auto reply = cluster_->Register(stranger);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->worker(), 0u);
  EXPECT_EQ(reply->cluster(), "c1");
}

TEST_F(ClusterTest, AWorkerWhoseLeaseRunsOutIsLostWithItsJobs) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  world_.timers.Advance(9'000);
  EXPECT_EQ(Show(job).state(), proto::RUNNING);
  world_.timers.Advance(2'000);
  EXPECT_EQ(Show(job).state(), proto::RECOVERING);
  EXPECT_EQ(world_.frames.closed, std::vector<WorkerId>{worker.id});
  EXPECT_TRUE(absl::IsNotFound(worker.sink->closed));
  EXPECT_TRUE(absl::IsNotFound(Report(worker, EventOf(job, Epoch{1}))));
}

TEST_F(ClusterTest, ADrainIsAcknowledgedOnceTheJournalHasIt) {
  FakeWorker worker = Join("w1", 2);
  std::optional<absl::StatusOr<proto::Node>> answer;
  const auto into = [&](absl::StatusOr<proto::Node> node) { answer = std::move(node); };
  cluster_->SetDrained("w1", Drain::kDrain, into);
  EXPECT_FALSE(answer.has_value());
  Submit(Request("key"));  // Settles the journal, and is placed nowhere.
  ASSERT_TRUE(answer.has_value() && answer->ok());
  EXPECT_EQ((*answer)->state(), proto::NODE_DRAINED);
  EXPECT_EQ(Starts(worker), 0u);
  cluster_->SetDrained("w1", Drain::kUndrain, into);
  Finish(world_.journal.calls, Full());
  EXPECT_TRUE(absl::IsResourceExhausted(answer->status())) << answer->status();
  cluster_->SetDrained("w9", Drain::kDrain, into);
  EXPECT_TRUE(absl::IsNotFound(answer->status()));
}

TEST_F(ClusterTest, WhoWaitsGetsAnErrorWhenTheCoordinatorEnds) {
  const JobId job = Submit(Request("key"));
  const Answer ended = NewAnswer();
  cluster_->Wait(job, Into(ended));
  cluster_->Close();
  ASSERT_TRUE(ended->has_value());
  EXPECT_TRUE(absl::IsUnavailable((*ended)->status()));
  absl::Status refused;
  cluster_->Submit(kAnAdministrator, Request("late"),
                   [&](const absl::StatusOr<JobId>& late) { refused = late.status(); });
  EXPECT_TRUE(absl::IsUnavailable(refused));
}

TEST_F(ClusterTest, ALogThatWaitsForRoomIsShownAsTheReason) {
  FakeWorker worker = Join("w1", 2);
  const JobId job = Run(worker);
  world_.logs.full = "no space left on device";
  EXPECT_NE(Show(job).reason().find("no space left"), std::string::npos);
}

// ---- A node that does not clear a job away ------------------------------------------------------

TEST_F(ClusterTest, AJobGoesOnElsewhereOnceTheLeaseOfANodeThatDoesNotClearItIsOver) {
  FakeWorker host = Join("w1", 2);
  const JobId job = Run(host);
  const FakeWorker other = Join("w2", 2);
  ReportExited(host, job, Epoch{1}, 0, SIGKILL);
  Settle();
  for (std::uint64_t ms = 0; ms < kClearNs / kNsPerMs; ms += 500) {
    for (const FakeWorker& each : {host, other}) Renew(each);
    world_.timers.Advance(500);
  }
  EXPECT_EQ(world_.frames.closed, std::vector<WorkerId>{host.id});
  cluster_->barriers().OnDisconnected(host.id);
  EXPECT_EQ(Hello(host), FrameFault::kMalformed);  // Nobody renews its lease.
  world_.timers.Advance(1400);
  Settle();
  EXPECT_EQ(Starts(other), 0u);
  world_.timers.Advance(200);
  Settle();
  EXPECT_EQ(Starts(other), 1u);
  EXPECT_TRUE(absl::IsNotFound(host.sink->closed));
  const proto::Node lost = cluster_->ListNodes().nodes(1);
  EXPECT_EQ(lost.state(), proto::NODE_LOST);
  EXPECT_EQ(lost.reason(), "given up: it has not ended the processes of job 1 in time");
}

// Its streams stand before the table has heard of it, and a pass for another reason is due.
TEST_F(ClusterTest, ANodeThatHasBecomeUsableIsForWhoWaitsLongest) {
  const JobId first = Submit(Request("first"));
  proto::SubmitJobRequest of_one = Request("second");
  of_one.mutable_spec()->set_nprocs(1);
  const proto::RegisterRequest request = Registration("w1", 2);
  FakeWorker worker = Introduce(request);
  world_.timers.RunPosted();
  cluster_->Submit(kAnAdministrator, of_one, [](const absl::StatusOr<JobId>&) {});
  Finish(world_.journal.calls, absl::OkStatus());
  Connect(worker);
  Settle();
  EXPECT_EQ(Show(first).state(), proto::RUNNING);
}

}  // namespace
}  // namespace bspnow::coordinator
