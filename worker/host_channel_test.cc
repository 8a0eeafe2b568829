#include "worker/host_channel.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace bspnow {
namespace {

HostPlan SomePlan() {
  return HostPlan{.program = "/jobs/1-1/prog",
                  .arguments = {"prog", "", "two words"},
                  .environment = {"A=1", "B="},
                  .directory = "/jobs/1-1",
                  .pids = {Pid{3}, Pid{4}},
                  .processors = 2,
                  .memory_bytes = 1 << 20,
                  .segment_bytes = std::uint64_t{1} << 40,
                  .interactive = true,
                  .job_directory = "/jobs/1-1",
                  .given = {{.name = "in.txt", .bytes = 5, .changed_ns = -3}},
                  .image_directory = "/checkpoints/job-1",
                  .resumed = {ResumedProcess{.arguments = {"bsp-restore", "--link", "3"},
                                             .areas_image = {},
                                             .output_bytes = 17,
                                             .error_bytes = 18,
                                             .output_line = "half",
                                             .error_line = "a line"},
                              ResumedProcess{.areas_image = "/checkpoints/job-1/c1.p4"}}};
}

void SetNumberAt(std::string& bytes, std::size_t at, std::uint64_t value) {
  memcpy(bytes.data() + at, &value, sizeof value);
}

TEST(HostPlanTest, ComesBackAsItWas) {
  const HostPlan plan = SomePlan();
  const absl::StatusOr<HostPlan> back = DecodePlan(EncodePlan(plan));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->program, plan.program);
  EXPECT_EQ(back->arguments, plan.arguments);
  EXPECT_EQ(back->environment, plan.environment);
  EXPECT_EQ(back->directory, plan.directory);
  EXPECT_EQ(back->pids, plan.pids);
  EXPECT_EQ(back->processors, 2u);
  EXPECT_EQ(back->memory_bytes, plan.memory_bytes);
  EXPECT_EQ(back->segment_bytes, plan.segment_bytes);
  EXPECT_TRUE(back->interactive);
  EXPECT_EQ(back->job_directory, plan.job_directory);
  ASSERT_EQ(back->given.size(), 1u);
  EXPECT_EQ(back->given[0].name, "in.txt");
  EXPECT_EQ(back->given[0].bytes, 5u);
  EXPECT_EQ(back->given[0].changed_ns, -3);
  EXPECT_EQ(back->image_directory, plan.image_directory);
  ASSERT_EQ(back->resumed.size(), 2u);
  EXPECT_EQ(back->resumed[0].arguments, plan.resumed[0].arguments);
  EXPECT_EQ(back->resumed[0].output_bytes, 17u);
  EXPECT_EQ(back->resumed[0].error_bytes, 18u);
  EXPECT_EQ(back->resumed[0].output_line, "half");
  EXPECT_EQ(back->resumed[0].error_line, "a line");
  EXPECT_EQ(back->resumed[1].areas_image, plan.resumed[1].areas_image);
}

TEST(HostPlanTest, RefusesEveryTruncation) {
  const std::string bytes = EncodePlan(SomePlan());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(DecodePlan(std::string_view(bytes).substr(0, n)).ok()) << n;
  }
  EXPECT_FALSE(DecodePlan(bytes + "x").ok());
}

TEST(HostPlanTest, RefusesLengthsBeyondTheEnd) {
  const std::string bytes = EncodePlan(SomePlan());
  // Every number in turn becomes huge: no length among them may be believed.
  for (std::size_t at = 8; at + 8 <= bytes.size(); ++at) {
    for (const std::uint64_t value : {~std::uint64_t{0}, std::uint64_t{1} << 63}) {
      std::string hostile = bytes;
      SetNumberAt(hostile, at, value);
      const absl::StatusOr<HostPlan> plan = DecodePlan(hostile);
      if (plan.ok()) {
        EXPECT_EQ(plan->pids.size(), 2u);  // It hit a value, or the middle of a text.
        EXPECT_EQ(plan->resumed.size(), 2u);
      }
    }
  }
}

TEST(HostPlanTest, RefusesAPlanWithoutProcesses) {
  HostPlan plan = SomePlan();
  plan.pids.clear();
  EXPECT_FALSE(DecodePlan(EncodePlan(plan)).ok());
}

TEST(HostPlanTest, RefusesToResumeOtherThanAllProcesses) {
  HostPlan plan = SomePlan();
  plan.resumed.pop_back();
  EXPECT_FALSE(DecodePlan(EncodePlan(plan)).ok());
}

TEST(HostPlanTest, RefusesPidsBeyondTheMost) {
  HostPlan plan = SomePlan();
  plan.resumed.clear();
  plan.pids = {Pid{4096}};
  EXPECT_FALSE(DecodePlan(EncodePlan(plan)).ok());
}

TEST(HostOrderTest, ComesBackAsItWas) {
  const absl::StatusOr<HostOrder> order =
      DecodeOrder(Encode(HostOrder{.kind = HostOrder::kCredit, .number = 12345}));
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->kind, HostOrder::kCredit);
  EXPECT_EQ(order->number, 12345u);
}

TEST(HostOrderTest, SaysWhyThereIsNoRoom) {
  const absl::StatusOr<HostOrder> order =
      DecodeOrder(Encode(HostOrder{.kind = HostOrder::kRoom, .text = "the disk is full"}));
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->kind, HostOrder::kRoom);
  EXPECT_EQ(order->text, "the disk is full");
}

TEST(HostOrderTest, RefusesUnknownKindsAndLengths) {
  std::string packet = Encode(HostOrder{.kind = HostOrder::kSignal, .number = 15});
  EXPECT_FALSE(DecodeOrder(packet + "x").ok());
  EXPECT_FALSE(DecodeOrder(packet.substr(1)).ok());
  EXPECT_FALSE(DecodeOrder("").ok());
  packet[0] = 77;
  EXPECT_FALSE(DecodeOrder(packet).ok());
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
  EXPECT_EQ(received->plan.arguments, SomePlan().arguments);
  EXPECT_TRUE(received->segment.valid());
  EXPECT_FALSE(received->doorbell.valid());
  EXPECT_TRUE(received->input.valid());
}

TEST_F(SentPlanTest, IsRefusedWithoutDescriptors) {
  const std::string packet = Encode(HostOrder{.kind = HostOrder::kPlan, .number = 0});
  ASSERT_EQ(send(ours_.get(), packet.data(), packet.size(), 0),
            static_cast<ssize_t>(packet.size()));
  EXPECT_FALSE(ReceivePlan(theirs_.get()).ok());
}

TEST_F(SentPlanTest, IsRefusedWhenTheWorkerIsGone) {
  ours_.Reset();
  EXPECT_FALSE(ReceivePlan(theirs_.get()).ok());
}

}  // namespace
}  // namespace bspnow
