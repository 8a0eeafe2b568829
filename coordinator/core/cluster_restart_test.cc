// A coordinator that comes back: what its workers tell it, and what it tells them.
#include <gtest/gtest.h>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

class TwoHostsTest : public ClusterFixture {
 protected:
  proto::RegisterRequest Returning(const FakeWorker& worker, std::uint32_t pid) const {
    proto::RegisterRequest request = Registration(worker.name, 1);
    request.set_previous_worker(Value(worker.id));
    proto::HeldJob& held = *request.add_held();
    held.set_job(1);
    held.set_epoch(1);
    held.add_begun(pid);
    return request;
  }
};

TEST_F(TwoHostsTest, ARestoreThatFailsCountsWhileOtherHostsAreAwaited) {
  const FakeWorker first = Join("w1", 1);
  const FakeWorker second = Join("w2", 1);
  const JobId job = Submit(Request("key"));
  EXPECT_EQ(Starts(first) + Starts(second), 2u);
  Restart();
  FakeWorker returned = Join(Returning(first, 0));
  proto::WorkerEvent event = EventOf(job, Epoch{1});
  event.mutable_restore_failed()->set_reason("no space");
  EXPECT_EQ(Report(returned, event), absl::OkStatus());
  Join(Returning(second, 1));
  Settle();
  EXPECT_EQ(Show(job).state(), proto::RECOVERING);
  EXPECT_EQ(Show(job).losses_size(), 1);
}

}  // namespace
}  // namespace bspnow::coordinator
