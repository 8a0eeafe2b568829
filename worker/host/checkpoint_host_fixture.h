#ifndef WORKER_CHECKPOINT_HOST_FIXTURE_H_
#define WORKER_CHECKPOINT_HOST_FIXTURE_H_

#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "worker/host/checkpoint_host.h"

namespace bspnow::worker {

inline constexpr std::uint64_t kSecondNs = 1'000'000'000;

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

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_HOST_FIXTURE_H_
