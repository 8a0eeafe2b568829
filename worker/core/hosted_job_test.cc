// What the worker decides of its jobs, on a node that is made up.
#include "base/exit_status.h"
#include "worker/core/testing/hosted_job_fixture.h"

namespace bspnow::worker {
namespace {

TEST_F(HostedJobTest, ClearsWhenItIsOrderedAndNoProcessIsLeft) {
  Start();
  End();
  EXPECT_EQ(node_.TakeNotes(), (Notes{"kill_all: true"}));
  Exit(0);
  Exit(1);
  job().OnHostGone(0);
  EXPECT_EQ(node_.TakeNotes(), (Notes{"clear, keep files"}));
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kExited, What::kExited}));
  node_.Work();
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kCleared}));
  EXPECT_EQ(jobs_.jobs(), 0u);
}

TEST_F(HostedJobTest, IsClearedOnceThoughTheEndIsOrderedWhileItIsPrepared) {
  proto::Order order;
  *order.mutable_start() = start_;
  jobs_.OnOrder(order);
  End();
  End();
  node_.Work();
  EXPECT_EQ(node_.TakeNotes(), (Notes{"prepare", "stop preparing", "clear, keep files"}));
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kCleared}));
}

// It may take longer than the coordinator waits; but the files of its checkpoint are wanted whole.
TEST_F(HostedJobTest, ARestoreThatEndsIsBrokenOffUnlessItBringsFiles) {
  start_.mutable_resume()->set_superstep(4);
  start_.mutable_resume()->set_participants(2);
  for (const bool keep_files : {false, true}) {
    proto::Order order;
    *order.mutable_start() = start_;
    jobs_.OnOrder(order);
    proto::Order end;
    end.mutable_end()->set_job(kJob);
    end.mutable_end()->set_epoch(1);
    end.mutable_end()->set_keep_files(keep_files);
    jobs_.OnOrder(end);
    EXPECT_EQ(node_.TakeNotes(), (Notes{"prepare", keep_files ? "files only" : "stop preparing"}));
    if (keep_files) jobs_.AbandonAllBut({});  // Nobody wants them any more.
    node_.Work();
    EXPECT_EQ(node_.TakeNotes(),
              keep_files ? (Notes{"lease 0", "stop exchange", "stop preparing", "clear"})
                         : (Notes{"clear"}));
  }
}

// Whether it ends while they are being brought, or only then.
TEST_F(HostedJobTest, FilesThatCameInPartAreNotHandedOverAsTheJobs) {
  start_.mutable_resume()->set_superstep(4);
  start_.mutable_resume()->set_participants(2);
  node_.not_restored.set_reason("the disk of c1.files.p0 failed");
  node_.not_brought = node_.not_restored.reason();
  for (const bool ends_before : {true, false}) {
    proto::Order order;
    *order.mutable_start() = start_;
    jobs_.OnOrder(order);
    if (!ends_before) node_.Work();
    End();
    node_.Work();
    EXPECT_EQ(node_.TakeNotes(), ends_before ? (Notes{"prepare", "files only", "clear"})
                                             : (Notes{"prepare", "clear"}));
    EXPECT_EQ(events_.back().cleared().files_lost(), node_.not_restored.reason());
  }
}

TEST_F(HostedJobTest, FilesOfItsCheckpointAreTheJobsThoughAnImageIsMissing) {
  start_.mutable_resume()->set_superstep(4);
  start_.mutable_resume()->set_participants(2);
  node_.not_restored.set_reason("pid 1: c1.p1 is not on this node");
  proto::Order order;
  *order.mutable_start() = start_;
  jobs_.OnOrder(order);
  End();
  node_.Work();
  EXPECT_EQ(node_.TakeNotes(), (Notes{"prepare", "files only", "clear, keep files"}));
  EXPECT_EQ(events_.back().cleared().files_lost(), "");
}

TEST_F(HostedJobTest, IsBrokenIfItsProcessesVanish) {
  Start();
  job().OnHostGone(0);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_TRUE(events_[0].has_broken());
  EXPECT_FALSE(events_[0].broken().final());
  EXPECT_EQ(events_[0].job(), kJob);
}

TEST_F(HostedJobTest, StartsUnderTheLeaseThatThereIs) {
  jobs_.OnLeaseRenewed(77);
  proto::Order order;
  *order.mutable_start() = start_;
  jobs_.OnOrder(order);
  node_.Work();
  EXPECT_EQ(node_.TakeNotes(), (Notes{"prepare", "start until 1000077", "room 0"}));
}

TEST_F(HostedJobTest, GetsNoLeaseAndReportsNothingOnceItIsAbandoned) {
  Start();
  jobs_.AbandonAllBut({});
  jobs_.OnLeaseRenewed(88);
  EXPECT_EQ(node_.TakeNotes(), (Notes{"lease 0", "stop exchange", "kill_all: true"}));
  Exit(0);
  job().OnHostGone(0);
  node_.Work();
  EXPECT_TRUE(events_.empty());
  EXPECT_EQ(jobs_.jobs(), 0u);
}

TEST_F(HostedJobTest, IsEndedWithoutACoordinatorForLong) {
  Start();
  jobs_.OnLeaseRenewed(1000);
  EXPECT_TRUE(jobs_.LeaseValid(1000 + kLeaseMs * 1'000'000 - 1));
  EXPECT_FALSE(jobs_.LeaseValid(1000 + kLeaseMs * 1'000'000));
  jobs_.EndOrphans(1000 + kOrphanTimeoutNs);
  EXPECT_FALSE(job().ending());
  jobs_.EndOrphans(1000 + kOrphanTimeoutNs + 1);
  EXPECT_TRUE(job().ending());
}

// A coordinator may hear this worker though its answers get lost: it must not wait for ever.
TEST_F(HostedJobTest, ReportsTheEndOfAnOrphanOnce) {
  Start();
  TakeEvents();
  jobs_.EndOrphans(kOrphanTimeoutNs + 1);
  jobs_.EndOrphans(kOrphanTimeoutNs + 2);
  Exit(0);
  Exit(1);
  job().OnHostGone(0);
  node_.Work();
  using enum proto::WorkerEvent::WhatCase;
  EXPECT_EQ(TakeEvents(), (std::vector<What>{kBroken, kExited, kExited, kCleared}));
}

// A coordinator that is restarted would take it for running, and wait for it for ever.
TEST_F(HostedJobTest, IsNotHeldAsRunningOnceItIsBroken) {
  Start();
  EXPECT_FALSE(job().Held().clearing());
  job().OnHostGone(0);
  EXPECT_TRUE(job().Held().clearing());
}

TEST_F(HostedJobTest, IsNotBrokenByTheEndOfItsWorkerOnceItEnds) {
  Start();
  End();
  TakeEvents();
  jobs_.EndAll("shut down", [] {});
  EXPECT_TRUE(TakeEvents().empty());
}

// The coordinator may have the job as one that has succeeded, and be about to ask for its files.
TEST_F(HostedJobTest, FilesThatNobodyHasAskedForBeforeTheWorkerEndsAreLostByName) {
  Start();
  Exit(0);
  Exit(1);
  job().OnHostGone(0);
  jobs_.EndAll("shut down", [] {});
  End();  // It was on its way.
  node_.Work();
  EXPECT_EQ(node_.TakeNotes(), (Notes{"clear"}));
  EXPECT_EQ(events_.back().cleared().files_lost(), "shut down (if it left any)");
}

TEST_F(HostedJobTest, OfAJobWhoseClientHasItsFilesNoneAreLost) {
  start_.mutable_spec()->set_attached(true);
  Start();
  job().OnHostGone(0);
  jobs_.EndAll("shut down", [] {});
  node_.Work();
  EXPECT_EQ(events_.back().cleared().files_lost(), "");
}

// By a coordinator whose journal was replaced by an older copy.
TEST_F(HostedJobTest, AnEpochWhoseNumberIsGivenAgainIsRefusedWhileTheOldOneIsThere) {
  Start();
  proto::RegisterReply reply;
  reply.set_worker(kSelf);
  jobs_.OnRegistered(reply);
  TakeEvents();
  Start();
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kNotStarted}));
  End();
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kCleared}));
}

// By this status the coordinator knows that trying again is in vain.
TEST_F(HostedJobTest, AContentThatIsLostIsNotFound) {
  for (const auto& [why, status] :
       {std::pair{absl::DataLossError("content is not here"), kNotFoundStatus},
        std::pair{absl::NotFoundError("making jobs/7"), kFailureStatus},
        std::pair{absl::PermissionDeniedError("no account"), kNotExecutableStatus}}) {
    node_.prepared = why;
    Start();
    ASSERT_EQ(events_.size(), 1u);
    EXPECT_EQ(events_[0].not_started().exit_status(), status) << why;
    EXPECT_EQ(events_[0].not_started().reason(), why.message());
    End();
    node_.Work();
    TakeEvents();
  }
}

TEST_F(HostedJobTest, AJobThatANewCoordinatorKeepsSaysAgainWhomItWaitsFor) {
  Start();
  proto::RegisterReply reply;
  reply.set_worker(kSelf);
  reply.add_keep_jobs(kJob);
  jobs_.OnRegistered(reply);
  EXPECT_EQ(node_.TakeNotes(), (Notes{"say again"}));
}

TEST_F(HostedJobTest, ReportsThatItResumedWhenAllHaveBegun) {
  start_.mutable_resume()->set_checkpoint(4);
  start_.mutable_resume()->set_superstep(10);
  start_.mutable_resume()->set_participants(2);
  Start();
  Begin(1);
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kBegun}));
  Begin(0);
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kBegun, What::kResumed}));
}

TEST_F(HostedJobTest, SaysOnceWhyItCannotBeRestored) {
  start_.mutable_resume()->set_checkpoint(4);
  start_.mutable_resume()->set_superstep(10);
  start_.mutable_resume()->set_participants(2);
  Start();
  for (const char* reason : {"pid 1: no room", "pid 0: no room"}) {
    proto::WorkerEvent event;
    event.mutable_restore_failed()->set_reason(reason);
    job().OnHostEvent(event);
  }
  Exit(1);  // That was bsp-restore.
  job().OnHostGone(0);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].restore_failed().reason(), "pid 1: no room");
  EXPECT_EQ(events_[0].restore_failed().checkpoint(), 4u);
}

// ---- Checkpoints --------------------------------------------------------------------------------

TEST_F(HostedJobTest, ReportsACheckpointOnceItIsDurable) {
  Start();
  Write(1);
  EXPECT_EQ(node_.TakeNotes(), (Notes{"settle 1"}));
  EXPECT_TRUE(events_.empty());
  node_.Work();
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kCheckpointStored}));
}

TEST_F(HostedJobTest, ReportsACheckpointThatDidNotBecomeDurable) {
  Start();
  node_.settles = absl::ResourceExhaustedError("the disk is full");
  Write(1);
  node_.Work();
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].checkpoint_failed().reason(), "the disk is full");
  EXPECT_EQ(node_.TakeNotes(), (Notes{"settle 1", "room 1000"}));  // The next one is whole.
}

TEST_F(HostedJobTest, DiscardsWhatWasGivenUpWhileItWasWritten) {
  Start();
  ReleaseHeld(1);
  EXPECT_EQ(node_.TakeNotes(), (Notes{"release 1"}));
  Write(1);
  EXPECT_EQ(node_.TakeNotes(), (Notes{"discard 1"}));
  node_.Work();
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kCheckpointFailed}));
}

TEST_F(HostedJobTest, DiscardsAStoredCheckpointThatIsGivenUpUnlessItIsKept) {
  Start();
  for (const std::uint64_t checkpoint : {1, 2}) Write(checkpoint);
  Keep(1);
  node_.Work();
  node_.TakeNotes();
  ReleaseHeld(1);
  ReleaseHeld(2);
  node_.Work();
  EXPECT_EQ(node_.TakeNotes(), (Notes{"release 1", "release 2", "release 2 on disk"}));
}

TEST_F(HostedJobTest, DiscardsWhatItsDeadHostWasWriting) {
  Start();
  Write(1);
  node_.Work();
  node_.TakeNotes();
  job().OnHostGone(2);
  EXPECT_EQ(node_.TakeNotes(), (Notes{"discard 2"}));
}

TEST_F(HostedJobTest, DiscardsNothingOfADeadHostThatWasDone) {
  Start();
  Write(1);
  node_.Work();
  node_.TakeNotes();
  job().OnHostGone(1);
  EXPECT_EQ(node_.TakeNotes(), (Notes{}));
}

TEST_F(HostedJobTest, DoesOneThingAfterTheOtherWithTheImagesOfAJob) {
  Start();
  Write(1);
  proto::Order copy;
  copy.mutable_copy_checkpoint()->set_job(kJob);
  copy.mutable_copy_checkpoint()->set_checkpoint(1);
  jobs_.OnOrder(copy);
  Keep(1);
  EXPECT_EQ(node_.TakeNotes(), (Notes{"settle 1"}));
  ASSERT_TRUE(node_.WorkOnce());
  EXPECT_EQ(node_.TakeNotes(), (Notes{"copy 1 of 0 1"}));
  ASSERT_TRUE(node_.WorkOnce());
  EXPECT_EQ(node_.TakeNotes(), (Notes{"keep 1"}));
  node_.Work();
  EXPECT_EQ(TakeEvents(), (std::vector<What>{What::kCheckpointStored, What::kCheckpointCopied}));
}

// Its disk is slow: the coordinator may be another one meanwhile, which knows of nothing newer and
// goes on from a checkpoint that its forerunner had let go.
TEST_F(HostedJobTest, RemovesNothingThatAnEarlierRegistrationOrdered) {
  Start();
  Write(1);
  node_.Work();
  Write(2);  // Under way on the disk while the next ones come.
  Keep(2);
  ReleaseHeld(1);
  node_.TakeNotes();
  proto::RegisterRequest request;
  EXPECT_TRUE(jobs_.Describe(request).ok());
  Keep(1);
  node_.Work();
  EXPECT_EQ(node_.TakeNotes(), (Notes{"keep 1", "room 0"}));
}

TEST_F(HostedJobTest, DiscardsWhatNobodyWasToldOfWhoeverItRegistersWith) {
  Start();
  Write(1);
  job().OnHostGone(2);
  proto::RegisterRequest request;
  EXPECT_TRUE(jobs_.Describe(request).ok());
  node_.Work();
  EXPECT_EQ(node_.TakeNotes(), (Notes{"settle 1", "discard 2", "room 0"}));
}

// Whoever joins another cluster then would have images of the first one beside that one's note, and
// be taken back by neither: the worker may die before it discards them.
TEST_F(HostedJobTest, IsUnfinishedAsLongAsImagesMayStillComeToLieThere) {
  const auto unfinished = [this] {
    proto::RegisterRequest request;
    EXPECT_TRUE(jobs_.Describe(request).ok());
    return request.unfinished();
  };
  Start();
  node_.Work();
  EXPECT_FALSE(unfinished()) << "it is held";
  jobs_.AbandonAllBut({});
  EXPECT_TRUE(unfinished()) << "its processes may write one";
  for (const std::uint64_t checkpoint : {1, 2}) Write(checkpoint);
  job().OnHostGone(2);
  ASSERT_TRUE(node_.WorkOnce());
  ASSERT_TRUE(node_.WorkOnce());
  EXPECT_EQ(jobs_.jobs(), 0u);
  EXPECT_TRUE(unfinished()) << "one waits for the disk";
  node_.Work();
  EXPECT_FALSE(unfinished());
}

// The coordinator would take what is not listed for lost.
TEST_F(HostedJobTest, ANodeWhoseImagesCannotBeListedDoesNotRegister) {
  node_.listed = absl::UnavailableError("stale file handle");
  proto::RegisterRequest request;
  EXPECT_TRUE(absl::IsUnavailable(jobs_.Describe(request)));
}

TEST_F(HostedJobTest, TellsItsProcessesWhenThereIsNoRoomAndWhenThereIsAgain) {
  node_.room = absl::ResourceExhaustedError("the disk is full");
  Start();  // Looks for room.
  node_.room = absl::OkStatus();
  Write(1);
  node_.Work();
  EXPECT_EQ(node_.TakeNotes(), (Notes{"settle 1", "room 0", "no_room: \"\""}));
}

}  // namespace
}  // namespace bspnow::worker
