#include "worker/host/checkpoint_host.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include "base/clock.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// Processes are pids on which this test asks and reports.
class CheckpointHostTest : public testing::Test, private CheckpointOwner {
 protected:
  CheckpointHostTest()
      : segment_(memfd_create("segment", MFD_CLOEXEC)),
        memory_(Sized(segment_.get())),
        header_(reinterpret_cast<NodeHeader*>(memory_.data())) {
    std::filesystem::create_directories(root_ + "/job");
    for (const std::uint32_t pid : {2, 3, 4}) plan_.add_processes()->set_pid(pid);
    plan_.set_job_directory(root_ + "/job");
    plan_.set_image_directory(root_ + "/images");
    header_->participants.value.store(4);  // Pid 4 has left in bsp_begin.
    header_->image.checkpoint = 7;
  }

  static MappedRegion Sized(int fd) {
    EXPECT_EQ(ftruncate(fd, sizeof(NodeHeader)), 0);
    return MappedRegion::Shared(fd, sizeof(NodeHeader));
  }

  void AnswerImagePlace(Pid pid, int directory) override { answers_[pid] = directory >= 0; }
  OutputCounts DrainOutput(Pid pid) override {
    drained_.push_back(pid);
    return OutputCounts{.output_bytes = 100 + Value(pid), .error_bytes = 5};
  }
  std::vector<files::UnfinishedLine> UnfinishedLines() const override { return {}; }
  pid_t OsPidOf(Pid) const override { return writer_; }
  void Report(proto::WorkerEvent event) override { reports_.push_back(std::move(event)); }

  static LinkImageReport Written(std::uint64_t checkpoint) {
    LinkImageReport report{};
    report.written = 1;
    report.checkpoint = checkpoint;
    report.file_bytes = 1234;
    return report;
  }
  static LinkImageReport Refused(std::uint64_t checkpoint, const char* reason) {
    LinkImageReport report{};
    report.checkpoint = checkpoint;
    strncpy(report.reason, reason, sizeof report.reason - 1);
    return report;
  }

  // Of the only report.
  std::string Failure() const {
    EXPECT_EQ(reports_.size(), 1u);
    return reports_.empty() ? "" : reports_[0].checkpoint_failed().reason();
  }
  void AskBoth() {
    host_.OnAsked(Pid{2});
    host_.OnAsked(Pid{3});
  }
  void AwaitArchiver() {
    int status = 0;
    const pid_t child = waitpid(-1, &status, 0);
    host_.OnOtherExited(child, status);
  }

  UniqueFd segment_;
  MappedRegion memory_;
  NodeHeader* header_;
  const ScratchDirectory scratch_;
  const std::string root_ = scratch_.path();
  proto::HostPlan plan_;
  std::map<Pid, bool> answers_;
  std::vector<Pid> drained_;
  std::vector<proto::WorkerEvent> reports_;
  pid_t writer_ = 0;  ///< Whose children are looked for.
  CheckpointHost host_{plan_, segment_.get(), *this};
};

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

TEST_F(CheckpointHostTest, NoticesThatAWriterWasKilled) {
  AskBoth();
  AwaitArchiver();
  host_.OnReported(Pid{2}, Written(7));
  writer_ = getpid();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  host_.CheckWaits(kSecondNs);
  host_.CheckWaits(2 * kSecondNs);
  EXPECT_TRUE(host_.under_way());
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // It stays a zombie.
  host_.CheckWaits(3 * kSecondNs);  // The report may be on its way.
  EXPECT_TRUE(host_.under_way());
  host_.CheckWaits(4 * kSecondNs);
  EXPECT_FALSE(host_.under_way());
  EXPECT_EQ(Failure(), "pid 3: the writer of its image was killed");
  waitpid(child, nullptr, 0);
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

/// A child that computes for some ticks of the clock, once it is made and after each GoOn.
class Computing {
 public:
  Computing() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    end_ = UniqueFd(ends[0]);
    const UniqueFd its_end(ends[1]);
    child_ = fork();
    if (child_ != 0) return;
    end_.Reset();
    const int end = its_end.get();
    for (char byte = 0; write(end, &byte, 1) == 1 && read(end, &byte, 1) == 1;)
      for (const std::uint64_t until_ns = ProcessorNs() + kTicksNs; ProcessorNs() < until_ns;) {
      }
    _exit(0);
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  ~Computing() {
    end_.Reset();
    waitpid(child_, nullptr, 0);
  }

  /// Returns when it has.
  void GoOn() {
    char byte = 0;
    EXPECT_EQ(read(end_.get(), &byte, 1), 1);
    EXPECT_EQ(write(end_.get(), &byte, 1), 1);
    EXPECT_EQ(recv(end_.get(), &byte, 1, MSG_PEEK), 1);
  }

 private:
  static constexpr std::uint64_t kTicksNs = 50'000'000;
  UniqueFd end_;
  pid_t child_ = 0;
};

// Hundreds of GB on a file server that others use, too.
TEST_F(CheckpointHostTest, WaitsForAnImageAsLongAsItsWriterGoesOn) {
  AskBoth();
  AwaitArchiver();
  host_.OnReported(Pid{2}, Written(7));
  writer_ = getpid();
  Computing writer;
  host_.CheckWaits(kSecondNs);
  for (const std::uint64_t minutes : {9, 18, 27}) {
    writer.GoOn();
    host_.CheckWaits(minutes * 60 * kSecondNs);
    ASSERT_TRUE(host_.under_way()) << minutes;
  }
  host_.CheckWaits(36 * 60 * kSecondNs);
  EXPECT_TRUE(host_.under_way());
  host_.CheckWaits(38 * 60 * kSecondNs);
  EXPECT_FALSE(host_.under_way());
  EXPECT_EQ(Failure(), "pid 3: its image did not get on for 10 min: does the disk answer?");
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
  host_.CheckWaits(602 * kSecondNs);
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

// Its process would wait for it.
TEST_F(CheckpointHostTest, BeginsNoneWhileAWriterThatWasGivenUpIsThere) {
  AskBoth();
  AwaitArchiver();
  writer_ = getpid();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  host_.CheckWaits(kSecondNs);
  host_.CheckWaits(602 * kSecondNs);
  ASSERT_EQ(reports_.size(), 1u);
  header_->image.checkpoint = 8;
  AskBoth();
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, false}, {Pid{3}, false}}));
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(reports_[1].checkpoint_failed().reason(), "pid 2: checkpoint 7 is still being written");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  header_->image.checkpoint = 9;
  AskBoth();
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, true}}));
  AwaitArchiver();
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
