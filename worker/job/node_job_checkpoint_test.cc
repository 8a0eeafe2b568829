// Checkpoints of real processes: taken in one run of the hosting, resumed in another.
#include <map>
#include <thread>

#include "base/link_feature.h"
#include "base/testing/file_text.h"
#include "base/units.h"
#include "runtime/link/link.h"
#include "worker/checkpoint/testing/silent_images.h"
#include "worker/job/testing/node_job_fixture.h"

namespace bspnow::worker {
namespace {

constexpr char kProgram[] = "worker/job/testing/countdown";
constexpr std::uint64_t kJob = 5;
constexpr std::uint32_t kProcesses = 3;

class CheckpointTest : public NodeJobTest {
 protected:
  using Streams = std::map<std::uint32_t, std::string>;  // Standard output by pid.

  proto::Order Countdown(const std::string& hash, const std::vector<std::string>& arguments) {
    proto::Order order = StartOrder(kJob, hash, kProcesses);
    for (const std::string& argument : arguments) {
      order.mutable_start()->mutable_spec()->add_arguments(argument);
    }
    return order;
  }
  static proto::Order Take(std::uint64_t checkpoint, std::uint64_t base, ImagePlan::After after) {
    proto::Order order;
    proto::TakeCheckpoint& take = *order.mutable_take_checkpoint();
    take.set_job(kJob);
    take.set_epoch(1);
    take.set_checkpoint(checkpoint);
    take.set_base(base);
    take.set_hold(after == ImagePlan::After::kHold);
    return order;
  }
  // As the coordinator makes it of the report.
  proto::Order ResumeFrom(const proto::Order& start, const proto::CheckpointStored& stored,
                          const std::vector<std::uint64_t>& chain) {
    proto::Order order = start;
    order.mutable_start()->set_epoch(2);
    proto::Resume& resume = *order.mutable_start()->mutable_resume();
    resume.set_checkpoint(stored.checkpoint());
    resume.set_superstep(stored.superstep());
    resume.set_participants(stored.participants());
    resume.mutable_chain()->Assign(chain.begin(), chain.end());
    resume.set_of_areas(stored.of_areas());
    for (const proto::StoredImage& image : stored.images()) {
      proto::ImageOfPid& of_pid = *resume.add_images();
      of_pid.set_pid(image.pid());
      of_pid.set_files_pid(0);
      of_pid.set_output_bytes(image.output_bytes());
      of_pid.set_error_bytes(image.error_bytes());
    }
    return order;
  }
  Streams Printed() const {
    Streams streams;
    for (const proto::WorkerEvent& event : events_) {
      if (!event.has_output() || event.output().stream() != proto::STDOUT) continue;
      streams[event.output().pid()] += event.output().text();
    }
    return streams;
  }
  bool EndEpoch(std::uint64_t epoch) {
    proto::Order order = EndOrder(kJob);
    order.mutable_end()->set_epoch(epoch);
    order.mutable_end()->set_keep_files(true);
    jobs_->OnOrder(order);
    return RunUntil([&] { return jobs_->jobs() == 0; });
  }
  bool RunUntilAnswered(std::uint64_t checkpoint) {
    return RunUntil([&] {
      return std::any_of(events_.begin(), events_.end(), [&](const proto::WorkerEvent& event) {
        return event.checkpoint_stored().checkpoint() == checkpoint ||
               event.checkpoint_failed().checkpoint() == checkpoint;
      });
    });
  }
  void TakeAndAwait(std::uint64_t checkpoint, std::uint64_t base) {
    jobs_->OnOrder(Take(checkpoint, base, ImagePlan::After::kGoOn));
    ASSERT_TRUE(RunUntilAnswered(checkpoint));
    ASSERT_EQ(Count(proto::WorkerEvent::kCheckpointFailed), 0u)
        << First(proto::WorkerEvent::kCheckpointFailed).checkpoint_failed().reason();
  }
  bool RunUntilMoreOutput() {
    const std::size_t before = Count(proto::WorkerEvent::kOutput);
    return RunUntil([&] { return Count(proto::WorkerEvent::kOutput) > before + 20; });
  }
  proto::CheckpointStored Stored(std::uint64_t checkpoint) const {
    for (const proto::WorkerEvent& event : events_) {
      if (event.checkpoint_stored().checkpoint() == checkpoint) return event.checkpoint_stored();
    }
    return {};
  }
  std::string WhyFailed(std::uint64_t checkpoint) const {
    for (const proto::WorkerEvent& event : events_) {
      const proto::CheckpointFailed& failed = event.checkpoint_failed();
      if (failed.checkpoint() == checkpoint) return failed.reason();
    }
    return {};
  }

  // What an undisturbed run prints, and leaves in out.txt.
  Streams Undisturbed(const proto::Order& start) {
    jobs_->OnOrder(start);
    EXPECT_TRUE(RunUntilExited(kProcesses));
    const Streams printed = Printed();
    file_ = FileText(root_ + "/jobs/5/out.txt");
    noted_ = FileText(root_ + "/jobs/5/noted.txt");
    EXPECT_TRUE(EndEpoch(1));
    events_.clear();
    return printed;
  }

  // Ends the epoch, resumes from a checkpoint of it, and expects the whole as it was undisturbed.
  void ResumeAndCompare(const proto::Order& start, const proto::CheckpointStored& stored,
                        const std::vector<std::uint64_t>& chain, const Streams& expected) {
    ASSERT_TRUE(EndEpoch(1));
    Streams whole = Printed();
    for (const proto::StoredImage& image : stored.images()) {
      ASSERT_LE(image.output_bytes(), whole[image.pid()].size());
      whole[image.pid()].resize(image.output_bytes());
    }
    events_.clear();
    jobs_->OnOrder(ResumeFrom(start, stored, chain));
    ASSERT_TRUE(RunUntil([this] {
      return Count(proto::WorkerEvent::kExited) == started_again_ ||
             Count(proto::WorkerEvent::kRestoreFailed) > 0;
    }));
    ASSERT_EQ(Count(proto::WorkerEvent::kRestoreFailed), 0u)
        << First(proto::WorkerEvent::kRestoreFailed).restore_failed().reason();
    EXPECT_EQ(Count(proto::WorkerEvent::kResumed), 1u);
    for (const proto::WorkerEvent& event : events_) {
      if (event.has_exited()) {
        EXPECT_EQ(event.exited().exit_status(), 0);
        EXPECT_EQ(event.exited().signal(), 0);
      }
      if (!event.has_output() || event.output().stream() != proto::STDOUT) continue;
      EXPECT_EQ(event.output().offset(), whole[event.output().pid()].size());
      whole[event.output().pid()] += event.output().text();
    }
    for (const auto& [pid, text] : expected) EXPECT_TRUE(whole[pid] == text) << whole[pid];
    EXPECT_EQ(FileText(root_ + "/jobs/5/out.txt"), file_);
    EXPECT_EQ(FileText(root_ + "/jobs/5/noted.txt"), noted_);
    ASSERT_TRUE(EndEpoch(2));
  }

  std::string file_;
  std::string noted_;  // By a path that the program noted at its start.
  std::size_t started_again_ = kProcesses;
};

TEST_F(CheckpointTest, AJobGoesOnFromItsCheckpointAsIfNothingHadHappened) {
  const std::string hash = AddContent(kProgram);
  Open();
  const Streams expected = Undisturbed(Countdown(hash, {"60", "0"}));
  const proto::Order start = Countdown(hash, {"60", "20"});
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntilMoreOutput());
  TakeAndAwait(1, 0);
  ASSERT_TRUE(RunUntilMoreOutput());
  const proto::CheckpointStored stored = Stored(1);
  EXPECT_GT(stored.superstep(), 0u);
  EXPECT_EQ(stored.participants(), kProcesses);
  ASSERT_EQ(stored.images_size(), static_cast<int>(kProcesses));
  EXPECT_GT(stored.images(0).file_bytes(), 0u);
  EXPECT_GT(stored.images(0).pause_ns(), 0u);
  EXPECT_FALSE(stored.of_areas());
  EXPECT_FALSE(stored.cpu_features().empty());
  ResumeAndCompare(start, stored, {1}, expected);
}

// Of a holder that is slow: the coordinator waits for some minutes, and then gives the node up.
TEST_F(CheckpointTest, TheEndOfAnEpochBreaksItsRestoreOff) {
  const SilentImages silent;
  Open();
  proto::CheckpointStored stored;
  stored.set_checkpoint(1);
  stored.set_superstep(1);
  stored.set_participants(kProcesses);
  for (std::uint32_t pid = 0; pid < kProcesses; ++pid) stored.add_images()->set_pid(pid);
  proto::Order order = ResumeFrom(Countdown(AddContent(kProgram), {"60", "20"}), stored, {1});
  for (proto::ImageOfPid& image : *order.mutable_start()->mutable_resume()->mutable_images())
    image.add_holders(silent.address());
  jobs_->OnOrder(order);
  while (silent.calls() == 0) std::this_thread::yield();
  const std::uint64_t ordered_ns = NowNs();
  proto::Order end = EndOrder(kJob);
  end.mutable_end()->set_epoch(2);
  end.mutable_end()->set_keep_files(false);
  jobs_->OnOrder(end);
  EXPECT_TRUE(RunUntil([&] { return jobs_->jobs() == 0; }));
  EXPECT_LT(NowNs() - ordered_ns, 30 * kNsPerS);
  EXPECT_EQ(Count(proto::WorkerEvent::kRestoreFailed), 0u);
  EXPECT_EQ(Count(proto::WorkerEvent::kCleared), 1u);
}

TEST_F(CheckpointTest, AJobThatMayUseLittleOfTheProcessorNeedsNoMoreOfAnother) {
  const std::string hash = AddContent(kProgram);
  Open();
  const Streams expected = Undisturbed(Countdown(hash, {"60", "0"}));
  proto::Order start = Countdown(hash, {"60", "20"});
  for (const char* feature : {"fpu", "mmx", "sse", "sse2", "no_such_feature"}) {
    start.mutable_start()->add_cpu_features(feature);
  }
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntilMoreOutput());
  TakeAndAwait(1, 0);
  const proto::CheckpointStored stored = Stored(1);
  EXPECT_EQ(std::vector<std::string>(stored.cpu_features().begin(), stored.cpu_features().end()),
            (std::vector<std::string>{LinkFeature(kLinkVersion), "mmx", "sse", "sse2"}));
  ResumeAndCompare(start, stored, {1}, expected);
}

TEST_F(CheckpointTest, AJobGoesOnFromWhatChangedSinceAnEarlierOne) {
  const std::string hash = AddContent(kProgram);
  Open();
  const Streams expected = Undisturbed(Countdown(hash, {"100", "0"}));
  const proto::Order start = Countdown(hash, {"100", "20"});
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntilMoreOutput());
  TakeAndAwait(1, 0);
  TakeAndAwait(2, 1);
  ASSERT_TRUE(RunUntilMoreOutput());
  EXPECT_LT(Stored(2).images(0).file_bytes(), Stored(1).images(0).file_bytes());
  ResumeAndCompare(start, Stored(2), {1, 2}, expected);
}

TEST_F(CheckpointTest, AProgramThatSavesItsAreasGoesOnWithThem) {
  const std::string hash = AddContent(kProgram);
  Open();
  const Streams expected = Undisturbed(Countdown(hash, {"60", "0", "areas"}));
  const proto::Order start = Countdown(hash, {"60", "20", "areas"});
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntilMoreOutput());
  TakeAndAwait(1, 0);
  ASSERT_TRUE(RunUntilMoreOutput());
  EXPECT_TRUE(Stored(1).of_areas());
  ResumeAndCompare(start, Stored(1), {1}, expected);
}

TEST_F(CheckpointTest, SuperstepsCountOnAfterAreas) {
  const std::string hash = AddContent(kProgram);
  Open();
  const proto::Order start = Countdown(hash, {"100000", "1", "areas"});
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntilMoreOutput());
  TakeAndAwait(1, 0);
  ASSERT_TRUE(EndEpoch(1));
  jobs_->OnOrder(ResumeFrom(start, Stored(1), {1}));
  ASSERT_TRUE(RunUntilMoreOutput());
  EXPECT_EQ(jobs_->Held()[0].resumed_from(), Stored(1).superstep());
  EXPECT_FALSE(jobs_->Held()[0].put_back());
  proto::Order take = Take(2, 0, ImagePlan::After::kGoOn);
  take.mutable_take_checkpoint()->set_epoch(2);
  jobs_->OnOrder(take);
  ASSERT_TRUE(RunUntilAnswered(2));
  EXPECT_GT(Stored(2).superstep(), Stored(1).superstep());
  ASSERT_TRUE(EndEpoch(2));
}

TEST_F(CheckpointTest, WhoTookNoPartIsNotStartedAgain) {
  const std::string hash = AddContent(kProgram);
  Open();
  const Streams expected = Undisturbed(Countdown(hash, {"60", "0", "", "fewer"}));
  const proto::Order start = Countdown(hash, {"60", "20", "", "fewer"});
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntilMoreOutput());
  TakeAndAwait(1, 0);
  EXPECT_EQ(Stored(1).participants(), kProcesses - 1);
  started_again_ = kProcesses - 1;
  ResumeAndCompare(start, Stored(1), {1}, expected);
}

TEST_F(CheckpointTest, WhoTookNoPartBeginsAgainBesideAreas) {
  const std::string hash = AddContent(kProgram);
  Open();
  const Streams expected = Undisturbed(Countdown(hash, {"60", "0", "areas", "fewer"}));
  const proto::Order start = Countdown(hash, {"60", "20", "areas", "fewer"});
  jobs_->OnOrder(start);
  ASSERT_TRUE(RunUntilMoreOutput());
  TakeAndAwait(1, 0);
  ResumeAndCompare(start, Stored(1), {1}, expected);
}

class RefusedCheckpointTest
    : public CheckpointTest,
      public testing::WithParamInterface<std::pair<const char*, const char*>> {};

INSTANTIATE_TEST_SUITE_P(Programs, RefusedCheckpointTest,
                         testing::Values(std::pair("pipe", "a pipe"),
                                         std::pair("close", "it has closed its link")));

TEST_P(RefusedCheckpointTest, AJobGoesOnWithoutACheckpointThatCannotBe) {
  const std::string hash = AddContent(kProgram);
  Open();
  jobs_->OnOrder(Countdown(hash, {"60", "20", GetParam().first}));
  ASSERT_TRUE(RunUntilMoreOutput());
  jobs_->OnOrder(Take(1, 0, ImagePlan::After::kGoOn));
  ASSERT_TRUE(RunUntilAnswered(1));
  ASSERT_EQ(Count(proto::WorkerEvent::kCheckpointFailed), 1u);
  const std::string reason =
      First(proto::WorkerEvent::kCheckpointFailed).checkpoint_failed().reason();
  EXPECT_NE(reason.find("pid 1: "), std::string::npos) << reason;
  EXPECT_NE(reason.find(GetParam().second), std::string::npos) << reason;
  EXPECT_TRUE(fs::is_empty(images_->DirectoryOf(JobId{kJob})));
  ASSERT_TRUE(RunUntilExited(kProcesses));
  for (const proto::WorkerEvent& event : events_) EXPECT_EQ(event.exited().exit_status(), 0);
  ASSERT_TRUE(EndEpoch(1));
}

TEST_F(CheckpointTest, WhereTheLastDidNotFitTheNextIsNotWritten) {
  const std::string hash = AddContent(kProgram);
  quota_bytes_ = 1;
  Open();
  jobs_->OnOrder(Countdown(hash, {"100000", "1"}));
  ASSERT_TRUE(RunUntilMoreOutput());
  std::vector<std::string> reasons;  // Of a process if it has refused, else of the node.
  do {
    const std::uint64_t checkpoint = reasons.size() + 1;
    jobs_->OnOrder(Take(checkpoint, 0, ImagePlan::After::kGoOn));
    ASSERT_TRUE(RunUntilAnswered(checkpoint));
    reasons.push_back(WhyFailed(checkpoint));
    ASSERT_NE(reasons.back().find("quota"), std::string::npos) << reasons.back();
  } while (!reasons.back().starts_with("pid ") && reasons.size() < 100);
  EXPECT_GT(reasons.size(), 1u);
  EXPECT_LT(reasons.size(), 100u);
  ASSERT_TRUE(EndEpoch(1));
}

TEST_F(CheckpointTest, ProcessesWaitAfterACheckpointThatHoldsThem) {
  const std::string hash = AddContent(kProgram);
  Open();
  jobs_->OnOrder(Countdown(hash, {"60", "20"}));
  ASSERT_TRUE(RunUntilMoreOutput());
  jobs_->OnOrder(Take(1, 0, ImagePlan::After::kHold));
  ASSERT_TRUE(RunUntilAnswered(1));
  EXPECT_EQ(Count(proto::WorkerEvent::kExited), 0u);
  proto::Order release_held;
  release_held.mutable_release_held()->set_job(kJob);
  release_held.mutable_release_held()->set_epoch(1);
  release_held.mutable_release_held()->set_checkpoint(1);
  jobs_->OnOrder(release_held);
  ASSERT_TRUE(RunUntilExited(kProcesses));
  ASSERT_TRUE(EndEpoch(1));
}

TEST_F(CheckpointTest, WhatWasWrittenGoesAwayWithTheJob) {
  const std::string hash = AddContent(kProgram);
  Open();
  jobs_->OnOrder(Countdown(hash, {"10000", "1"}));
  ASSERT_TRUE(RunUntilMoreOutput());
  TakeAndAwait(1, 0);
  jobs_->OnOrder(Take(2, 0, ImagePlan::After::kGoOn));
  ASSERT_TRUE(EndEpoch(1));
  proto::Order keep;
  keep.mutable_keep_checkpoints()->set_job(kJob);
  jobs_->OnOrder(keep);
  EXPECT_TRUE(RunUntil([this] {
    return !fs::exists(images_->DirectoryOf(JobId{kJob})) ||
           fs::is_empty(images_->DirectoryOf(JobId{kJob}));
  }));
}

TEST_F(CheckpointTest, AMissingImageIsNamed) {
  const std::string hash = AddContent(kProgram);
  Open();
  const proto::Order start = Countdown(hash, {"60", "1"});
  proto::CheckpointStored stored;
  stored.set_checkpoint(4);
  stored.set_superstep(10);
  stored.set_participants(kProcesses);
  for (std::uint32_t pid = 0; pid < kProcesses; ++pid) stored.add_images()->set_pid(pid);
  jobs_->OnOrder(ResumeFrom(start, stored, {4}));
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kRestoreFailed) == 1; }));
  const proto::RestoreFailed& failed = First(proto::WorkerEvent::kRestoreFailed).restore_failed();
  EXPECT_EQ(failed.checkpoint(), 4u);
  EXPECT_EQ(failed.pids_size(), static_cast<int>(kProcesses));
  EXPECT_NE(failed.reason(), "");
  ASSERT_TRUE(EndEpoch(2));
}

}  // namespace
}  // namespace bspnow::worker
