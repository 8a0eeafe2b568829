#include "worker/core/coordinator_session.h"

#include <gtest/gtest.h>

#include "base/packet.h"
#include "worker/core/output_credit.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kIncarnation = 99;

class CoordinatorSessionTest : public testing::Test {
 protected:
  static proto::WorkerEvent Output(std::uint64_t job, const std::string& text) {
    proto::WorkerEvent event;
    event.set_job(job);
    event.set_epoch(1);
    event.mutable_output()->set_text(text);
    return event;
  }
  static proto::WorkerEvent Exited(std::uint64_t job, std::uint32_t pid) {
    proto::WorkerEvent event;
    event.set_job(job);
    event.set_epoch(1);
    event.mutable_exited()->set_pid(pid);
    return event;
  }
  static proto::RegisterReply Reply(std::uint32_t worker, std::uint64_t term,
                                    const std::vector<std::uint64_t>& keep_jobs) {
    proto::RegisterReply reply;
    reply.set_worker(worker);
    reply.set_term(term);
    reply.set_cluster("here");
    reply.mutable_keep_jobs()->Assign(keep_jobs.begin(), keep_jobs.end());
    return reply;
  }
  // All that is unsent: job and sequence.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> Unsent() {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> events;
    while (session_.has_unsent()) {
      const proto::WorkerEvent event = session_.NextUnsent();
      events.emplace_back(event.job(), event.sequence());
    }
    return events;
  }
  static proto::Order OrderOf(std::uint64_t sequence) {
    proto::Order order;
    order.set_sequence(sequence);
    return order;
  }

  CoordinatorSession session_{kIncarnation};
};

using Sent = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST_F(CoordinatorSessionTest, RepeatsOnANewStreamWhatIsNotAcknowledged) {
  session_.OnRegistered(Reply(4, 1, {}));
  for (const std::uint64_t job : {1, 2, 3}) session_.Report(Output(job, "x"));
  session_.OnAttached({});
  EXPECT_EQ(Unsent(), (Sent{{1, 1}, {2, 2}, {3, 3}}));
  session_.OnAcknowledge(1);
  EXPECT_FALSE(session_.has_unsent());
  session_.OnAttached({});
  EXPECT_EQ(Unsent(), (Sent{{2, 2}, {3, 3}}));
  session_.OnAcknowledge(3);
  EXPECT_TRUE(session_.all_acknowledged());
  session_.OnAttached({});
  EXPECT_FALSE(session_.has_unsent());
}

TEST_F(CoordinatorSessionTest, SaysOnAStreamWhoAttaches) {
  session_.OnRegistered(Reply(4, 7, {}));
  EXPECT_TRUE(session_.Take(OrderOf(1)));
  proto::RegisterRequest self;
  self.set_data_address("here:1");
  self.set_images_address("here:2");
  const proto::WorkerEvent first = session_.OnAttached(self);
  EXPECT_EQ(first.data_address(), "here:1");
  EXPECT_EQ(first.images_address(), "here:2");
  EXPECT_EQ(first.worker(), 4u);
  EXPECT_EQ(first.incarnation(), kIncarnation);
  EXPECT_EQ(first.orders_taken(), 1u);
  EXPECT_EQ(first.filler().size(), kMoreThanAPacketBytes);
  EXPECT_EQ(first.term(), 7u);
  EXPECT_EQ(first.sequence(), 0u);
}

TEST_F(CoordinatorSessionTest, TakesAnOrderOnceInEachRegistration) {
  session_.OnRegistered(Reply(4, 1, {}));
  EXPECT_TRUE(session_.Take(OrderOf(1)));
  EXPECT_TRUE(session_.Take(OrderOf(2)));
  EXPECT_FALSE(session_.Take(OrderOf(1)));
  EXPECT_FALSE(session_.Take(OrderOf(2)));
  session_.OnRegistered(Reply(4, 2, {}));
  EXPECT_TRUE(session_.Take(OrderOf(1)));
}

TEST_F(CoordinatorSessionTest, NumbersAnewWhatTheNextCoordinatorMustKnow) {
  session_.OnRegistered(Reply(4, 1, {}));
  for (const std::uint64_t job : {1, 2, 1}) session_.Report(Output(job, "x"));
  session_.OnAttached({});
  Unsent();
  session_.OnRegistered(Reply(4, 2, {1}));
  session_.Report(Output(1, "x"));
  session_.OnAttached({});
  EXPECT_EQ(Unsent(), (Sent{{1, 1}, {1, 2}, {1, 3}}));
}

TEST_F(CoordinatorSessionTest, GivesBackTheCreditOfOutputThatIsKept) {
  session_.Report(Output(1, "four"));
  session_.Report(Output(1, "sixsix"));
  session_.Report(Output(2, "x"));
  session_.Report(Exited(2, 0));
  const auto credits = session_.OnAcknowledge(4);
  ASSERT_EQ(credits.size(), 2u);
  EXPECT_EQ(credits.at({JobId{1}, Epoch{1}}), OutputCharge(4) + OutputCharge(6));
  EXPECT_TRUE(session_.OnAcknowledge(4).empty());
}

TEST_F(CoordinatorSessionTest, LetsNoExitOvertakeOutput) {
  session_.OnRegistered(Reply(4, 1, {}));
  session_.Report(Output(1, "last words"));
  session_.Report(Exited(1, 0));
  session_.Report(Output(2, "of a job that is gone here"));
  proto::RegisterRequest request;
  request.add_held()->set_job(1);
  request.mutable_held(0)->set_epoch(1);
  request.mutable_held(0)->add_exited()->set_pid(0);
  request.mutable_held(0)->add_exited()->set_pid(1);
  session_.Describe(request);
  EXPECT_EQ(request.previous_worker(), 4u);
  ASSERT_EQ(request.held_size(), 2);
  ASSERT_EQ(request.held(0).exited_size(), 1);
  EXPECT_EQ(request.held(0).exited(0).pid(), 1u);
  EXPECT_EQ(request.held(1).job(), 2u);
  EXPECT_TRUE(request.held(1).clearing());
}

// It would be begun anew, to come to the same end.
TEST_F(CoordinatorSessionTest, AJobOfWhichTheReportThatItFailsIsUnderWayIsNotTakenForLost) {
  session_.OnRegistered(Reply(4, 1, {}));
  proto::WorkerEvent broken;
  broken.set_job(1);
  broken.set_epoch(1);
  broken.mutable_broken()->set_final(true);
  session_.Report(broken);
  const auto is_clearing = [this] {
    proto::RegisterRequest request;
    proto::HeldJob& job = *request.add_held();
    job.set_job(1);
    job.set_epoch(1);
    job.set_clearing(true);
    session_.Describe(request);
    return request.held(0).clearing();
  };
  EXPECT_FALSE(is_clearing());
  session_.OnAcknowledge(1);
  EXPECT_TRUE(is_clearing()) << "the report may be lost with the coordinator";
}

// Its processes were ended, and it was cleared away, while there was no coordinator.
TEST_F(CoordinatorSessionTest, AJobThatIsGoneHereAndFailsIsNotTakenForLost) {
  session_.OnRegistered(Reply(4, 1, {}));
  session_.Report(Exited(1, 0));
  session_.Report(Exited(2, 0));
  proto::WorkerEvent broken;
  broken.set_job(2);
  broken.set_epoch(1);
  broken.mutable_broken()->set_final(true);
  session_.Report(broken);
  proto::RegisterRequest request;
  session_.Describe(request);
  ASSERT_EQ(request.held_size(), 2);
  EXPECT_TRUE(request.held(0).clearing());
  EXPECT_EQ(request.held(1).job(), 2u);
  EXPECT_FALSE(request.held(1).clearing());
}

}  // namespace
}  // namespace bspnow::worker
