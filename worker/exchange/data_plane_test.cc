#include "worker/exchange/data_plane.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "worker/exchange/doorbell_ends.h"
#include "worker/exchange/testing/batch_fixture.h"

namespace bspnow::worker {
namespace {

constexpr unsigned kHangsS = 20;

/// Node 0 of a job of two nodes; nobody is at the other, nor at the coordinator.
class DataPlaneTest : public testing::Test {
 protected:
  DataPlaneTest() {
    alarm(kHangsS);
    auto plane = DataPlane::Create(
        loop_, {.listen = "127.0.0.1:0", .congestion = "default", .incarnation = 1},
        {.broken = [](JobId, Epoch, ExchangeFault, const std::string&) {},
         .lease_renewed = [](std::uint64_t) {}});
    EXPECT_TRUE(plane.ok());
    plane_ = *std::move(plane);
    plane_->JoinCoordinator(
        {.self = WorkerId{0}, .barrier_address = "127.0.0.1:9", .heartbeat_ms = 1000});
    JobPlan plan{.job = JobId{1},
                 .epoch = Epoch{1},
                 .hosts = {},
                 .segment = &segment_,
                 .doorbell = doorbell_.worker.get()};
    for (std::uint32_t k = 0; k < 2; ++k) {
      plan.hosts.push_back({.worker = WorkerId{k},
                            .data_address = "127.0.0.1:9",
                            .node = "w",
                            .pids = Shape(0).hosts[k]});
    }
    plane_->AddJob(plan);
  }

  NodeSegment segment_ = MakeSegment(0);
  DoorbellEnds doorbell_ = *MakeDoorbell();
  EventLoop loop_;
  std::unique_ptr<DataPlane> plane_;
};

TEST_F(DataPlaneTest, DoesNotWaitForARingThatAProcessHasTaken) {
  fcntl(doorbell_.worker.get(), F_SETFL, 0);
  fcntl(doorbell_.processes.get(), F_SETFL, 0);
  // Becomes readable first, and is handled first.
  UniqueFd first(eventfd(1, EFD_CLOEXEC));
  loop_.OnReadable(first.get(), [&] {
    loop_.Forget(first.get());
    EXPECT_TRUE(AnswerDoorbell(doorbell_.worker.get()));
  });
  ASSERT_EQ(write(doorbell_.processes.get(), "", 1), 1);
  loop_.RunOnce();
}

TEST_F(DataPlaneTest, ForgetsADoorbellThatAProcessHasShut) {
  ASSERT_EQ(shutdown(doorbell_.processes.get(), SHUT_RDWR), 0);
  loop_.RunOnce();
  bool turned = false;
  loop_.SetTimer(1, [&] { turned = true; });
  int turns = 0;
  while (!turned) {
    loop_.RunOnce();
    turns += 1;
  }
  EXPECT_LT(turns, 100) << "the loop finds the doorbell readable again and again";
}

}  // namespace
}  // namespace bspnow::worker
