#include "worker/checkpoint/cluster_note.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

class ClusterNoteTest : public testing::Test {
 protected:
  /// What a new run of the worker finds.
  std::string OnDisk() {
    const absl::StatusOr<KnownCoordinator> read = ClusterNote(directory_.path()).Read();
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() ? read->cluster : "an error";
  }

  proto::RegisterRequest Request() {
    proto::RegisterRequest request;
    request.set_cluster(note_.Read()->cluster);
    return request;
  }

  static proto::RegisterReply Registered(const std::string& cluster, std::uint64_t term = 1) {
    proto::RegisterReply reply;
    reply.set_worker(1);
    reply.set_cluster(cluster);
    reply.set_term(term);
    return reply;
  }

  const ScratchDirectory directory_;
  ClusterNote note_{directory_.path()};
};

TEST_F(ClusterNoteTest, IsEmptyAtFirst) { EXPECT_EQ(OnDisk(), ""); }

TEST_F(ClusterNoteTest, WorkerNotesTheClusterThatItJoins) {
  ASSERT_TRUE(note_.Join(Request(), Registered("one")).ok());
  EXPECT_EQ(OnDisk(), "one");
  EXPECT_EQ(note_.cluster(), "one");
}

TEST_F(ClusterNoteTest, WorkerThatKeepsNothingJoinsAnotherCluster) {
  ASSERT_TRUE(note_.Join(Request(), Registered("one")).ok());
  ASSERT_TRUE(note_.Join(Request(), Registered("two")).ok());
  EXPECT_EQ(OnDisk(), "two");
}

TEST_F(ClusterNoteTest, SaysIfThereIsNoRoomToJoin) {
  const ScratchDirectory parent;
  ClusterNote note(parent.path() + "/gone");
  EXPECT_FALSE(note.CheckRoom().ok());
  EXPECT_TRUE(absl::IsUnavailable(note.Join({}, Registered("one"))));
  std::filesystem::create_directory(parent.path() + "/gone");
  EXPECT_EQ(note.CheckRoom(), absl::OkStatus());
  EXPECT_TRUE(std::filesystem::is_empty(parent.path() + "/gone"));
  EXPECT_EQ(note.Join({}, Registered("one")), absl::OkStatus());
}

TEST_F(ClusterNoteTest, WorkerThatKeepsImagesJoinsNoOtherCluster) {
  ASSERT_TRUE(note_.Join(Request(), Registered("one")).ok());
  proto::RegisterRequest request = Request();
  request.add_stored();
  const absl::Status refused = note_.Join(request, Registered("two"));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_NE(refused.ToString().find("remove " + directory_.path() + "/cluster"), std::string::npos);
  EXPECT_EQ(OnDisk(), "one");
  EXPECT_TRUE(note_.Join(request, Registered("one")).ok());
}

TEST_F(ClusterNoteTest, WorkerWithRunningJobsOrAShareJoinsNoOtherCluster) {
  ASSERT_TRUE(note_.Join(Request(), Registered("one")).ok());
  proto::RegisterRequest running = Request();
  running.add_held();
  EXPECT_FALSE(note_.Join(running, Registered("two")).ok());
  proto::RegisterRequest sharing = Request();
  sharing.set_images_share("/share");
  EXPECT_FALSE(note_.Join(sharing, Registered("two")).ok());
}

TEST_F(ClusterNoteTest, CoordinatorThatRegisteredNobodyIsNotJoined) {
  ASSERT_TRUE(note_.Join(Request(), Registered("one")).ok());
  proto::RegisterReply refusal;
  refusal.set_cluster("two");
  EXPECT_TRUE(absl::IsFailedPrecondition(note_.Join(Request(), refusal)));
  EXPECT_EQ(OnDisk(), "one");
}

TEST_F(ClusterNoteTest, NoWorkerObeysACoordinatorThatWasReplacedThoughItWasRestarted) {
  ASSERT_TRUE(note_.Join(Request(), Registered("one", 7)).ok());
  EXPECT_TRUE(note_.Join(Request(), Registered("one", 8)).ok());
  ClusterNote restarted(directory_.path());
  ASSERT_TRUE(restarted.Read().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(restarted.Join(Request(), Registered("one", 7))));
  EXPECT_TRUE(restarted.Join(Request(), Registered("one", 8)).ok());
  EXPECT_TRUE(restarted.Join(Request(), Registered("another", 1)).ok());
}

TEST_F(ClusterNoteTest, NoWorkerObeysTwoCoordinatorsOfOneTerm) {
  proto::RegisterReply first = Registered("one", 7);
  first.set_term_key(123);
  proto::RegisterReply second = first;
  second.set_term_key(124);
  ASSERT_TRUE(note_.Join(Request(), first).ok());
  ClusterNote restarted(directory_.path());
  EXPECT_EQ(restarted.Read()->term_key, 123u);
  EXPECT_TRUE(absl::IsFailedPrecondition(restarted.Join(Request(), second)));
  EXPECT_TRUE(restarted.Join(Request(), first).ok());
}

TEST_F(ClusterNoteTest, TermThatCannotBeWrittenKeepsNobodyFromRegistering) {
  ASSERT_TRUE(note_.Join(Request(), Registered("one", 7)).ok());
  const proto::RegisterRequest request = Request();
  std::filesystem::remove_all(directory_.path());
  EXPECT_TRUE(note_.Join(request, Registered("one", 8)).ok());
  EXPECT_FALSE(note_.Join(request, Registered("one", 7)).ok());
}

TEST_F(ClusterNoteTest, NoteWithoutATermIsOfTheFirst) {
  std::ofstream(directory_.path() + "/cluster") << "one\n";
  EXPECT_EQ(OnDisk(), "one");
  EXPECT_TRUE(note_.Join(Request(), Registered("one", 1)).ok());
}

// They were stored before there were notes.
TEST_F(ClusterNoteTest, ImagesWithoutANoteAreAnybodys) {
  proto::RegisterRequest request = Request();
  request.add_stored();
  EXPECT_TRUE(note_.Join(request, Registered("one")).ok());
  EXPECT_EQ(OnDisk(), "one");
}

TEST_F(ClusterNoteTest, NoteThatIsRemovedGivesUpWhatIsKept) {
  ASSERT_TRUE(note_.Join(Request(), Registered("one")).ok());
  std::filesystem::remove(directory_.path() + "/cluster");
  proto::RegisterRequest request = Request();
  request.add_stored();
  EXPECT_TRUE(note_.Join(request, Registered("two")).ok());
}

TEST_F(ClusterNoteTest, NoteThatCannotBeReadIsNotTakenForNone) {
  std::ofstream(directory_.path() + "/cluster");
  EXPECT_TRUE(absl::IsDataLoss(note_.Read().status())) << note_.Read().status();
  std::filesystem::remove(directory_.path() + "/cluster");
  std::filesystem::create_directory(directory_.path() + "/cluster");
  EXPECT_FALSE(note_.Read().ok());
}

TEST_F(ClusterNoteTest, NoteThatCannotBeWrittenIsNoNote) {
  std::filesystem::remove_all(directory_.path());
  EXPECT_FALSE(note_.Join(Request(), Registered("one")).ok());
  EXPECT_EQ(OnDisk(), "");
}

}  // namespace
}  // namespace bspnow::worker
