#include "net/lane_connector.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/frame_check.h"
#include "net/listener.h"
#include "net/stream_proof.h"
#include "net/testing/stream_fixture.h"

namespace bspnow {
namespace {

class LaneConnectorTest : public StreamTest {
 protected:
  LaneConnectorOptions To(const SocketAddress& address) {
    return {.key = key_,
            .self = kSender,
            .target = kReceiver,
            .job = JobId{7},
            .epoch = Epoch{3},
            .number = 5,
            .address = address.host_port(),
            .socket = {},
            .answer_ms = 300};
  }

  void Connect(LaneConnectorOptions options) {
    answer_.reset();
    connector_ = std::make_unique<LaneConnector>(loop_, resolver_, std::move(options),
                                                 [this](absl::StatusOr<UniqueFd> socket) {
                                                   connector_.reset();
                                                   answer_ = std::move(socket);
                                                 });
  }
  std::string FailureOf(LaneConnectorOptions options) {
    Connect(std::move(options));
    RunUntil([&] { return answer_.has_value(); });
    return std::string(answer_->status().message());
  }

  StreamKey key_ = KeyOfLanes(kStreamKey, kJobKey);
  Resolver resolver_{loop_};
  std::unique_ptr<LaneConnector> connector_;
  std::optional<absl::StatusOr<UniqueFd>> answer_;
};

TEST_F(LaneConnectorTest, GivesASocketThatNobodyElseReads) {
  sink_.wants_lanes = true;
  Connect(To(receiver_.address()));
  RunUntil([&] { return answer_.has_value() && sink_.lane.valid(); });
  ASSERT_TRUE(answer_->ok()) << answer_->status();
  const int near = (*answer_)->get();
  const int far = sink_.lane.get();
  for (const auto& [from, to] : {std::pair(near, far), std::pair(far, near)}) {
    ASSERT_EQ(send(from, "lane", 4, MSG_NOSIGNAL), 4);
    for (int i = 0; i < 3; ++i) {
      loop_.AddTimer(1, [] {});
      loop_.RunOnce();
    }
    char bytes[8];
    fcntl(to, F_SETFL, 0);
    EXPECT_EQ(recv(to, bytes, sizeof bytes, 0), 4);
  }
}

TEST_F(LaneConnectorTest, LeavesWhatFollowsTheWelcomeInTheSocket) {
  sink_.wants_lanes = true;
  sink_.first_on_lane = "at once";
  Connect(To(receiver_.address()));
  RunUntil([&] { return answer_.has_value(); });
  ASSERT_TRUE(answer_->ok()) << answer_->status();
  char bytes[16];
  fcntl((*answer_)->get(), F_SETFL, 0);
  EXPECT_EQ(recv((*answer_)->get(), bytes, sizeof bytes, 0), 7);
}

TEST_F(LaneConnectorTest, NamesTheRefusal) {
  EXPECT_EQ(FailureOf(To(receiver_.address())),
            receiver_.address().ToString() + ": refused: no lane is wanted");
}

// One key without the other opens nothing.
TEST_F(LaneConnectorTest, SendsNothingMoreToOneThatDoesNotProveBothKeys) {
  sink_.wants_lanes = true;
  for (const StreamKey& key : {kStreamKey, kJobKey, KeyOfLanes(kOtherStreamKey, kJobKey),
                               KeyOfLanes(kStreamKey, kOtherStreamKey)}) {
    key_ = key;
    EXPECT_EQ(FailureOf(To(receiver_.address())),
              receiver_.address().ToString() +
                  ": does not prove the key of the job, which may not have begun there");
    EXPECT_FALSE(sink_.lane.valid());
  }
}

// The job has not begun there: it is tried again, and is nobody's fault.
TEST_F(LaneConnectorTest, IsNotWelcomeAtOneThatDoesNotKnowTheJob) {
  sink_.wants_lanes = true;
  sink_.knows_job = false;
  EXPECT_NE(FailureOf(To(receiver_.address())).find("may not have begun"), std::string::npos);
  RunUntil([&] { return receiver_.counts().refused == 1; });
  EXPECT_FALSE(sink_.lane.valid());
  EXPECT_TRUE(facts_.empty());
}

// A Welcome is easily said.
TEST_F(LaneConnectorTest, TrustsNoWelcomeWithoutAProof) {
  std::vector<UniqueFd> accepted;
  auto listener = Listener::Create(loop_, *Resolve({"127.0.0.1", 0}), {}, [&](Accepted one) {
    FrameHeader welcome = HeaderOf(FrameKind::kWelcome);
    SealFrame(welcome, std::span<const std::byte>());
    EXPECT_EQ(send(one.fd.get(), &welcome, sizeof welcome, MSG_NOSIGNAL), ssize_t{sizeof welcome});
    accepted.push_back(std::move(one.fd));
  });
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ(FailureOf(To((*listener)->address())),
            (*listener)->address().ToString() + ": malformed");
}

TEST_F(LaneConnectorTest, NoticesThatNobodyIsThere) {
  const SocketAddress closed = *LocalAddress(Listen(*Resolve({"127.0.0.1", 0}), {})->get());
  EXPECT_NE(FailureOf(To(closed)).find("onnection refused"), std::string::npos);
}

TEST_F(LaneConnectorTest, WaitsForAnAnswerOnlySoLong) {
  const UniqueFd silent = *Listen(*Resolve({"127.0.0.1", 0}), {});
  EXPECT_EQ(FailureOf(To(*LocalAddress(silent.get()))),
            LocalAddress(silent.get())->ToString() + ": no answer in 0.3 s");
}

TEST_F(LaneConnectorTest, CanBeGivenUpAtAnyTime) {
  sink_.wants_lanes = true;
  for (int turns = 0; turns < 6; ++turns) {
    Connect(To(receiver_.address()));
    for (int i = 0; i < turns && connector_; ++i) {
      loop_.AddTimer(1, [] {});
      loop_.RunOnce();
    }
    connector_.reset();
  }
  EXPECT_EQ(FailureOf({.key = key_,
                       .self = kSender,
                       .target = WorkerId{9},
                       .address = receiver_.address().host_port(),
                       .socket = {}}),
            receiver_.address().ToString() + ": refused: you want worker 9, this is 2");
}

}  // namespace
}  // namespace bspnow
