#include "worker/core/peer_watch.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace bspnow::worker {
namespace {

constexpr WorkerId kSelf{5};

/// Peers that answer as the test says.
class PeerWatchTest : public testing::Test {
 protected:
  PeerWatchTest() { watch_.OnRegistered(kSelf); }

  void Come(const std::vector<std::uint32_t>& workers) {
    proto::PeersChanged change;
    for (const std::uint32_t worker : workers) {
      change.add_came()->set_worker(worker);
      change.mutable_came()->rbegin()->set_data_address("host:" + std::to_string(worker));
    }
    watch_.OnPeersChanged(change, now_ns_);
  }
  void Leave(std::uint32_t worker) {
    proto::PeersChanged change;
    change.add_left(worker);
    watch_.OnPeersChanged(change, now_ns_);
  }
  void FailExchange(std::uint32_t worker) {
    watch_.OnExchangeFailed(WorkerId{worker}, "nothing arrives", now_ns_);
  }
  /// All probes that are under way, and follow from these.
  void Answer() {
    while (!probes_.empty()) {
      const PeerAddress peer = probes_.front();
      probes_.erase(probes_.begin());
      const auto failure = failures_.find(Value(peer.worker));
      watch_.OnProbed(peer, failure == failures_.end() ? "" : failure->second, now_ns_);
    }
  }
  /// So many probes were made in this time.
  std::size_t Pass(std::uint64_t seconds) {
    const std::size_t before = made_;
    for (std::uint64_t i = 0; i < seconds; ++i) {
      now_ns_ += kNsPerS;
      watch_.Look(silent_, now_ns_);
      Answer();
    }
    watch_.Look(silent_, now_ns_);
    return made_ - before;
  }
  /// "3: no answer; ", as reported last.
  std::string Unreachable() const {
    std::string all;
    if (reports_.empty()) return all;
    for (const proto::UnreachablePeer& peer : reports_.back().peers_probed().unreachable())
      all += std::to_string(peer.worker()) + ": " + peer.reason() + "; ";
    return all;
  }

  std::uint64_t now_ns_ = 100 * kNsPerS;
  std::size_t made_ = 0;
  std::vector<PeerAddress> probes_;  ///< Without an answer.
  std::map<std::uint32_t, std::string> failures_;
  std::set<WorkerId> silent_;
  std::vector<proto::WorkerEvent> reports_;
  PeerWatch watch_{[this](const PeerAddress& peer) {
                     made_ += 1;
                     probes_.push_back(peer);
                   },
                   [this](proto::WorkerEvent event) { reports_.push_back(std::move(event)); }};
};

TEST_F(PeerWatchTest, ProbesEachWorkerThatComesOnceAndSaysNothingIfAllAnswer) {
  Come({3, Value(kSelf), 7});
  ASSERT_EQ(probes_.size(), 2u);
  EXPECT_EQ(probes_[0].worker, WorkerId{7});
  EXPECT_EQ(probes_[1].data_address, "host:3");
  Answer();
  EXPECT_EQ(Pass(1000), 0u);
  EXPECT_TRUE(reports_.empty());
}

TEST_F(PeerWatchTest, HasOnlyFewProbesUnderWay) {
  std::vector<std::uint32_t> workers(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) workers[i] = i + 10;
  Come(workers);
  EXPECT_EQ(probes_.size(), 8u);
  watch_.Look(silent_, now_ns_);
  EXPECT_EQ(probes_.size(), 8u);
  Answer();
  EXPECT_EQ(made_, 1000u);
}

TEST_F(PeerWatchTest, ReportsWhomItCannotReachUntilItCan) {
  failures_[3] = "no answer";
  Come({3, 7});
  Answer();
  EXPECT_TRUE(reports_.empty());  // It is tried again first.
  Pass(2);
  EXPECT_EQ(Unreachable(), "3: no answer; ");
  EXPECT_LT(Pass(3600), 70u);
  EXPECT_EQ(reports_.size(), 1u);
  failures_[3] = "refused";
  Pass(60);
  EXPECT_EQ(Unreachable(), "3: refused; ");
  failures_.clear();
  Pass(60);
  EXPECT_EQ(Unreachable(), "");
  EXPECT_EQ(reports_.size(), 3u);
  EXPECT_EQ(Pass(3600), 0u);
}

TEST_F(PeerWatchTest, OneFailureIsNoFinding) {
  failures_[3] = "you want worker 3, this is 0";
  Come({3});
  Answer();
  failures_.clear();
  EXPECT_EQ(Pass(10), 1u);
  EXPECT_TRUE(reports_.empty());
}

TEST_F(PeerWatchTest, ReportsAFailedExchangeAtOnceAndProbesAfterAWhile) {
  Come({3});
  Answer();
  FailExchange(3);
  EXPECT_EQ(Unreachable(), "3: nothing arrives; ");
  EXPECT_EQ(Pass(4), 0u);
  EXPECT_EQ(Pass(1), 1u);
  EXPECT_EQ(Unreachable(), "");
}

TEST_F(PeerWatchTest, WaitsLongerEachTimeThatAnExchangeFailsThoughProbesAreAnswered) {
  Come({3});
  Answer();
  std::vector<std::uint64_t> waits_s;
  for (int i = 0; i < 9; ++i) {
    FailExchange(3);
    waits_s.push_back(1);
    while (Pass(1) == 0) waits_s.back() += 1;
  }
  EXPECT_EQ(waits_s, (std::vector<std::uint64_t>{5, 10, 20, 40, 80, 160, 300, 300, 300}));
}

TEST_F(PeerWatchTest, ProbesWhoFallsSilentAndAtOnceWhenThatIsOver) {
  Come({3});
  Answer();
  failures_[3] = "no answer";
  silent_ = {WorkerId{3}};
  Pass(3);
  EXPECT_EQ(Unreachable(), "3: no answer; ");
  Pass(30);  // By now it is tried again after half a minute.
  failures_.clear();
  silent_.clear();
  EXPECT_EQ(Pass(1), 1u);
  EXPECT_EQ(Unreachable(), "");
}

TEST_F(PeerWatchTest, WhoIsSilentAndAnswersIsProbedOnce) {
  Come({3});
  Answer();
  silent_ = {WorkerId{3}, WorkerId{4}};  // 4 has left.
  EXPECT_EQ(Pass(100), 1u);
  EXPECT_TRUE(reports_.empty());
}

TEST_F(PeerWatchTest, TheEndOfASilenceThatEndedAnExchangeIsNoReasonToProbe) {
  Come({3});
  Answer();
  silent_ = {WorkerId{3}};
  Pass(10);
  FailExchange(3);
  silent_.clear();
  EXPECT_EQ(Pass(4), 0u);
  EXPECT_EQ(Unreachable(), "3: nothing arrives; ");
}

TEST_F(PeerWatchTest, AnAnswerThatWasUnderWayDoesNotCountAfterAFailedExchange) {
  Come({3});
  FailExchange(3);
  Answer();
  EXPECT_EQ(Unreachable(), "3: nothing arrives; ");
  Pass(5);
  EXPECT_EQ(Unreachable(), "");
}

TEST_F(PeerWatchTest, ProbesAWorkerThatHasMovedWhereItIsNow) {
  failures_[3] = "no answer";
  Come({3});
  Answer();
  Pass(2);
  EXPECT_EQ(Unreachable(), "3: no answer; ");
  proto::PeersChanged moved;
  moved.add_left(3);
  moved.add_came()->set_worker(3);
  moved.mutable_came(0)->set_data_address("elsewhere:3");
  watch_.OnPeersChanged(moved, now_ns_);
  ASSERT_EQ(probes_.size(), 1u);
  EXPECT_EQ(probes_[0].data_address, "elsewhere:3");
  failures_.clear();
  watch_.OnProbed({WorkerId{3}, "host:3"}, "no answer", now_ns_);  // That was under way.
  Answer();
  Pass(1);
  EXPECT_EQ(Unreachable(), "");
}

TEST_F(PeerWatchTest, ForgetsAWorkerThatLeaves) {
  failures_[3] = "no answer";
  Come({3});
  Answer();
  Pass(2);
  Leave(3);
  EXPECT_EQ(Pass(100), 0u);
  EXPECT_EQ(Unreachable(), "");
  FailExchange(3);
  EXPECT_EQ(Pass(100), 0u);
  EXPECT_EQ(reports_.size(), 2u);
}

TEST_F(PeerWatchTest, BeginsAnewWithEachRegistration) {
  failures_[3] = "no answer";
  Come({3});
  Answer();
  Pass(2);
  watch_.OnRegistered(WorkerId{9});
  EXPECT_EQ(Pass(100), 0u);
  EXPECT_EQ(reports_.size(), 1u);
  Come({3, 9});
  Answer();
  Pass(2);
  EXPECT_EQ(reports_.size(), 2u);
}

}  // namespace
}  // namespace bspnow::worker
