#include "worker/host/host_channel.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace bspnow::worker {
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

TEST(WorkerEventTest, KeepsReasonsThatAreNotUtf8) {
  const std::string reason = "opening \xff: Permission denied";
  proto::WorkerEvent event;
  const auto comes_back = [&event] {
    return proto::WorkerEvent().ParseFromString(event.SerializeAsString());
  };
  event.mutable_not_started()->set_reason(reason);
  EXPECT_TRUE(comes_back());
  event.mutable_broken()->set_reason(reason);
  EXPECT_TRUE(comes_back());
  event.mutable_restore_failed()->set_reason(reason);
  EXPECT_TRUE(comes_back());
  event.mutable_checkpoint_failed()->set_reason(reason);
  EXPECT_TRUE(comes_back());
  event.mutable_checkpoint_copied()->set_failure(reason);
  EXPECT_TRUE(comes_back());
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
  plan.mutable_processes(0)->set_pid(kProcessesMax);
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

TEST(HostEventTest, ComesBackAsItWas) {
  proto::WorkerEvent output;
  output.mutable_output()->set_pid(7);
  output.mutable_output()->set_stream(proto::STDERR);
  output.mutable_output()->set_text("a\nb\xff");
  const absl::StatusOr<proto::WorkerEvent> event = DecodeEvent(output.SerializeAsString());
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->output().pid(), 7u);
  EXPECT_EQ(event->output().stream(), proto::STDERR);
  EXPECT_EQ(event->output().text(), "a\nb\xff");
}

TEST(HostEventTest, HasRoomForACheckpointOfAsManyProcessesAsThereMayBe) {
  proto::WorkerEvent event;
  event.mutable_checkpoint_stored()->set_checkpoint(~std::uint64_t{0});
  for (std::uint32_t pid = kProcessesMax - kProcessesOfNodeMax; pid < kProcessesMax; ++pid) {
    proto::StoredImage& image = *event.mutable_checkpoint_stored()->add_images();
    image.set_pid(pid);
    image.set_file_bytes(~std::uint64_t{0});
    image.set_output_bytes(~std::uint64_t{0});
    image.set_error_bytes(~std::uint64_t{0});
    image.set_cpu_ns(~std::uint64_t{0});
  }
  EXPECT_LE(event.SerializeAsString().size(), kHostPacketBytesMax);
}

TEST(HostEventTest, RefusesStreamsAndPidsThatDoNotExist) {
  proto::WorkerEvent event;
  event.mutable_output()->set_stream(static_cast<proto::OutputStream>(3));
  EXPECT_FALSE(DecodeEvent(event.SerializeAsString()).ok());
  event.mutable_output()->clear_stream();
  EXPECT_FALSE(DecodeEvent(event.SerializeAsString()).ok());
  event.mutable_begun()->set_pid(kProcessesMax);
  EXPECT_FALSE(DecodeEvent(event.SerializeAsString()).ok());
  event.mutable_checkpoint_stored();
  EXPECT_FALSE(DecodeEvent(event.SerializeAsString()).ok());
  event.mutable_checkpoint_stored()->add_images()->set_pid(kProcessesMax);
  EXPECT_FALSE(DecodeEvent(event.SerializeAsString()).ok());
}

TEST(HostEventTest, RefusesWhatTheWorkerAloneReports) {
  proto::WorkerEvent event;
  EXPECT_FALSE(DecodeEvent(event.SerializeAsString()).ok());
  event.mutable_cleared();
  EXPECT_FALSE(DecodeEvent(event.SerializeAsString()).ok());
  event.mutable_broken();
  EXPECT_FALSE(DecodeEvent(event.SerializeAsString()).ok());
}

TEST(EventJoinerTest, JoinsThePiecesOfATextAndNothingElse) {
  const auto piece = [](std::uint32_t pid, std::uint64_t offset, std::size_t bytes) {
    proto::WorkerEvent event;
    event.mutable_output()->set_pid(pid);
    event.mutable_output()->set_offset(offset);
    event.mutable_output()->set_text(std::string(bytes, 'x'));
    event.mutable_output()->set_goes_on(true);
    return event;
  };
  proto::WorkerEvent last = piece(1, 8, 2);
  last.mutable_output()->set_goes_on(false);
  EventJoiner joiner;
  for (const proto::WorkerEvent& wrong :
       {piece(2, 8, 1), piece(1, 7, 1), piece(1, 8, kOutputTextBytesMax - 2)}) {
    EXPECT_FALSE((*joiner.Add(piece(1, 5, 3))).has_value());
    EXPECT_FALSE(joiner.Add(wrong).ok());
    EXPECT_FALSE((*joiner.Add(piece(1, 5, 3))).has_value());
    const auto whole = *joiner.Add(last);
    ASSERT_TRUE(whole.has_value());
    EXPECT_EQ(whole->output().offset(), 5u);
    EXPECT_EQ(whole->output().text(), "xxxxx");
    EXPECT_FALSE(whole->output().goes_on());
  }
}

// The end of a process, say.
TEST(EventJoinerTest, AnEventAfterATornTextIsNotLost) {
  proto::WorkerEvent piece;
  piece.mutable_output()->set_text("torn");
  piece.mutable_output()->set_goes_on(true);
  proto::WorkerEvent end;
  end.mutable_exited()->set_pid(1);
  EventJoiner joiner;
  EXPECT_FALSE((*joiner.Add(piece)).has_value());
  for (int i = 0; i < 2; ++i) {
    const auto event = *joiner.Add(end);
    ASSERT_TRUE(event.has_value());
    EXPECT_TRUE(event->has_exited());
  }
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
  ASSERT_TRUE(
      SendPlan(ours_.get(), SomePlan(),
               {.segment = segment.get(), .doorbell = -1, .mailbox = -1, .input = input.get()})
          .ok());
  const absl::StatusOr<ReceivedPlan> received = ReceivePlan(theirs_.get());
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(received->plan.arguments_size(), SomePlan().arguments_size());
  EXPECT_TRUE(received->segment.valid());
  EXPECT_FALSE(received->doorbell.valid());
  EXPECT_FALSE(received->mailbox.valid());
  EXPECT_TRUE(received->input.valid());
}

bool SameFile(const UniqueFd& a, const UniqueFd& b) {
  struct stat of_a;
  struct stat of_b;
  return fstat(a.get(), &of_a) == 0 && fstat(b.get(), &of_b) == 0 && of_a.st_ino == of_b.st_ino;
}

TEST_F(SentPlanTest, BringsEachDescriptorToItsPlace) {
  const UniqueFd segment(memfd_create("segment", MFD_CLOEXEC));
  const UniqueFd doorbell(memfd_create("doorbell", MFD_CLOEXEC));
  const UniqueFd mailbox(memfd_create("mailbox", MFD_CLOEXEC));
  const UniqueFd input(memfd_create("input", MFD_CLOEXEC));
  ASSERT_TRUE(SendPlan(ours_.get(), SomePlan(),
                       {.segment = segment.get(),
                        .doorbell = doorbell.get(),
                        .mailbox = mailbox.get(),
                        .input = input.get()})
                  .ok());
  const absl::StatusOr<ReceivedPlan> received = ReceivePlan(theirs_.get());
  ASSERT_TRUE(received.ok());
  EXPECT_TRUE(SameFile(received->segment, segment));
  EXPECT_TRUE(SameFile(received->doorbell, doorbell));
  EXPECT_TRUE(SameFile(received->mailbox, mailbox));
  EXPECT_TRUE(SameFile(received->input, input));
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
}  // namespace bspnow::worker
