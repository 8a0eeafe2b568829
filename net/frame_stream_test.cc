#include "net/frame_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/listener.h"
#include "net/testing/loop_fixture.h"

namespace bspnow {
namespace {

std::span<const std::byte> Text(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One end of a stream and what happened to it.
struct End {
  FrameStreamEvents Events() {
    return {.connected = [this] { ++connected; },
            .frame =
                [this](const FrameHeader& header, std::span<const std::byte> payload) {
                  kinds.push_back(header.kind);
                  payloads.push_back(AsText(payload));
                  return verdict;
                },
            .closed = [this](const absl::Status& reason) { closed.push_back(reason); }};
  }

  std::unique_ptr<FrameStream> stream;
  int connected = 0;
  std::vector<std::uint16_t> kinds;
  std::vector<std::string> payloads;
  std::vector<absl::Status> closed;
  FrameFault verdict = FrameFault::kNone;
};

const StreamKey kKey = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));

class FrameStreamTest : public LoopTest {
 protected:
  FrameStreamTest() {
    auto listener = Listener::Create(
        loop_, *Resolve({"127.0.0.1", 0}), SocketOptions{}, [this](Accepted accepted) {
          server_.stream =
              std::make_unique<FrameStream>(loop_, std::move(accepted.fd), kKey, server_.Events());
        });
    EXPECT_TRUE(listener.ok()) << listener.status();
    listener_ = *std::move(listener);
    client_.stream = std::make_unique<FrameStream>(loop_, listener_->address(), SocketOptions{},
                                                   kKey, client_.Events());
  }

  std::unique_ptr<Listener> listener_;
  End client_, server_;
};

TEST_F(FrameStreamTest, SendsBothWaysAlsoBeforeItIsConnected) {
  client_.stream->Send(HeaderOf(FrameKind::kHello), Text("hello"));
  RunUntil([&] { return server_.payloads.size() == 1; });
  EXPECT_EQ(server_.payloads[0], "hello");
  EXPECT_EQ(client_.connected, 1);
  server_.stream->Send(HeaderOf(FrameKind::kWelcome), {});
  RunUntil([&] { return client_.kinds.size() == 1; });
  EXPECT_EQ(client_.payloads[0], "");
}

TEST_F(FrameStreamTest, WhatTheSocketDoesNotTakeIsSentLater) {
  RunUntil([&] { return server_.stream && client_.stream->connected(); });
  const std::string big(1 << 20, 'x');
  for (int i = 0; i < 40; ++i) client_.stream->Send(HeaderOf(FrameKind::kBatch), Text(big));
  EXPECT_GT(client_.stream->queued_bytes(), 0u);
  RunUntil([&] { return server_.payloads.size() == 40; });
  EXPECT_EQ(server_.payloads.back(), big);
  EXPECT_EQ(client_.stream->queued_bytes(), 0u);
}

TEST_F(FrameStreamTest, PeerThatDoesNotReadIsGivenUp) {
  RunUntil([&] { return server_.stream && client_.stream->connected(); });
  const std::string big(1 << 20, 'x');
  for (int i = 0; i < 200 && client_.stream->open(); ++i)
    client_.stream->Send(HeaderOf(FrameKind::kBatch), Text(big));
  EXPECT_FALSE(client_.stream->open());
  EXPECT_TRUE(client_.closed.empty()) << "never from inside Send";
  RunUntil([&] { return !client_.closed.empty(); });
  EXPECT_EQ(client_.closed[0].code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(FrameStreamTest, CloseTellsThePeerWhy) {
  RunUntil([&] { return server_.stream && client_.stream->connected(); });
  client_.stream->Close("no such worker");
  RunUntil([&] { return !server_.closed.empty(); });
  ASSERT_EQ(server_.payloads.size(), 1u);
  EXPECT_EQ(server_.kinds[0], static_cast<std::uint16_t>(FrameKind::kAbort));
  EXPECT_EQ(server_.payloads[0], "no such worker");
  EXPECT_TRUE(client_.closed.empty());
}

TEST_F(FrameStreamTest, FailureIsNotReportedAfterClose) {
  RunUntil([&] { return server_.stream && client_.stream->connected(); });
  const std::string big(1 << 20, 'x');
  while (client_.stream->open()) client_.stream->Send(HeaderOf(FrameKind::kBatch), Text(big));
  client_.stream->Close("enough");
  RunUntil([&] { return !server_.closed.empty(); });
  EXPECT_TRUE(client_.closed.empty());
}

TEST_F(FrameStreamTest, FaultClosesTheStreamAndIsNamed) {
  server_.verdict = FrameFault::kMalformed;
  client_.stream->Send(HeaderOf(FrameKind::kHello), {});
  RunUntil([&] { return !server_.closed.empty() && !client_.closed.empty(); });
  EXPECT_EQ(server_.closed[0].code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(server_.stream->fault(), FrameFault::kMalformed);
}

TEST_F(FrameStreamTest, RefusedConnectionIsReportedOnce) {
  const SocketAddress nobody = listener_->address();
  RunUntil([&] { return server_.stream != nullptr; });
  listener_.reset();
  End lonely;
  lonely.stream =
      std::make_unique<FrameStream>(loop_, nobody, SocketOptions{}, kKey, lonely.Events());
  lonely.stream->Send(HeaderOf(FrameKind::kHello), {});
  RunUntil([&] { return !lonely.closed.empty(); });
  EXPECT_EQ(lonely.connected, 0);
  EXPECT_EQ(lonely.closed.size(), 1u);
}

TEST_F(FrameStreamTest, MayBeDestroyedWhenItIsClosed) {
  End brief;
  FrameStreamEvents events = brief.Events();
  bool gone = false;
  events.closed = [&](const absl::Status&) {
    brief.stream.reset();
    gone = true;
  };
  RunUntil([&] { return server_.stream != nullptr; });
  server_.stream.reset();
  brief.stream = std::make_unique<FrameStream>(loop_, listener_->address(), SocketOptions{}, kKey,
                                               std::move(events));
  RunUntil([&] { return server_.stream != nullptr; });
  server_.stream->Close("");
  RunUntil([&] { return gone; });
}

}  // namespace
}  // namespace bspnow
