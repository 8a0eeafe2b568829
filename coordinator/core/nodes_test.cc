#include "coordinator/core/nodes.h"

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
  request.set_protocol_oldest(kProtocolOldest);
  request.set_protocol(kProtocol);
  request.set_data_address("127.0.0.1:1");
  request.set_incarnation(11);
  return request;
}

class NodesTest : public testing::Test {
 protected:
  NodesTest() { nodes_.Add(id_, Request(), 0); }

  absl::Status Attach(std::uint64_t incarnation, std::uint64_t orders_taken,
                      std::uint64_t now_ns = 0) {
    proto::WorkerEvent first;
    first.set_worker(Value(id_));
    first.set_incarnation(incarnation);
    first.set_orders_taken(orders_taken);
    first.set_term(1);
    sink_ = std::make_shared<RecordingSink>();
    return nodes_.Attach(first, sink_, now_ns);
  }

  Nodes nodes_{1};
  const WorkerId id_ = nodes_.NewId();
  std::shared_ptr<RecordingSink> sink_;
};

TEST_F(NodesTest, StreamBeginsWithWhatWasNotTaken) {
  for (int i = 0; i < 3; ++i) nodes_.Order(id_, {});
  ASSERT_TRUE(Attach(11, 1).ok());
  EXPECT_EQ(sink_->sent, (std::vector<std::uint64_t>{2, 3}));
  nodes_.Order(id_, {});
  EXPECT_EQ(sink_->sent.back(), 4u);
}

TEST_F(NodesTest, NewStreamClosesTheEarlierOne) {
  ASSERT_TRUE(Attach(11, 0).ok());
  const auto earlier = sink_;
  ASSERT_TRUE(Attach(11, 0).ok());
  EXPECT_FALSE(earlier->closed.ok());
  nodes_.Detach(id_, earlier.get(), 0);
  EXPECT_EQ(nodes_.Find(id_)->sink, sink_);
}

TEST_F(NodesTest, NodeIsUsableWhileBothItsStreamsStand) {
  Node& node = *nodes_.Find(id_);
  EXPECT_FALSE(node.usable());
  ASSERT_TRUE(Attach(11, 0).ok());
  EXPECT_FALSE(node.usable());
  node.lease.OnConnected(0);
  EXPECT_TRUE(node.usable());
  nodes_.Detach(id_, sink_.get(), 0);
  EXPECT_FALSE(node.usable());
}

TEST_F(NodesTest, NodeWithoutItsControlStreamIsDeafAfterTenSeconds) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  Node& node = *nodes_.Find(id_);
  ASSERT_TRUE(Attach(11, 0).ok());
  node.lease.OnConnected(0);
  nodes_.Detach(id_, sink_.get(), 5 * kSecondNs);
  node.lease.OnRenewed(15 * kSecondNs - 1);
  EXPECT_EQ(node.WhyDeaf(15 * kSecondNs - 1), "");
  EXPECT_EQ(node.WhyDeaf(15 * kSecondNs), "no control stream for 10.0 s");
  node.OnPaused(3 * kSecondNs, 16 * kSecondNs);
  EXPECT_EQ(node.WhyDeaf(16 * kSecondNs), "");
  ASSERT_TRUE(Attach(11, 0).ok());
  EXPECT_EQ(node.WhyDeaf(30 * kSecondNs), "");
}

// Each is opened, and broken by the worker some seconds later: what is large does not arrive.
TEST_F(NodesTest, NodeThatTakesNoOrderOfSeveralStreamsIsDeaf) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  Node& node = *nodes_.Find(id_);
  ASSERT_TRUE(Attach(11, 0, 0).ok());
  nodes_.Order(id_, {});
  ASSERT_TRUE(Attach(11, 0, 600 * kSecondNs).ok());  // The order may have come after it had broken.
  EXPECT_EQ(node.WhyDeaf(700 * kSecondNs), "");      // It stands.
  nodes_.Order(id_, {});
  ASSERT_TRUE(Attach(11, 0, 700 * kSecondNs).ok());  // One may have failed by chance.
  EXPECT_EQ(node.WhyDeaf(709 * kSecondNs), "");
  node.OnPaused(105 * kSecondNs, 710 * kSecondNs);
  ASSERT_TRUE(Attach(11, 0, 711 * kSecondNs).ok());
  EXPECT_EQ(node.WhyDeaf(715 * kSecondNs - 1), "");
  EXPECT_NE(node.WhyDeaf(715 * kSecondNs).find("no order has arrived for 10.0 s"),
            std::string::npos);
  node.session.OnOrdersTaken(1);  // As an event says.
  EXPECT_EQ(node.WhyDeaf(716 * kSecondNs), "");
  for (const std::uint64_t s : {800, 801, 802})
    ASSERT_TRUE(Attach(11, s == 800 ? 1 : 2, s * kSecondNs).ok());
  EXPECT_EQ(node.WhyDeaf(900 * kSecondNs), "");
}

TEST_F(NodesTest, NodeThatIsGivenUpIsLostWhenItsLeaseIsOver) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  Node& node = *nodes_.Find(id_);
  node.lease.OnConnected(0);
  node.GiveUp("it does nothing", 0);
  EXPECT_EQ(node.WhyLost(kSecondNs), "");
  node.lease.OnBroken(kSecondNs);
  EXPECT_EQ(node.WhyLost(2 * kSecondNs), "");
  EXPECT_EQ(node.WhyLost(3 * kSecondNs), "it does nothing");
}

TEST_F(NodesTest, OtherIncarnationMustRegister) {
  EXPECT_EQ(Attach(12, 0).code(), absl::StatusCode::kNotFound);
}

TEST_F(NodesTest, HasAsManyAccountsAsItsPool) {
  for (const auto& [how, accounts] : {std::pair{"pool:a", 1u},
                                      {"pool:a,b,c", 3u},
                                      {"same", 0u},
                                      {"fixed:a", 0u},
                                      {"own:everybody", 0u}}) {
    nodes_.Remove(nodes_.all().at("w1").worker, absl::OkStatus());
    proto::RegisterRequest request = Request();
    request.mutable_node()->set_accounts(how);
    EXPECT_EQ(nodes_.Add(nodes_.NewId(), request, 0).accounts, accounts) << how;
  }
}

TEST_F(NodesTest, LostWorkerIsListedUntilOneOfItsNameComes) {
  ASSERT_TRUE(Attach(11, 0).ok());
  nodes_.Remove(id_, absl::NotFoundError("lease expired"));
  EXPECT_EQ(sink_->closed.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(nodes_.Find(id_), nullptr);
  EXPECT_FALSE(nodes_.all().at("w1").up());
  EXPECT_EQ(nodes_.all().at("w1").registration.node().slots(), 2u);
  const WorkerId next = nodes_.NewId();
  EXPECT_NE(next, id_);
  EXPECT_EQ(nodes_.Add(next, Request(), 0).name, "w1");
  EXPECT_TRUE(nodes_.all().at("w1").up());
}

TEST_F(NodesTest, NextWorkerOfANodeInheritsThatItIsDrainedAndNothingElse) {
  nodes_.Named("w1").drained = true;
  nodes_.Order(id_, {});
  nodes_.Remove(id_, absl::NotFoundError("lease expired"));
  const Node& next = nodes_.Add(nodes_.NewId(), Request(), 0);
  EXPECT_TRUE(next.drained);
  EXPECT_FALSE(next.attached);
  EXPECT_TRUE(next.session.untaken().empty());
}

TEST_F(NodesTest, TermsHaveIdsOfTheirOwn) {
  Nodes next(2);
  EXPECT_NE(next.NewId(), id_);
}

TEST_F(NodesTest, WorkerThatReturnsKeepsItsId) {
  Nodes next(2);
  EXPECT_EQ(next.Add(id_, Request(), 0).worker, id_);
  EXPECT_EQ(next.Find(id_)->name, "w1");
}

TEST_F(NodesTest, CoordinatorOfAnotherTermDoesNotTakeAStream) {
  Nodes next(2);
  next.Add(id_, Request(), 0);
  proto::WorkerEvent first;
  first.set_worker(Value(id_));
  first.set_incarnation(11);
  first.set_term(1);
  const auto sink = std::make_shared<RecordingSink>();
  EXPECT_EQ(next.Attach(first, sink, 0).code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(next.Find(id_)->attached);
  first.set_term(2);
  EXPECT_TRUE(next.Attach(first, sink, 0).ok());
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
  request.set_unfinished(true);
  EXPECT_TRUE(KeepsOfAnotherCluster(request, "two"));
  request.clear_unfinished();
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
  request.set_data_address("nowhere");
  EXPECT_FALSE(CheckRegistration(request).ok());
}

// The next job would have had the number 0, and the one after it that of another job.
TEST(RegistrationTest, RefusesNumbersAfterWhichThereIsNoOther) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  std::vector<proto::RegisterRequest> requests(4, Request());
  requests[0].add_held()->set_job(kMost);
  requests[1].add_held()->set_epoch(kMost);
  requests[2].add_stored()->set_job(kMost);
  requests[3].add_stored()->add_checkpoints(kMost);
  for (const proto::RegisterRequest& request : requests)
    EXPECT_TRUE(absl::IsFailedPrecondition(CheckRegistration(request)));
  requests[2].mutable_stored(0)->set_job(std::uint64_t{1} << 40);
  requests[3].mutable_stored(0)->set_checkpoints(0, kMost >> 3);
  EXPECT_EQ(CheckRegistration(requests[2]), absl::OkStatus());
  EXPECT_EQ(CheckRegistration(requests[3]), absl::OkStatus());
}

// Another version is no reason: what both understand is.
TEST(RegistrationTest, TakesWorkersThatUnderstandItsProtocol) {
  const auto refusal = [](std::uint32_t oldest, std::uint32_t newest) {
    proto::RegisterRequest request = Request();
    request.mutable_node()->set_version("7.8.9");
    request.set_protocol_oldest(oldest);
    request.set_protocol(newest);
    return CheckRegistration(request);
  };
  EXPECT_TRUE(refusal(kProtocol, kProtocol).ok());
  EXPECT_TRUE(refusal(kProtocol, kProtocol + 1).ok());
  EXPECT_EQ(refusal(0, 0).ok(), kProtocol == 1);
  const absl::Status newer = refusal(kProtocol + 1, kProtocol + 2);
  EXPECT_EQ(newer.code(), absl::StatusCode::kFailedPrecondition);
  const std::string text(newer.message());
  EXPECT_NE(text.find("w1 of version 7.8.9 speaks protocol "), std::string::npos) << text;
  EXPECT_NE(text.find("install a newer version of the coordinator"), std::string::npos) << text;
  EXPECT_TRUE(refusal(kProtocolOldest, kProtocol).ok());
}

}  // namespace
}  // namespace bspnow::coordinator
