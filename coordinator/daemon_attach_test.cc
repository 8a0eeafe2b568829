// Clients that stay with their jobs, lose the coordinator, and come again.
#include <signal.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "coordinator/output/log_record.h"
#include "coordinator/testing/daemon_fixture.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kLongMs = 600'000;

proto::ToJob Input(std::uint64_t offset, const std::string& data) {
  proto::ToJob input;
  input.set_input_offset(offset);
  input.set_input(data);
  return input;
}

proto::WorkerEvent Taken(std::uint64_t bytes) {
  proto::WorkerEvent taken;
  taken.mutable_input_taken()->set_bytes(bytes);
  return taken;
}

class AttachTest : public DaemonTest {
 protected:
  AttachTest() : worker_(address(), "w1", 1) {
    EXPECT_TRUE(worker_.Register().ok());
    worker_.Attach();
  }

  /// Runs on worker_.
  JobId Start(std::uint64_t reconnect_ms) {
    proto::JobSpec spec = AttachedSpec();
    spec.set_reconnect_ms(reconnect_ms);
    const JobId job = Submit(spec);
    const auto start = worker_.Take();
    EXPECT_TRUE(start && start->has_start() && start->start().reads_input());
    worker_.Report(Started());
    return job;
  }

  void AwaitEndOrder() {
    const auto order = worker_.Take();
    ASSERT_TRUE(order && order->has_end());
    worker_.Report(Cleared());
  }

  /// By somebody, from somewhere. Ends the daemon: by then all is written.
  void ExpectAudited(const std::string& act) {
    daemon_.End(SIGTERM);
    std::ifstream file(scratch_.path() + "/audit.log");
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.find(act) == std::string::npos) continue;
      ++lines;
      EXPECT_EQ(line.find("user=\"\""), std::string::npos) << line;
      EXPECT_NE(line.find("from=\"ipv"), std::string::npos) << line;
    }
    EXPECT_EQ(lines, 1u) << act;
  }

  TestWorker worker_;
};

TEST_F(AttachTest, ClientGivesInputAndHearsLinesAndTheEnd) {
  const JobId job = Start(0);
  client_.Attach(job, "key-1");
  client_.Say(Input(0, "to pid 0"));
  const auto order = worker_.Take();
  ASSERT_TRUE(order && order->has_input());
  EXPECT_EQ(order->input().data(), "to pid 0");
  worker_.Report(Taken(8));
  EXPECT_EQ(client_.Hear()->input_taken(), 8u);
  worker_.Report(Output("line\n"));
  EXPECT_EQ(client_.Hear()->line().text(), "line\n");
  Finish(worker_);
  const auto end = client_.Hear();
  ASSERT_TRUE(end && end->has_end());
  EXPECT_EQ(end->end().state(), proto::SUCCEEDED);
  EXPECT_FALSE(client_.Hear().has_value());
  EXPECT_TRUE(client_.EndAttached().ok());
}

TEST_F(AttachTest, ClientIsToldAtTheEndThatItHasNotAllOutput) {
  const JobId job = Start(kLongMs);
  ASSERT_TRUE(worker_.AwaitAcknowledged(worker_.Report(Output("line\n"))));
  std::fstream(scratch_.path() + "/jobs/1/log", std::ios::in | std::ios::out)
      .seekp(sizeof(LogFileHeader))
      .put('?');  // In the checksum.
  client_.Attach(job, "key-1");
  Finish(worker_);
  EXPECT_FALSE(client_.Hear().has_value());
  const absl::Status end = client_.EndAttached();
  EXPECT_EQ(end.code(), absl::StatusCode::kDataLoss) << end;
  EXPECT_EQ(client_.Wait(job)->state(), proto::SUCCEEDED);
}

TEST_F(AttachTest, JobThatDoesNotWaitEndsWithTheStreamOfItsClient) {
  const JobId job = Start(0);
  client_.Attach(job, "key-1");
  proto::ToJob end_of_input;
  end_of_input.set_input_end(true);
  client_.Say(end_of_input);
  const auto input = worker_.Take();
  ASSERT_TRUE(input && input->has_input());
  EXPECT_TRUE(input->input().end());
  client_.BreakAttached();
  AwaitEndOrder();
  TestClient other(address());
  EXPECT_EQ(other.Wait(job)->state(), proto::CANCELLED);
}

TEST_F(AttachTest, JobEndsAtOnceWhenItsClientSaysThatItLeaves) {
  const JobId job = Start(kLongMs);
  client_.Attach(job, "key-1");
  proto::ToJob leave;
  leave.set_leave(true);
  client_.Say(leave);
  AwaitEndOrder();
  EXPECT_EQ(client_.Wait(job)->state(), proto::CANCELLED);
  ExpectAudited("call=AttachJob what=\"job 1, its client left\" outcome=ok");
}

TEST_F(AttachTest, SignalOfAClientThatEndsItsJobIsWrittenDown) {
  const JobId job = Start(kLongMs);
  client_.Attach(job, "key-1");
  proto::ToJob interrupt;
  interrupt.set_signal(SIGINT);
  client_.Say(interrupt);
  const auto order = worker_.Take();
  ASSERT_TRUE(order && order->has_signal()) << order->ShortDebugString();
  ExpectAudited("call=AttachJob what=\"job 1, signal 2\" outcome=ok");
}

TEST_F(AttachTest, ClientThatComesAgainGoesOnWhereItWas) {
  const JobId job = Start(kLongMs);
  client_.Attach(job, "key-1");
  client_.Say(Input(0, "in"));
  ASSERT_TRUE(worker_.Take()->has_input());
  worker_.Report(Output("seen\n"));
  EXPECT_EQ(client_.Hear()->line().text(), "seen\n");
  client_.BreakAttached();
  proto::WorkerEvent behind = Output("not seen\n");
  behind.mutable_output()->set_offset(5);
  worker_.Report(Taken(2));
  ASSERT_TRUE(worker_.AwaitAcknowledged(worker_.Report(behind)));
  TestClient again(address());
  proto::StreamEnd seen;
  seen.set_stream(proto::STDOUT);
  seen.set_bytes(5);
  again.Attach(job, "key-1", {seen});
  again.Say(Input(0, "in"));
  std::optional<proto::FromJob> first = again.Hear();
  std::optional<proto::FromJob> second = again.Hear();
  if (first->has_line()) std::swap(first, second);  // Either may come first.
  EXPECT_EQ(first->input_taken(), 2u);
  EXPECT_EQ(second->line().text(), "not seen\n");
  EXPECT_EQ(second->line().offset(), 5u);
  Finish(worker_);
  EXPECT_EQ(again.Hear()->end().state(), proto::SUCCEEDED);
}

TEST_F(AttachTest, ClientThatHasSeenALongLogGivesInputMeanwhileAndHearsTheRest) {
  constexpr std::size_t kTextBytes = 64 << 10;
  constexpr std::uint64_t kSeenBytes = 4 << 20;
  const JobId job = Start(kLongMs);
  for (std::uint64_t printed = 0; printed <= kSeenBytes; printed += kTextBytes) {
    proto::WorkerEvent output = Output(std::string(kTextBytes, 'x'));
    output.mutable_output()->set_offset(printed);
    ASSERT_TRUE(worker_.AwaitAcknowledged(worker_.Report(output)));
  }
  proto::StreamEnd seen;
  seen.set_stream(proto::STDOUT);
  seen.set_bytes(kSeenBytes);
  client_.Attach(job, "key-1", {seen});
  client_.Say(Input(0, "in"));
  ASSERT_TRUE(worker_.Take()->has_input());
  worker_.Report(Taken(2));
  std::optional<proto::FromJob> first = client_.Hear();
  std::optional<proto::FromJob> second = client_.Hear();
  if (first->has_line()) std::swap(first, second);  // Either may come first.
  EXPECT_EQ(first->input_taken(), 2u);
  EXPECT_EQ(second->line().offset(), kSeenBytes);
  EXPECT_EQ(second->line().text().size(), kTextBytes);
  Finish(worker_);
  EXPECT_EQ(client_.Hear()->end().state(), proto::SUCCEEDED);
}

TEST_F(AttachTest, ClientThatComesAgainReplacesItsOldStreamAndNobodyElseDoes) {
  const JobId job = Start(kLongMs);
  client_.Attach(job, "key-1");
  TestClient stranger(address());
  stranger.Attach(job, "key-2");
  EXPECT_FALSE(stranger.Hear().has_value());
  EXPECT_EQ(stranger.EndAttached().code(), absl::StatusCode::kPermissionDenied);
  TestClient again(address());
  again.Attach(job, "key-1");
  EXPECT_FALSE(client_.Hear().has_value());
  EXPECT_EQ(client_.EndAttached().code(), absl::StatusCode::kAborted);
  worker_.Report(Output("line\n"));
  EXPECT_EQ(again.Hear()->line().text(), "line\n");
  Finish(worker_);
  EXPECT_EQ(again.Hear()->end().state(), proto::SUCCEEDED);
}

}  // namespace
}  // namespace bspnow::coordinator
