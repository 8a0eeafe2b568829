#include "worker/exchange/data_plane.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "net/frame_check.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"
#include "worker/exchange/doorbell_ends.h"
#include "worker/exchange/testing/batch_fixture.h"

namespace bspnow::worker {
namespace {

constexpr unsigned kHangsS = 20;
const StreamKey kKey = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));

/// Takes one connection, proves the key, welcomes it, and reads its frames.
class DeafCoordinator {
 public:
  DeafCoordinator() : listener_(*Listen(*Resolve({.host = "127.0.0.1", .port = 0}), {})) {}

  std::string address() const { return LocalAddress(listener_.get())->ToString(); }

  void Welcome() {
    pollfd comes{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    poll(&comes, 1, -1);
    stream_ = std::move(Accept(listener_.get(), {})->fd);
    fcntl(stream_.get(), F_SETFL, 0);
    std::string hello;
    EXPECT_EQ(Read(&hello), FrameKind::kHello);
    const auto proof = AcceptingProof::Of(header_, std::as_bytes(std::span(hello)));
    ASSERT_TRUE(proof.has_value());
    Write(FrameKind::kChallenge, BytesOf(proof->Challenge(kKey)));
    std::string answer;
    EXPECT_EQ(Read(&answer), FrameKind::kProof);
    EXPECT_EQ(proof->OnProof(kKey, std::as_bytes(std::span(answer))), FrameFault::kNone);
    Write(FrameKind::kWelcome, {});
  }

  /// The next frame.
  FrameKind Read(std::string* payload) {
    EXPECT_EQ(recv(stream_.get(), &header_, sizeof header_, MSG_WAITALL), ssize_t{sizeof header_});
    std::string bytes(header_.payload_bytes, 0);
    recv(stream_.get(), bytes.data(), bytes.size(), MSG_WAITALL);
    if (payload != nullptr) *payload = bytes;
    return FrameKind{header_.kind};
  }

 private:
  void Write(FrameKind kind, std::span<const std::byte> payload) {
    FrameHeader header = HeaderOf(kind);
    SealFrame(header, payload);
    ASSERT_EQ(write(stream_.get(), &header, sizeof header), ssize_t{sizeof header});
    ASSERT_EQ(write(stream_.get(), payload.data(), payload.size()),
              static_cast<ssize_t>(payload.size()));
  }

  FrameHeader header_;  ///< Of the frame that was read last.
  UniqueFd listener_;
  UniqueFd stream_;
};

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
    plane_->AddJob(Plan());
  }

  JobPlan Plan() {
    JobPlan plan{.job = JobId{1},
                 .epoch = Epoch{1},
                 .hosts = {},
                 .segment = &segment_,
                 .doorbell = doorbell_.worker.get(),
                 .key = kKey};
    for (std::uint32_t k = 0; k < 2; ++k) {
      plan.hosts.push_back({.worker = WorkerId{k},
                            .data_address = "127.0.0.1:9",
                            .node = "w",
                            .pids = Shape(0).hosts[k]});
    }
    return plan;
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

// It may have been restarted while the images were being put back.
TEST_F(DataPlaneTest, TellsTheCoordinatorThePOfAnEpochThatResumes) {
  DeafCoordinator coordinator;
  plane_->RemoveJob(JobId{1}, Epoch{1});
  plane_->JoinCoordinator({.self = WorkerId{0},
                           .barrier_address = coordinator.address(),
                           .heartbeat_ms = 10,
                           .stream_key = kKey,
                           .barrier_key = kKey});
  std::string begin;
  std::jthread peer([&] {
    coordinator.Welcome();
    while (coordinator.Read(nullptr) != FrameKind::kHeartbeat) continue;
    loop_.Post([&] {
      JobPlan plan = Plan();
      plan.participants = kProcs - 1;
      plane_->AddJob(plan);
    });
    while (coordinator.Read(&begin) != FrameKind::kBegin) continue;
    loop_.Post([&] { loop_.Stop(); });
  });
  loop_.Run();
  BeginBody body{};
  ASSERT_EQ(begin.size(), sizeof body);
  memcpy(&body, begin.data(), sizeof body);
  EXPECT_EQ(body.nprocs, kProcs - 1);
}

TEST_F(DataPlaneTest, ForgetsADoorbellThatAProcessHasShut) {
  ASSERT_EQ(shutdown(doorbell_.processes.get(), SHUT_RDWR), 0);
  loop_.RunOnce();
  bool turned = false;
  loop_.AddTimer(1, [&] { turned = true; });
  int turns = 0;
  while (!turned) {
    loop_.RunOnce();
    turns += 1;
  }
  EXPECT_LT(turns, 100) << "the loop finds the doorbell readable again and again";
}

}  // namespace
}  // namespace bspnow::worker
