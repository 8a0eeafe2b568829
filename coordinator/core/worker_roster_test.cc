#include "coordinator/core/worker_roster.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/version.h"

namespace bspnow::coordinator {
namespace {

class RecordingSink final : public OrderSink {
 public:
  void Send(const proto::Order& order) override { sent.push_back(order.sequence()); }
  void Acknowledge(std::uint64_t sequence) override { acknowledged = sequence; }
  void Close(const absl::Status& reason) override { closed = reason; }

  std::vector<std::uint64_t> sent;
  std::uint64_t acknowledged = 0;
  absl::Status closed;
};

proto::RegisterRequest Request() {
  proto::RegisterRequest request;
  request.mutable_node()->set_name("w1");
  request.mutable_node()->set_slots(2);
  request.mutable_node()->set_version(kVersion);
  request.set_data_address("127.0.0.1:1");
  request.set_incarnation(11);
  return request;
}

class WorkerRosterTest : public testing::Test {
 protected:
  WorkerRosterTest() : id_(roster_.Add(Request()).id) {}

  absl::Status Attach(std::uint64_t incarnation, std::uint64_t orders_taken) {
    proto::WorkerEvent first;
    first.set_worker(Value(id_));
    first.set_incarnation(incarnation);
    first.set_orders_taken(orders_taken);
    first.set_term(1);
    sink_ = std::make_shared<RecordingSink>();
    return roster_.Attach(first, sink_);
  }

  WorkerRoster roster_{1};
  const WorkerId id_;
  std::shared_ptr<RecordingSink> sink_;
};

TEST_F(WorkerRosterTest, StreamBeginsWithWhatWasNotTaken) {
  for (int i = 0; i < 3; ++i) roster_.Order(id_, {});
  ASSERT_TRUE(Attach(11, 1).ok());
  EXPECT_EQ(sink_->sent, (std::vector<std::uint64_t>{2, 3}));
  roster_.Order(id_, {});
  EXPECT_EQ(sink_->sent.back(), 4u);
}

TEST_F(WorkerRosterTest, NewStreamClosesTheEarlierOne) {
  ASSERT_TRUE(Attach(11, 0).ok());
  const auto earlier = sink_;
  ASSERT_TRUE(Attach(11, 0).ok());
  EXPECT_FALSE(earlier->closed.ok());
  roster_.Detach(id_, earlier.get());
  EXPECT_EQ(roster_.Find(id_)->sink, sink_);
}

TEST_F(WorkerRosterTest, OtherIncarnationMustRegister) {
  EXPECT_EQ(Attach(12, 0).code(), absl::StatusCode::kNotFound);
}

TEST_F(WorkerRosterTest, LostWorkerIsListedUntilOneOfItsNameComes) {
  ASSERT_TRUE(Attach(11, 0).ok());
  roster_.Remove(id_, absl::NotFoundError("lease expired"));
  EXPECT_EQ(sink_->closed.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(roster_.Find(id_), nullptr);
  EXPECT_EQ(roster_.lost().count("w1"), 1u);
  EXPECT_NE(roster_.Add(Request()).id, id_);
  EXPECT_TRUE(roster_.lost().empty());
}

TEST_F(WorkerRosterTest, TermsHaveIdsOfTheirOwn) {
  WorkerRoster next(2);
  EXPECT_NE(next.Add(Request()).id, id_);
}

TEST_F(WorkerRosterTest, WorkerThatReturnsKeepsItsId) {
  WorkerRoster next(2);
  proto::RegisterRequest request = Request();
  request.set_previous_worker(Value(id_));
  EXPECT_EQ(next.AddReturned(request).id, id_);
  EXPECT_EQ(next.Find(id_)->name(), "w1");
}

TEST_F(WorkerRosterTest, CoordinatorOfAnotherTermDoesNotTakeAStream) {
  WorkerRoster next(2);
  proto::RegisterRequest request = Request();
  request.set_previous_worker(Value(id_));
  next.AddReturned(request);
  proto::WorkerEvent first;
  first.set_worker(Value(id_));
  first.set_incarnation(11);
  first.set_term(1);
  const auto sink = std::make_shared<RecordingSink>();
  EXPECT_EQ(next.Attach(first, sink).code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(next.Find(id_)->attached);
  first.set_term(2);
  EXPECT_TRUE(next.Attach(first, sink).ok());
  EXPECT_TRUE(next.Find(id_)->attached);
}

TEST(RegistrationTest, WorkerOfAnotherClusterIsRefusedIfItKeepsAnything) {
  proto::RegisterRequest request = Request();
  request.set_cluster("one");
  EXPECT_FALSE(KeepsOfAnotherCluster(request, "two"));
  request.add_stored();
  EXPECT_TRUE(KeepsOfAnotherCluster(request, "two"));
  EXPECT_FALSE(KeepsOfAnotherCluster(request, "one"));
  request.clear_stored();
  request.add_held();
  EXPECT_TRUE(KeepsOfAnotherCluster(request, "two"));
  request.clear_held();
  request.set_images_share("/share");
  EXPECT_TRUE(KeepsOfAnotherCluster(request, "two"));
  request.clear_cluster();  // It does not know.
  EXPECT_FALSE(KeepsOfAnotherCluster(request, "two"));
}

TEST(RegistrationTest, RefusesWhatDoesNotFit) {
  EXPECT_TRUE(CheckRegistration(Request()).ok());
  proto::RegisterRequest request = Request();
  request.mutable_node()->set_name("a worker");
  EXPECT_FALSE(CheckRegistration(request).ok());
  request = Request();
  request.mutable_node()->set_slots(0);
  EXPECT_FALSE(CheckRegistration(request).ok());
  request = Request();
  request.mutable_node()->set_version("0.0.1");
  EXPECT_EQ(CheckRegistration(request).code(), absl::StatusCode::kFailedPrecondition);
  request = Request();
  request.set_data_address("nowhere");
  EXPECT_FALSE(CheckRegistration(request).ok());
}

}  // namespace
}  // namespace bspnow::coordinator
