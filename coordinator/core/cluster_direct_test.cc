// Jobs whose nodes release themselves (StartJob.direct), as the coordinator sees them.
#include <gtest/gtest.h>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"
#include "net/stream_key.h"

namespace bspnow::coordinator {
namespace {

class ClusterDirectTest : public ClusterFixture {
 protected:
  /// Checkpoints when the user asks for one.
  static proto::SubmitJobRequest OnRequest(std::uint32_t nprocs) {
    proto::SubmitJobRequest request = Request("key");
    request.mutable_spec()->set_nprocs(nprocs);
    request.mutable_spec()->mutable_checkpoints()->Clear();
    request.mutable_spec()->mutable_checkpoints()->set_off(true);
    return request;
  }
  void RunOnTwo() {
    first_ = Join("w1", 1);
    second_ = Join("w2", 1);
    job_ = Submit(OnRequest(2));
  }
  static bool StartedDirectly(const FakeWorker& worker) {
    const auto starts = OrdersOf(worker, &proto::Order::has_start);
    return !starts.empty() && starts.back().start().direct();
  }
  template <typename Body>
  void Send(const FakeWorker& from, FrameKind kind, const Body& body) {
    FrameHeader header = HeaderOf(kind);
    header.source_worker = Value(from.id);
    header.job = Value(job_);
    header.epoch = 1;
    EXPECT_EQ(cluster_->barriers().OnFrame(header, BytesOf(body)), FrameFault::kNone);
  }
  void Begin() { Send(first_, FrameKind::kBegin, BeginBody{.nprocs = 2, .reserved = 0}); }
  void Progress(std::uint64_t superstep) {
    ProgressBody body{};
    body.superstep = superstep;
    body.totals.supersteps = superstep - 1;
    body.processes = 2;
    Send(first_, FrameKind::kProgress, body);
  }
  static std::uint64_t Asked(const FakeWorker& worker) {
    const auto orders = OrdersOf(worker, &proto::Order::has_take_checkpoint);
    return orders.empty() ? 0 : orders.back().take_checkpoint().checkpoint();
  }

  void Pass(std::uint64_t seconds) {
    for (std::uint64_t i = 0; i < 2 * seconds; ++i) {
      for (const FakeWorker& each : {first_, second_}) Renew(each);
      world_.timers.Advance(500);
    }
  }

  FakeWorker first_;
  FakeWorker second_;
  JobId job_{};
};

TEST_F(ClusterDirectTest, FewNodesReleaseThemselves) {
  RunOnTwo();
  EXPECT_TRUE(StartedDirectly(first_));
  EXPECT_TRUE(StartedDirectly(second_));
  EXPECT_TRUE(world_.journal.records[job_].direct());
}

TEST_F(ClusterDirectTest, NodesOfAJobShareAKeyThatOthersDoNotHave) {
  RunOnTwo();
  const FakeWorker third = Join("w3", 1);
  proto::SubmitJobRequest other = OnRequest(1);
  other.set_submission_key("another");
  Submit(other);
  ASSERT_EQ(Starts(third), 1u);
  const auto key = [](const FakeWorker& worker) {
    return OrdersOf(worker, &proto::Order::has_start).back().start().key();
  };
  EXPECT_EQ(key(first_).size(), StreamKey::kBytes);
  EXPECT_EQ(key(first_), key(second_));
  EXPECT_NE(key(first_), key(third));
}

TEST_F(ClusterDirectTest, ManyNodesDoNot) {
  constexpr auto kNodes = static_cast<std::uint32_t>(kDirectHostsMax + 1);
  for (std::uint32_t i = 0; i < kNodes; ++i) first_ = Join("w" + std::to_string(i), 1);
  Submit(OnRequest(kNodes));
  EXPECT_EQ(Starts(first_), 1u);
  EXPECT_FALSE(StartedDirectly(first_));
}

TEST_F(ClusterDirectTest, OneNodeNeedsNoOtherToReleaseIt) {
  first_ = Join("w1", 2);
  Submit(OnRequest(2));
  EXPECT_FALSE(StartedDirectly(first_));
}

// Nobody else sees each superstep.
TEST_F(ClusterDirectTest, TheCoordinatorReleasesWhereItIsToCountSupersteps) {
  first_ = Join("w1", 1);
  Join("w2", 1);
  Submit(Request("key"));
  EXPECT_EQ(Starts(first_), 1u);
  EXPECT_FALSE(StartedDirectly(first_));
}

TEST_F(ClusterDirectTest, ACheckpointIsOrderedFromAllNodesOnceItIsKnownWhoTakesPart) {
  RunOnTwo();
  cluster_->Checkpoint(job_, nullptr);
  EXPECT_EQ(Asked(first_), 0u);
  Begin();
  Progress(3);
  EXPECT_NE(Asked(first_), 0u);
  EXPECT_EQ(Asked(second_), Asked(first_));
}

// Its disk hangs; all others wait behind their images, and no barrier comes.
TEST_F(ClusterDirectTest, ASuspensionForWhichOneNodeWritesNoImagesIsGivenUp) {
  RunOnTwo();
  const Answer answer = NewAnswer();
  ReportBegun(first_, job_, Epoch{1}, {0});
  ReportBegun(second_, job_, Epoch{1}, {1});
  cluster_->Suspend(job_, Into(answer));
  Begin();
  Progress(3);
  Pass(1000);  // It may be in a long superstep.
  ReportStored(first_, job_, Epoch{1}, Asked(first_), {0});
  Pass(3590);
  EXPECT_FALSE(answer->has_value());
  Pass(20);
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE(absl::IsAborted((*answer)->status())) << (*answer)->status();
  for (const FakeWorker& each : {first_, second_})
    EXPECT_EQ(OrdersOf(each, &proto::Order::has_release_held).size(), 1u) << each.name;
  EXPECT_EQ(Show(job_).state(), proto::RUNNING);
}

// It was said to be lost at superstep 3, and to have gone on from superstep 4.
TEST_F(ClusterDirectTest, AJobIsNotLostBeforeTheSuperstepWithWhichItGoesOn) {
  RunOnTwo();
  ReportBegun(first_, job_, Epoch{1}, {0});
  ReportBegun(second_, job_, Epoch{1}, {1});
  cluster_->Checkpoint(job_, nullptr);
  Begin();
  Progress(3);
  const std::uint64_t checkpoint = Asked(first_);
  ReportStored(first_, job_, Epoch{1}, checkpoint, {0}, 2, 4);
  ReportStored(second_, job_, Epoch{1}, checkpoint, {1}, 2, 4);
  ReportCopied(first_, job_, checkpoint, "w2");
  ReportCopied(second_, job_, checkpoint, "w1");
  Settle();
  ASSERT_EQ(Show(job_).checkpoints().committed(), checkpoint);
  for (int i = 0; i < 22; ++i) {
    Renew(first_);
    world_.timers.Advance(500);
  }
  ASSERT_EQ(Show(job_).losses_size(), 1);
  EXPECT_EQ(Show(job_).losses(0).superstep(), 4u);
  EXPECT_EQ(Show(job_).losses(0).reason().find("worker w2 lost at superstep 4: "), 0u);
}

TEST_F(ClusterDirectTest, ARestartedCoordinatorGoesOnWithIt) {
  RunOnTwo();
  Begin();
  Restart();
  first_ = Join(Returning(first_, 0));
  second_ = Join(Returning(second_, 1));
  Settle();
  Begin();
  Progress(9);
  EXPECT_EQ(Show(job_).totals().supersteps(), 8u);
  cluster_->Checkpoint(job_, nullptr);
  EXPECT_NE(Asked(first_), 0u);
  EXPECT_EQ(Asked(second_), Asked(first_));
}

// Its workers come back one after the other, and that of pid 0 reports in between.
TEST_F(ClusterDirectTest, SuperstepsOfAJobThatWasPutBackCountOnceWhoeverComesBack) {
  const auto put_back = [](const FakeWorker& worker, std::uint32_t pid) {
    proto::RegisterRequest request = Returning(worker, pid);
    proto::HeldJob& held = *request.mutable_held(0);
    held.set_participants(2);
    held.set_resumed_from(1);
    held.set_put_back(true);
    return request;
  };
  RunOnTwo();
  Begin();
  Restart();
  first_ = Join(put_back(first_, 0));
  Begin();
  Progress(9);
  EXPECT_EQ(Show(job_).totals().supersteps(), 7u);  // Of 8 it repeated one.
  second_ = Join(put_back(second_, 1));
  Settle();
  EXPECT_EQ(Show(job_).totals().supersteps(), 7u);
  Begin();
  Progress(9);
  EXPECT_EQ(Show(job_).totals().supersteps(), 7u);
}

}  // namespace
}  // namespace bspnow::coordinator
