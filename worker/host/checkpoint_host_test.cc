#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "worker/host/checkpoint_host_fixture.h"

namespace bspnow::worker {
namespace {

TEST_F(CheckpointHostTest, AnswersWhenAllThatTakePartHaveAsked) {
  host_.OnAsked(Pid{3});
  EXPECT_TRUE(answers_.empty());
  EXPECT_TRUE(drained_.empty());
  host_.OnAsked(Pid{2});
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, true}}));
  EXPECT_EQ(drained_.size(), 2u);
  AwaitArchiver();
  EXPECT_TRUE(reports_.empty());
}

TEST_F(CheckpointHostTest, BeginsNoneWithoutRoom) {
  host_.Refuse("the disk is full");
  AskBoth();
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, false}, {Pid{3}, false}}));
  EXPECT_EQ(Failure(), "pid 2: the disk is full");
  EXPECT_FALSE(std::filesystem::exists(plan_.image_directory()));
  EXPECT_FALSE(host_.under_way());
  host_.Refuse("");
  AskBoth();
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, true}}));
  AwaitArchiver();
}

TEST_F(CheckpointHostTest, WritesTheArchiveOfTheFiles) {
  std::ofstream(plan_.job_directory() + "/out") << "text";
  AskBoth();
  AwaitArchiver();
  EXPECT_TRUE(files::VerifyJobFiles(plan_.image_directory() + "/c7.files.p2.new").ok());
}

TEST_F(CheckpointHostTest, ReportsOnceWhenEverythingIsWritten) {
  AskBoth();
  host_.OnReported(Pid{2}, Written(7));
  host_.OnReported(Pid{2}, Written(7));  // Once more: that is not pid 3's.
  host_.OnReported(Pid{3}, Written(7));
  EXPECT_TRUE(reports_.empty()) << "the files are still being written";
  AwaitArchiver();
  host_.OnReported(Pid{3}, Written(7));
  ASSERT_EQ(reports_.size(), 1u);
  const proto::CheckpointStored& stored = reports_[0].checkpoint_stored();
  EXPECT_EQ(stored.checkpoint(), 7u);
  ASSERT_EQ(stored.images_size(), 2);
  EXPECT_EQ(stored.images(1).pid(), 3u);
  EXPECT_EQ(stored.images(1).file_bytes(), 1234u);
  EXPECT_EQ(stored.images(1).output_bytes(), 103u);
  EXPECT_EQ(stored.images(1).error_bytes(), 5u);
  EXPECT_FALSE(host_.under_way());
}

TEST_F(CheckpointHostTest, KeepsTheFirstReasonOfAFailure) {
  AskBoth();
  host_.OnReported(Pid{3}, Refused(7, "descriptor 5 is a socket"));
  host_.OnReported(Pid{2}, Refused(7, "another"));
  AwaitArchiver();
  EXPECT_EQ(Failure(), "pid 3: descriptor 5 is a socket");
  EXPECT_EQ(reports_[0].checkpoint_failed().checkpoint(), 7u);
}

TEST_F(CheckpointHostTest, FailsWithoutItsFiles) {
  std::filesystem::create_directories(root_ + "/images/c7.files.p2.new");
  AskBoth();
  host_.OnReported(Pid{2}, Written(7));
  host_.OnReported(Pid{3}, Written(7));
  AwaitArchiver();
  EXPECT_EQ(Failure().find("the files of the job: beginning to write "), 0u) << Failure();
}

TEST_F(CheckpointHostTest, WaitsForNobodyWhoHasEnded) {
  host_.OnAsked(Pid{2});
  host_.OnGone(Pid{3}, "it has ended");
  EXPECT_TRUE(answers_.contains(Pid{2}));
  host_.OnReported(Pid{2}, Written(7));
  AwaitArchiver();
  EXPECT_EQ(Failure(), "pid 3: it has ended");
}

TEST_F(CheckpointHostTest, SaysThatAProcessEndedBeforeItsImageWasWritten) {
  AskBoth();
  host_.OnGone(Pid{3}, "it has ended");
  host_.OnReported(Pid{2}, Written(7));
  AwaitArchiver();
  EXPECT_EQ(Failure(), "pid 3: before its image was written, it has ended");
}

TEST_F(CheckpointHostTest, TakesARefusalForAnAnswer) {
  host_.OnAsked(Pid{2});
  host_.OnReported(Pid{3}, Refused(7, "no"));
  EXPECT_TRUE(answers_.contains(Pid{2}));
  host_.OnReported(Pid{2}, Written(7));
  AwaitArchiver();
  EXPECT_EQ(Failure(), "pid 3: no");
}

TEST_F(CheckpointHostTest, GivesUpWhatBeginsBeforeTheLastIsDone) {
  AskBoth();
  AwaitArchiver();
  header_->image.checkpoint = 8;
  host_.OnReported(Pid{2}, Written(7));
  host_.OnAsked(Pid{2});
  host_.OnReported(Pid{3}, Refused(8, "busy"));
  EXPECT_EQ(answers_.at(Pid{2}), false);
  host_.OnReported(Pid{3}, Written(7));
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(reports_[0].checkpoint_failed().checkpoint(), 8u);
  EXPECT_EQ(reports_[1].checkpoint_stored().checkpoint(), 7u);
}

TEST_F(CheckpointHostTest, GivesUpIfThereIsNowhereToWrite) {
  plan_.set_image_directory(root_ + "/missing/images");
  AskBoth();
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, false}, {Pid{3}, false}}));
  EXPECT_NE(Failure(), "");
  EXPECT_FALSE(host_.under_way());
}

TEST_F(CheckpointHostTest, DoesNotWaitForEver) {
  AskBoth();
  AwaitArchiver();
  host_.CheckWaits(kSecondNs);
  host_.CheckWaits(590 * kSecondNs);
  EXPECT_TRUE(host_.under_way());
  host_.CheckWaits(602 * kSecondNs);
  EXPECT_FALSE(host_.under_way());
}

// As on a disk that hangs.
TEST_F(CheckpointHostTest, DoesNotWaitForEverForItsFilesEither) {
  std::filesystem::create_directories(plan_.image_directory());
  const std::string archive = plan_.image_directory() + "/c7.files.p2.new";
  ASSERT_EQ(mkfifo(archive.c_str(), 0600), 0);
  const UniqueFd nobody_reads(open(archive.c_str(), O_RDWR | O_CLOEXEC));
  std::ofstream(plan_.job_directory() + "/out") << std::string(200'000, 'x');
  AskBoth();
  host_.CheckWaits(kSecondNs);
  host_.OnReported(Pid{2}, Written(7));
  host_.OnReported(Pid{3}, Written(7));
  host_.CheckWaits(600 * kSecondNs);
  EXPECT_TRUE(host_.under_way());
  host_.CheckWaits(1202 * kSecondNs);  // It may have begun after the first look.
  EXPECT_FALSE(host_.under_way());
  EXPECT_EQ(Failure(),
            "the files of the job: nothing was written of them for 10 min: does the disk answer?");
  AwaitArchiver();
  EXPECT_EQ(reports_.size(), 1u);
}

// Who opens a pipe that nobody reads waits, as on a disk that takes nothing.
TEST_F(CheckpointHostTest, ProcessesGoOnWhileTheDiskHangs) {
  std::filesystem::create_directories(plan_.image_directory());
  const std::string archive = plan_.image_directory() + "/c7.files.p2.new";
  ASSERT_EQ(mkfifo(archive.c_str(), 0600), 0);
  AskBoth();
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, true}}));
  host_.OnReported(Pid{2}, Written(7));
  host_.OnReported(Pid{3}, Written(7));
  EXPECT_TRUE(host_.under_way());
  const UniqueFd reader(open(archive.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes(1 << 20, '\0');
  while (read(reader.get(), bytes.data(), bytes.size()) > 0) continue;
  AwaitArchiver();
  EXPECT_FALSE(host_.under_way());
}

TEST_F(CheckpointHostTest, WhoDoesNotComeHoldsUpTheOthersForTenSecondsOnce) {
  host_.OnAsked(Pid{2});
  host_.CheckWaits(1 * kSecondNs);
  host_.CheckWaits(10 * kSecondNs);
  EXPECT_TRUE(answers_.empty());
  host_.CheckWaits(11 * kSecondNs);
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}}));
  host_.OnReported(Pid{2}, Written(7));
  AwaitArchiver();
  EXPECT_TRUE(Failure().starts_with("pid 3: it did not come")) << Failure();
  header_->image.checkpoint = 8;
  host_.OnAsked(Pid{2});
  EXPECT_EQ(answers_.size(), 1u);
  EXPECT_EQ(drained_.size(), 4u);  // It was answered at once.
  AwaitArchiver();
}

TEST_F(CheckpointHostTest, WhoComesLateTakesPartInTheNextOne) {
  host_.OnAsked(Pid{2});
  host_.CheckWaits(1 * kSecondNs);
  host_.CheckWaits(11 * kSecondNs);
  host_.OnReported(Pid{2}, Written(7));
  AwaitArchiver();
  host_.OnAsked(Pid{3});
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, false}}));
  header_->image.checkpoint = 8;
  host_.OnAsked(Pid{2});
  EXPECT_FALSE(host_.under_way() && drained_.size() > 2);
  host_.OnAsked(Pid{3});
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, true}}));
  AwaitArchiver();
}

}  // namespace
}  // namespace bspnow::worker
