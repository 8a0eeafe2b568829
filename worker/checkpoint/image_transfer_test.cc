#include "worker/checkpoint/image_transfer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/file_text.h"
#include "worker/checkpoint/testing/image_node.h"

namespace bspnow::worker {
namespace {

class ImageTransferTest : public testing::Test {
 protected:
  /// Pids 0 and 1 live on a_, 2 on b_.
  ImageTransferTest() : a_(0), b_(0) {
    a_.Take(1, 0, {0, 1});
    a_.Take(2, 1, {0, 1});
    b_.Take(1, 0, {2});
    b_.Take(2, 1, {2});
  }

  absl::Status CopyToB() {
    return a_.transfer().Copy({.job = kJob,
                               .chain = {1, 2},
                               .pids = {0, 1},
                               .files_pid = 0,
                               .to_node = "b",
                               .to_address = b_.address()});
  }

  static proto::Resume ResumeFrom(const std::vector<std::string>& holders) {
    proto::Resume resume;
    resume.set_checkpoint(2);
    for (const std::uint64_t checkpoint : {1, 2}) resume.add_chain(checkpoint);
    for (const std::uint32_t pid : {0, 1, 2}) {
      proto::ImageOfPid& image = *resume.add_images();
      image.set_pid(pid);
      image.set_files_pid(pid == 2 ? 2 : 0);
      for (const std::string& holder : holders) image.add_holders(holder);
    }
    return resume;
  }

  Node a_, b_;
};

// ---- Copies -------------------------------------------------------------------------------------

TEST_F(ImageTransferTest, PartnerGetsTheChainItsTextsAndArchives) {
  const absl::Status copied = CopyToB();
  ASSERT_TRUE(copied.ok()) << copied;
  const Names names = *a_.store().Names(kJob);
  for (const std::string& name : names) {
    EXPECT_TRUE(b_.store().Verify(kJob, name).ok()) << name;
    EXPECT_EQ(FileText(a_.PathOf(name)), FileText(b_.PathOf(name)));
  }
  EXPECT_EQ(b_.files(), 11u);  // Three images and two archives, twice, of one text.
  EXPECT_EQ(b_.received(), 6u);
}

// Job 17 of the one is not job 17 of the other.
TEST_F(ImageTransferTest, NodesOfDifferentClustersGiveEachOtherNothing) {
  ASSERT_TRUE(a_.store().cluster_note().Write({.cluster = "one", .term = 1}).ok());
  ASSERT_TRUE(b_.store().cluster_note().Write({.cluster = "two", .term = 1}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(CopyToB()));
  ImagesStub stub(RpcCredentials::Plain());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(stub.Put(b_.address(), a_.store(), kJob, ImageName(1, Pid{0}))));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      stub.Get(b_.address(), a_.store(), kJob, ImageName(1, Pid{2}), a_.restore())));
  EXPECT_FALSE(a_.store().Has(kJob, ImageName(1, Pid{2})));
  ASSERT_TRUE(b_.store().cluster_note().Write({.cluster = "one", .term = 1}).ok());
  EXPECT_TRUE(CopyToB().ok());
}

TEST_F(ImageTransferTest, NothingIsSentTwice) {
  ASSERT_TRUE(CopyToB().ok());
  const auto before = std::filesystem::last_write_time(b_.PathOf("c1.p0"));
  Damage(a_.PathOf("c1.p0"), 200'000);  // Would be refused if it were sent.
  EXPECT_TRUE(CopyToB().ok());
  EXPECT_EQ(std::filesystem::last_write_time(b_.PathOf("c1.p0")), before);
}

TEST_F(ImageTransferTest, TextThatThePartnerRemovesDuringTheCopyIsSentAgain) {
  Node c(0);
  c.Take(1, 0, {2});
  c.OnReceived([&c] { c.store().Keep(kJob, {2}, c.store().last_list()); });
  a_.Take(3, 0, {0, 1});
  const absl::Status copied = a_.transfer().Copy({.job = kJob,
                                                  .chain = {3},
                                                  .pids = {0, 1},
                                                  .files_pid = 0,
                                                  .to_node = "c",
                                                  .to_address = c.address()});
  ASSERT_TRUE(copied.ok()) << copied;
  EXPECT_EQ(*c.store().Names(kJob), (Names{"c3.files.p0", "c3.p0", "c3.p1", TextNameOf(kLibrary)}));
}

TEST_F(ImageTransferTest, DamagedImageIsNotTakenForACopy) {
  Damage(a_.PathOf("c2.p1"), 200'000);
  const absl::Status copied = CopyToB();
  EXPECT_EQ(copied.code(), absl::StatusCode::kDataLoss) << copied;
  EXPECT_NE(copied.ToString().find("c2.p1"), std::string::npos) << copied;
  EXPECT_NE(copied.ToString().find("node b"), std::string::npos) << copied;
  EXPECT_FALSE(b_.store().Has(kJob, "c2.p1"));
}

TEST_F(ImageTransferTest, TwoPutsOfOneNameAtOnceLeaveOneFile) {
  ImagesStub stub(RpcCredentials::Plain());
  Node c(0);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        const absl::Status put = stub.Put(c.address(), a_.store(), kJob, "c1.p0");
        EXPECT_TRUE(put.ok()) << put;
      });
  }
  EXPECT_EQ(*c.store().Names(kJob), Names{"c1.p0"});
  EXPECT_EQ(c.files(), 1u);
  EXPECT_TRUE(c.store().Verify(kJob, "c1.p0").ok());
}

TEST_F(ImageTransferTest, PartnerWithoutRoomSaysSo) {
  Node small(1 << 20);
  const absl::Status copied = a_.transfer().Copy({.job = kJob,
                                                  .chain = {1},
                                                  .pids = {0},
                                                  .files_pid = 0,
                                                  .to_node = "small",
                                                  .to_address = small.address()});
  EXPECT_EQ(copied.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(copied.ToString().find("--checkpoint-quota"), std::string::npos) << copied;
}

// ---- What a node needs to go on -----------------------------------------------------------------

TEST_F(ImageTransferTest, CollectsWhatIsHereWithoutAsking) {
  const CollectedImages collected = a_.Collect(ResumeFrom({"127.0.0.1:1"}), {0, 1});
  EXPECT_TRUE(collected.missing.empty()) << collected.reason;
  EXPECT_EQ(collected.images.at(1), (Names{a_.PathOf("c1.p1"), a_.PathOf("c2.p1")}));
  EXPECT_EQ(collected.files.at(0), a_.PathOf("c2.files.p0"));
  EXPECT_TRUE(collected.notes.empty());
}

TEST_F(ImageTransferTest, NodeThatHasNothingTakesAllFromTheHolders) {
  Node c(0);
  const CollectedImages collected = c.Collect(ResumeFrom({a_.address(), b_.address()}), {1, 2});
  EXPECT_TRUE(collected.missing.empty()) << collected.reason;
  for (const std::uint32_t pid : {1, 2})
    EXPECT_EQ(collected.images.at(pid),
              (Names{c.PathOf(ImageName(1, Pid{pid})), c.PathOf(ImageName(2, Pid{pid}))}));
  EXPECT_EQ(collected.files.at(0), c.PathOf("c2.files.p0"));
  EXPECT_EQ(collected.files.at(2), c.PathOf("c2.files.p2"));
  const Names names = *c.store().Names(kJob);
  for (const std::string& name : names) EXPECT_TRUE(c.store().Verify(kJob, name).ok()) << name;
  EXPECT_EQ(c.files(), 7u);
}

TEST_F(ImageTransferTest, DamagedImageHereIsTakenFromThePartnerAndSaid) {
  ASSERT_TRUE(CopyToB().ok());
  Damage(a_.PathOf("c1.p0"), 1'200'000);
  const CollectedImages collected = a_.Collect(ResumeFrom({a_.address(), b_.address()}), {0, 1});
  EXPECT_TRUE(collected.missing.empty()) << collected.reason;
  ASSERT_EQ(collected.notes.size(), 1u);
  EXPECT_NE(collected.notes[0].find("c1.p0"), std::string::npos);
  EXPECT_NE(collected.notes[0].find("chunk 1 "), std::string::npos) << collected.notes[0];
  EXPECT_NE(collected.notes[0].find("taken from " + b_.address()), std::string::npos);
  EXPECT_TRUE(a_.store().Verify(kJob, "c1.p0").ok());
}

// It is written once for all checkpoints: each later one would be as worthless.
TEST_F(ImageTransferTest, TextThatIsDamagedEverywhereIsWrittenAnew) {
  ASSERT_TRUE(CopyToB().ok());
  for (Node* const node : {&a_, &b_}) Damage(node->PathOf(TextNameOf(kLibrary)), 5);
  const CollectedImages collected = a_.Collect(ResumeFrom({a_.address(), b_.address()}), {0, 1});
  EXPECT_EQ(collected.missing.size(), 2u);
  EXPECT_EQ(a_.TryTake(3, 0, {0, 1}).code(), absl::StatusCode::kDataLoss);
  a_.Take(3, 0, {0, 1});
  EXPECT_TRUE(a_.store().Verify(kJob, TextNameOf(kLibrary)).ok());
}

TEST_F(ImageTransferTest, DamagedTextAndArchiveAreTakenFromThePartner) {
  ASSERT_TRUE(CopyToB().ok());
  Damage(a_.PathOf(TextNameOf(kLibrary)), 5);
  Damage(a_.PathOf("c2.files.p0"), 9);
  const CollectedImages collected = a_.Collect(ResumeFrom({b_.address()}), {0, 1});
  EXPECT_TRUE(collected.missing.empty()) << collected.reason;
  EXPECT_EQ(collected.notes.size(), 2u);
}

TEST_F(ImageTransferTest, NamesThePidsThatAreNotToBeHadAndWhatWasTried) {
  ASSERT_TRUE(CopyToB().ok());
  Damage(a_.PathOf("c1.p1"), 200'000);
  Damage(b_.PathOf("c1.p1"), 1'200'000);
  const CollectedImages collected = a_.Collect(ResumeFrom({b_.address()}), {0, 1});
  EXPECT_EQ(collected.missing, std::vector<std::uint32_t>{1});
  for (const std::string& part : {std::string("pid 1: "), a_.PathOf("c1.p1"),
                                  std::string("chunk 0 "), std::string("chunk 1 "), b_.address()})
    EXPECT_NE(collected.reason.find(part), std::string::npos) << collected.reason;
  EXPECT_TRUE(collected.images.contains(0));
}

TEST_F(ImageTransferTest, HolderThatCannotBeAskedMayHaveAnUndamagedImage) {
  Damage(a_.PathOf("c1.p1"), 200'000);
  const CollectedImages collected = a_.Collect(ResumeFrom({"127.0.0.1:1"}), {0, 1});
  EXPECT_EQ(collected.missing, std::vector<std::uint32_t>{});
  EXPECT_NE(collected.reason.find("127.0.0.1:1"), std::string::npos) << collected.reason;
}

// It is asked once, and what it did not say counts for all the others.
TEST_F(ImageTransferTest, HolderThatCannotBeAskedMayHaveTheImagesOfAllPids) {
  Node c(0);
  const CollectedImages collected = c.Collect(ResumeFrom({"127.0.0.1:1"}), {0, 1, 2});
  EXPECT_EQ(collected.missing, std::vector<std::uint32_t>{});
  EXPECT_NE(collected.reason.find("pid 2: c2.files.p2 is not on this node"), std::string::npos)
      << collected.reason;
}

TEST_F(ImageTransferTest, RestoreThatIsBrokenOffSaysNothingAboutTheImages) {
  Node c(0);
  c.restore().Stop();
  const CollectedImages collected = c.Collect(ResumeFrom({a_.address()}), {0, 1});
  EXPECT_EQ(collected.missing, std::vector<std::uint32_t>{});
  EXPECT_TRUE(collected.images.empty());
  EXPECT_NE(collected.reason.find("broken off"), std::string::npos) << collected.reason;
}

// A job that has ended wants its files, and runs no more.
TEST_F(ImageTransferTest, FilesComeThoughImagesAreNotWaitedFor) {
  Node c(0);
  c.images_of_restore().Stop();
  const CollectedImages collected = c.Collect(ResumeFrom({a_.address()}), {0, 1});
  EXPECT_TRUE(collected.whole_files.ok()) << collected.whole_files;
  EXPECT_EQ(collected.files.at(0), c.PathOf("c2.files.p0"));
  EXPECT_TRUE(collected.images.empty());
  EXPECT_NE(collected.reason.find("broken off"), std::string::npos) << collected.reason;
}

TEST_F(ImageTransferTest, NodeWithoutRoomSaysNothingAboutTheImages) {
  Node full(1 << 20);
  const CollectedImages collected = full.Collect(ResumeFrom({a_.address()}), {0, 1});
  EXPECT_EQ(collected.missing, std::vector<std::uint32_t>{});
  EXPECT_NE(collected.reason.find("--checkpoint-quota"), std::string::npos) << collected.reason;
}

TEST_F(ImageTransferTest, ImageThatBuildsOnAnotherCheckpointIsRefused) {
  proto::Resume resume = ResumeFrom({});
  resume.clear_chain();
  resume.add_chain(2);
  const CollectedImages collected = a_.Collect(resume, {0});
  EXPECT_EQ(collected.missing, std::vector<std::uint32_t>{0});
  EXPECT_NE(collected.reason.find("builds on checkpoint 1"), std::string::npos) << collected.reason;
}

TEST_F(ImageTransferTest, ImageThatStandsAloneNeedsNothingBeforeIt) {
  a_.Take(3, 0, {0, 1});
  proto::Resume resume = ResumeFrom({});
  resume.set_checkpoint(3);
  resume.add_chain(3);
  std::filesystem::remove(a_.PathOf("c1.p0"));
  const CollectedImages collected = a_.Collect(resume, {0});
  EXPECT_TRUE(collected.missing.empty()) << collected.reason;
  EXPECT_EQ(collected.images.at(0), Names{a_.PathOf("c3.p0")});
}

TEST_F(ImageTransferTest, PidWithoutImageIsMissing) {
  EXPECT_EQ(a_.Collect(ResumeFrom({}), {7}).missing, std::vector<std::uint32_t>{7});
}

}  // namespace
}  // namespace bspnow::worker
