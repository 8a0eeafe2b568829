// Who reaches the port of the barrier and knows all ids, but has not the worker's key.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "coordinator/testing/barrier_fixture.h"
#include "net/frame_body.h"

namespace bspnow::coordinator {
namespace {

/// It knows the worker's ids, and has its challenge, but no key.
class BarrierOutsiderTest : public BarrierServerTest {
 protected:
  void SetUp() override {
    AddJob();
    worker_ = Welcomed(kA);
    outsider_ = Connect(kA);
    outsider_->answers = false;
    outsider_->Hello(11);
    Until([&] { return outsider_->Count(FrameKind::kChallenge) == 1; });
  }

  void ExpectRefused() {
    Until([&] { return outsider_->closed(); });
    EXPECT_EQ(outsider_->Count(FrameKind::kWelcome), 0u);
    const HeartbeatBody body{.sent_ns = 77};
    worker_->Say(HeaderOf(FrameKind::kHeartbeat), BytesOf(body));
    Until([&] { return worker_->Count(FrameKind::kLease) == 1; });
    EXPECT_FALSE(worker_->closed());
    EXPECT_TRUE(Connected(kA));
  }

  std::unique_ptr<Client> worker_;
  std::unique_ptr<Client> outsider_;
};

TEST_F(BarrierOutsiderTest, InventedProofIsRefused) {
  outsider_->Prove(ProofBody{});
  ExpectRefused();
  EXPECT_EQ(server_->faults(FrameFault::kBadProof), 1u);
  ASSERT_EQ(outsider_->Count(FrameKind::kAbort), 1u);
  const std::vector<std::byte>& why = outsider_->last().payload;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(why.data()), why.size()),
            "does not prove the key");
}

TEST_F(BarrierOutsiderTest, ProofOfTheCoordinatorItselfIsRefused) {
  outsider_->Prove({.proof = BodyFrom<ChallengeBody>(outsider_->last().payload)->proof});
  ExpectRefused();
  EXPECT_EQ(server_->faults(FrameFault::kBadProof), 1u);
}

// It is registered, and calls itself another worker.
TEST_F(BarrierOutsiderTest, ProofOfTheKeyOfTheClusterOrOfAnotherWorkerIsRefused) {
  for (const StreamKey& key : {kKey, kKeyOfB}) {
    const FrameFault fault = outsider_->Doubt(key);
    EXPECT_EQ(fault, FrameFault::kBadProof) << "the coordinator has proven A's to it";
  }
  EXPECT_EQ(outsider_->Doubt(kKeyOfA), FrameFault::kNone);
}

TEST_F(BarrierOutsiderTest, SilenceIsRefusedAndCounted) {
  ExpectRefused();
  EXPECT_EQ(server_->faults(FrameFault::kNoProof), 1u);
}

TEST_F(BarrierOutsiderTest, FrameInPlaceOfAProofIsNotTaken) {
  outsider_->Begin(2);
  ExpectRefused();
  EXPECT_EQ(barriers_->refused(Refusal::kUnknownWorker), 1u);
  EXPECT_EQ(worker_->Count(FrameKind::kBegin), 0u);
}

TEST_F(BarrierOutsiderTest, NothingLongIsReadBeforeAProof) {
  outsider_->Say(HeaderOf(FrameKind::kProof), std::vector<std::byte>(100'000));
  ExpectRefused();
  EXPECT_EQ(server_->faults(FrameFault::kTooLong), 1u);
}

TEST_F(BarrierOutsiderTest, SecondHelloIsRefused) {
  outsider_->Hello(11);
  ExpectRefused();
}

TEST_F(BarrierOutsiderTest, WorkerThatIsGivenUpMeanwhileIsRefused) {
  nodes_.Find(kA)->given_up = "its disk hangs";
  outsider_->Prove(outsider_->Answer(kKeyOfA));
  ExpectRefused();
  EXPECT_EQ(barriers_->refused(Refusal::kUnknownWorker), 1u);
}

TEST_F(BarrierServerTest, NobodyIsConnectedBeforeItsProof) {
  const auto outsider = Connect(kA);
  outsider->answers = false;
  outsider->Hello(11);
  Until([&] { return outsider->Count(FrameKind::kChallenge) == 1; });
  EXPECT_FALSE(Connected(kA));
  outsider->Prove(outsider->Answer(kKeyOfA));
  Until([&] { return Connected(kA); });
}

TEST_F(BarrierServerTest, ProofBeforeHelloIsRefused) {
  const auto hasty = Connect(kA);
  hasty->Prove(ProofBody{});
  Until([&] { return hasty->closed(); });
  EXPECT_EQ(barriers_->refused(Refusal::kMalformed), 1u);
}

}  // namespace
}  // namespace bspnow::coordinator
