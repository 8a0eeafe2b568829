#include "worker/host_channel.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace bspnow {
namespace {

proto::HostPlan SomePlan() {
  proto::HostPlan plan;
  plan.set_program("/jobs/1-1/prog");
  for (const char* argument : {"prog", "", "two words"}) plan.add_arguments(argument);
  plan.add_environment("NAME=\xff");  // No UTF-8.
  plan.add_processes()->set_pid(3);
  plan.add_processes()->set_pid(4);
  plan.mutable_processes(1)->mutable_resumed()->set_areas_image("/checkpoints/job-1/c1.p4");
  return plan;
}

TEST(HostPlanTest, ComesBackAsItWas) {
  const std::string bytes = SomePlan().SerializeAsString();
  const absl::StatusOr<proto::HostPlan> back = DecodePlan(bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->SerializeAsString(), bytes);
  EXPECT_EQ(back->environment(0), "NAME=\xff");
}

TEST(HostPlanTest, RefusesAPlanWithoutProcessesOrArguments) {
  proto::HostPlan plan = SomePlan();
  plan.clear_processes();
  EXPECT_FALSE(DecodePlan(plan.SerializeAsString()).ok());
  plan = SomePlan();
  plan.clear_arguments();
  EXPECT_FALSE(DecodePlan(plan.SerializeAsString()).ok());
  EXPECT_FALSE(DecodePlan("no plan").ok());
}

TEST(HostPlanTest, RefusesPidsBeyondTheMost) {
  proto::HostPlan plan = SomePlan();
  plan.mutable_processes(0)->set_pid(4096);
  EXPECT_FALSE(DecodePlan(plan.SerializeAsString()).ok());
}

TEST(HostOrderTest, SaysWhyThereIsNoRoomAndThatThereIsAgain) {
  for (const char* reason : {"the disk is full", ""}) {
    proto::HostOrder sent;
    sent.set_no_room(reason);
    const absl::StatusOr<proto::HostOrder> order = DecodeOrder(sent.SerializeAsString());
    ASSERT_TRUE(order.ok());
    ASSERT_EQ(order->what_case(), proto::HostOrder::kNoRoom);
    EXPECT_EQ(order->no_room(), reason);
  }
}

TEST(HostOrderTest, RefusesWhatOrdersNothing) {
  EXPECT_FALSE(DecodeOrder("").ok());
  EXPECT_FALSE(DecodeOrder("no order").ok());
}

TEST(HostReportTest, ComesBackAsItWas) {
  const absl::StatusOr<HostReport> report = DecodeReport(
      Encode(HostReport{.kind = HostReport::kOutput, .pid = Pid{7}, .number = 2, .text = "a\nb"}));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->kind, HostReport::kOutput);
  EXPECT_EQ(report->pid, Pid{7});
  EXPECT_EQ(report->number, 2u);
  EXPECT_EQ(report->text, "a\nb");
}

TEST(HostReportTest, BringsTheFiguresOfACheckpoint) {
  const absl::StatusOr<HostReport> report =
      DecodeReport(Encode(HostReport{.kind = HostReport::kImage,
                                     .pid = Pid{7},
                                     .number = 12,
                                     .text = "",
                                     .output_bytes = 1,
                                     .error_bytes = 2,
                                     .file_bytes = 3,
                                     .cpu_ns = 4}));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->number, 12u);
  EXPECT_EQ(report->output_bytes, 1u);
  EXPECT_EQ(report->error_bytes, 2u);
  EXPECT_EQ(report->file_bytes, 3u);
  EXPECT_EQ(report->cpu_ns, 4u);
}

TEST(HostReportTest, RefusesStreamsAndPidsThatDoNotExist) {
  EXPECT_FALSE(DecodeReport(Encode(HostReport{.kind = HostReport::kOutput, .number = 3})).ok());
  EXPECT_FALSE(DecodeReport(Encode(HostReport{.kind = HostReport::kBegun, .pid = Pid{4096}})).ok());
  EXPECT_FALSE(DecodeReport(std::string(kHostPacketBytesMax + 1, '\1')).ok());
}

class SentPlanTest : public testing::Test {
 protected:
  SentPlanTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ours_ = UniqueFd(ends[0]);
    theirs_ = UniqueFd(ends[1]);
  }

  UniqueFd ours_;
  UniqueFd theirs_;
};

TEST_F(SentPlanTest, BringsTheDescriptorsThatThereAre) {
  const UniqueFd segment(memfd_create("segment", MFD_CLOEXEC));
  const UniqueFd input(memfd_create("input", MFD_CLOEXEC));
  ASSERT_TRUE(SendPlan(ours_.get(), SomePlan(),
                       {.segment = segment.get(), .doorbell = -1, .input = input.get()})
                  .ok());
  const absl::StatusOr<ReceivedPlan> received = ReceivePlan(theirs_.get());
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(received->plan.arguments_size(), SomePlan().arguments_size());
  EXPECT_TRUE(received->segment.valid());
  EXPECT_FALSE(received->doorbell.valid());
  EXPECT_TRUE(received->input.valid());
}

TEST_F(SentPlanTest, IsRefusedWithoutDescriptors) {
  ASSERT_EQ(send(ours_.get(), "", 1, 0), 1);
  EXPECT_FALSE(ReceivePlan(theirs_.get()).ok());
}

TEST_F(SentPlanTest, IsRefusedWhenTheWorkerIsGone) {
  ours_.Reset();
  EXPECT_FALSE(ReceivePlan(theirs_.get()).ok());
}

}  // namespace
}  // namespace bspnow
