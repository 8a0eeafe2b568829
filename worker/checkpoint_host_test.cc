#include "worker/checkpoint_host.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include "base/scratch_directory.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// Processes are pids on which this test asks and reports.
class CheckpointHostTest : public testing::Test {
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

  CheckpointHostEvents Events() {
    return {.answer = [this](Pid pid, int directory) { answers_[pid] = directory >= 0; },
            .drain =
                [this](Pid pid) {
                  drained_.push_back(pid);
                  return OutputCounts{.output_bytes = 100 + Value(pid), .error_bytes = 5};
                },
            .unfinished = [] { return std::vector<UnfinishedLine>{}; },
            .os_pid = [this](Pid) { return writer_; },
            .report = [this](const HostReport& report) { reports_.push_back(report); }};
  }

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

  const HostReport* Find(HostReport::Kind kind, Pid pid) const {
    for (const HostReport& report : reports_) {
      if (report.kind == kind && report.pid == pid) return &report;
    }
    return nullptr;
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
  std::vector<HostReport> reports_;
  pid_t writer_ = 0;  ///< Whose children are looked for.
  CheckpointHost host_{plan_, segment_.get(), Events()};
};

TEST_F(CheckpointHostTest, AnswersWhenAllThatTakePartHaveAsked) {
  host_.OnAsked(Pid{3});
  EXPECT_TRUE(answers_.empty());
  EXPECT_TRUE(drained_.empty());
  host_.OnAsked(Pid{2});
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, true}}));
  EXPECT_EQ(drained_.size(), 2u);
  const HostReport* const saving = Find(HostReport::kSaving, Pid{3});
  ASSERT_NE(saving, nullptr);
  EXPECT_EQ(saving->number, 7u);
  EXPECT_EQ(saving->output_bytes, 103u);
  EXPECT_EQ(saving->error_bytes, 5u);
  AwaitArchiver();
}

TEST_F(CheckpointHostTest, BeginsNoneWithoutRoom) {
  host_.Refuse("the disk is full");
  host_.OnAsked(Pid{2});
  host_.OnAsked(Pid{3});
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, false}, {Pid{3}, false}}));
  EXPECT_EQ(Find(HostReport::kImage, Pid{3})->text, "the disk is full");
  EXPECT_EQ(Find(HostReport::kFiles, Pid{2})->text, "the disk is full");
  EXPECT_FALSE(std::filesystem::exists(plan_.image_directory()));
  EXPECT_FALSE(host_.under_way());
  host_.Refuse("");
  host_.OnAsked(Pid{2});
  host_.OnAsked(Pid{3});
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, true}}));
  AwaitArchiver();
}

TEST_F(CheckpointHostTest, WritesTheArchiveOfTheFiles) {
  std::ofstream(plan_.job_directory() + "/out") << "text";
  host_.OnAsked(Pid{2});
  host_.OnAsked(Pid{3});
  AwaitArchiver();
  const HostReport* const files = Find(HostReport::kFiles, Pid{2});
  ASSERT_NE(files, nullptr);
  EXPECT_EQ(files->text, "");
  EXPECT_TRUE(VerifyJobFiles(plan_.image_directory() + "/c7.files.p2.new").ok());
}

TEST_F(CheckpointHostTest, PassesReportsOnOnce) {
  host_.OnAsked(Pid{2});
  host_.OnAsked(Pid{3});
  AwaitArchiver();
  reports_.clear();
  host_.OnReported(Pid{2}, Written(7));
  host_.OnReported(Pid{2}, Written(7));
  host_.OnReported(Pid{3}, Refused(7, "descriptor 5 is a socket"));
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(reports_[0].text, "");
  EXPECT_EQ(reports_[0].file_bytes, 1234u);
  EXPECT_EQ(reports_[1].text, "descriptor 5 is a socket");
  EXPECT_FALSE(host_.under_way());
}

TEST_F(CheckpointHostTest, WaitsForNobodyWhoHasEnded) {
  host_.OnAsked(Pid{2});
  host_.OnGone(Pid{3}, "it has ended");
  EXPECT_TRUE(answers_.contains(Pid{2}));
  const HostReport* const image = Find(HostReport::kImage, Pid{3});
  ASSERT_NE(image, nullptr);
  EXPECT_NE(image->text.find("it has ended"), std::string::npos) << image->text;
  AwaitArchiver();
}

TEST_F(CheckpointHostTest, SaysThatAProcessEndedBeforeItsImageWasWritten) {
  host_.OnAsked(Pid{2});
  host_.OnAsked(Pid{3});
  host_.OnGone(Pid{3}, "it has ended");
  const HostReport* const image = Find(HostReport::kImage, Pid{3});
  ASSERT_NE(image, nullptr);
  EXPECT_NE(image->text.find("it has ended"), std::string::npos) << image->text;
  AwaitArchiver();
}

TEST_F(CheckpointHostTest, TakesARefusalForAnAnswer) {
  host_.OnAsked(Pid{2});
  host_.OnReported(Pid{3}, Refused(7, "no"));
  EXPECT_TRUE(answers_.contains(Pid{2}));
  ASSERT_NE(Find(HostReport::kImage, Pid{3}), nullptr);
  EXPECT_EQ(Find(HostReport::kImage, Pid{3})->text, "no");
  AwaitArchiver();
}

TEST_F(CheckpointHostTest, GivesUpWhatBeginsBeforeTheLastIsDone) {
  host_.OnAsked(Pid{2});
  host_.OnAsked(Pid{3});
  AwaitArchiver();
  header_->image.checkpoint = 8;
  host_.OnReported(Pid{2}, Written(7));
  host_.OnAsked(Pid{2});
  host_.OnReported(Pid{3}, Refused(8, "busy"));
  EXPECT_EQ(answers_.at(Pid{2}), false);
  host_.OnReported(Pid{3}, Written(7));
  std::map<std::uint64_t, int> images;
  for (const HostReport& report : reports_)
    images[report.number] += report.kind == HostReport::kImage;
  EXPECT_EQ(images[7], 2);
  EXPECT_EQ(images[8], 2);
}

TEST_F(CheckpointHostTest, GivesUpIfThereIsNowhereToWrite) {
  plan_.set_image_directory(root_ + "/missing/images");
  host_.OnAsked(Pid{2});
  host_.OnAsked(Pid{3});
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, false}, {Pid{3}, false}}));
  EXPECT_NE(Find(HostReport::kImage, Pid{2})->text, "");
  EXPECT_NE(Find(HostReport::kFiles, Pid{2})->text, "");
  EXPECT_FALSE(host_.under_way());
}

TEST_F(CheckpointHostTest, NoticesThatAWriterWasKilled) {
  host_.OnAsked(Pid{2});
  host_.OnAsked(Pid{3});
  AwaitArchiver();
  host_.OnReported(Pid{2}, Written(7));
  writer_ = getpid();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  host_.CheckWriters(kSecondNs);
  host_.CheckWriters(2 * kSecondNs);
  EXPECT_TRUE(host_.under_way());
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // It stays a zombie.
  host_.CheckWriters(3 * kSecondNs);  // The report may be on its way.
  EXPECT_TRUE(host_.under_way());
  host_.CheckWriters(4 * kSecondNs);
  EXPECT_FALSE(host_.under_way());
  EXPECT_NE(Find(HostReport::kImage, Pid{3})->text, "");
  waitpid(child, nullptr, 0);
}

TEST_F(CheckpointHostTest, DoesNotWaitForEver) {
  host_.OnAsked(Pid{2});
  host_.OnAsked(Pid{3});
  AwaitArchiver();
  host_.CheckWriters(kSecondNs);
  host_.CheckWriters(590 * kSecondNs);
  EXPECT_TRUE(host_.under_way());
  host_.CheckWriters(602 * kSecondNs);
  EXPECT_FALSE(host_.under_way());
}

}  // namespace
}  // namespace bspnow
