// A disk that is nearly full: who gives room, and who ends. On a file system of its own, where this
// user may mount one.
#include <sys/mount.h>

#include "base/disk_room.h"
#include "base/units.h"
#include "worker/job/testing/node_job_fixture.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kLooksMs = 1'200;  // At least two looks.

class NodeDiskTest : public NodeJobTest {
 protected:
  void SetUp() override {
    if (mount("tmpfs", root_.c_str(), "tmpfs", 0, "size=20m") != 0)
      GTEST_SKIP() << "only root mounts";
    for (const char* const each : {"/cache", "/jobs"}) fs::create_directories(root_ + each);
  }
  void TearDown() override {
    Close();
    umount2(root_.c_str(), MNT_DETACH);
  }

  std::ptrdiff_t EventOf(proto::WorkerEvent::WhatCase what) const {
    return &First(what) - &events_[0];
  }

  /// Half of what is to stay free is left then.
  void Fill(const std::string& path) const {
    const DiskRoom room = *RoomAt(root_);
    std::ofstream(path) << std::string(room.free_bytes - room.reserve_bytes() / 2, 'x');
  }
};

TEST_F(NodeDiskTest, NoJobEndsWhileSomethingElseCanBeGivenUp) {
  const std::string idle = root_ + "/cache/" + std::string(64, 'a');
  const std::string image = root_ + "/checkpoints/job-9/c1.p0";
  std::ofstream(idle) << std::string(8'000'000, 'x');
  const std::string hash =
      AddScript("head -c 3000000 /dev/zero >file; echo ready; exec sleep 1000");
  Open();
  fs::create_directories(fs::path(image).parent_path());
  jobs_->OnOrder(StartOrder(1, hash, 1));
  ASSERT_TRUE(RunUntil([this] { return Output() == "ready\n"; }));
  Fill(root_ + "/of-somebody-else");
  // Its room follows its name.
  ASSERT_TRUE(RunUntil([&] { return !fs::exists(idle) && RoomAt(root_)->missing_bytes() == 0; }))
      << "a copy can be fetched again";
  Fill(image + ".new");
  const std::uint64_t until_ms = NowNs() / kNsPerMs + kLooksMs;
  ASSERT_TRUE(RunUntil([&] { return NowNs() / kNsPerMs > until_ms; }));
  EXPECT_EQ(Count(proto::WorkerEvent::kBroken), 0u) << "the checkpoint will find too little room";
  fs::rename(image + ".new", image);
  ASSERT_TRUE(RunUntil([this] { return Count(proto::WorkerEvent::kBroken) == 1; }));
  const std::string reason = First(proto::WorkerEvent::kBroken).broken().reason();
  EXPECT_NE(reason.find("is nearly full"), std::string::npos) << reason;
  ASSERT_TRUE(RunUntilExited(1)) << "though no coordinator has ordered it";
  EXPECT_LT(EventOf(proto::WorkerEvent::kBroken), EventOf(proto::WorkerEvent::kExited));
  proto::RegisterRequest request;
  ASSERT_TRUE(jobs_->Describe(request).ok());
  ASSERT_EQ(request.held_size(), 1);
  EXPECT_TRUE(request.held(0).clearing()) << "nobody says it again to the next coordinator";
  EXPECT_TRUE(End(1));
}

}  // namespace
}  // namespace bspnow::worker
