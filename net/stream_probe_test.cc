#include "net/stream_probe.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "net/testing/stream_fixture.h"
#include "net/testing/stream_proxy.h"

namespace bspnow {
namespace {

class StreamProbeTest : public StreamTest {
 protected:
  /// Why `target` cannot be reached at the address.
  std::string Probe(WorkerId target, const SocketAddress& address) {
    std::optional<std::string> answer;
    auto probe = std::make_unique<StreamProbe>(loop_, resolver_,
                                               StreamProbeOptions{.key = key_,
                                                                  .self = kSender,
                                                                  .target = target,
                                                                  .address = address.host_port(),
                                                                  .socket = {},
                                                                  .answer_ms = answer_ms_},
                                               [&](const std::string& failure) {
                                                 answer = failure;
                                                 probe_.reset();
                                               });
    probe_ = std::move(probe);
    RunUntil([&] { return answer.has_value(); });
    return answer.value_or("");
  }

  Resolver resolver_{loop_};
  StreamKey key_ = kStreamKey;
  std::uint64_t answer_ms_ = 10'000;  ///< Less where none comes.
  std::unique_ptr<StreamProbe> probe_;
};

TEST_F(StreamProbeTest, IsWelcome) { EXPECT_EQ(Probe(kReceiver, receiver_.address()), ""); }

TEST_F(StreamProbeTest, NoticesThatAnotherWorkerIsThere) {
  EXPECT_EQ(Probe(WorkerId{7}, receiver_.address()),
            receiver_.address().ToString() + ": refused: you want worker 7, this is 2");
}

TEST_F(StreamProbeTest, NoticesThatAWorkerOfAnotherClusterIsThere) {
  key_ = kOtherStreamKey;
  EXPECT_EQ(Probe(kReceiver, receiver_.address()),
            receiver_.address().ToString() + ": frame refused: does not prove the key");
}

TEST_F(StreamProbeTest, IsNotWelcomeWithoutAKey) {
  key_ = StreamKey();
  EXPECT_NE(Probe(kReceiver, receiver_.address()), "");
}

TEST_F(StreamProbeTest, NoticesThatNobodyIsThere) {
  const SocketAddress closed = *LocalAddress(Listen(*Resolve({"127.0.0.1", 0}), {})->get());
  EXPECT_NE(Probe(kReceiver, closed).find("onnection refused"), std::string::npos);
}

TEST_F(StreamProbeTest, WaitsForAnAnswerOnlySoLong) {
  answer_ms_ = 300;
  const UniqueFd silent = *Listen(*Resolve({"127.0.0.1", 0}), {});
  EXPECT_EQ(Probe(kReceiver, *LocalAddress(silent.get())),
            LocalAddress(silent.get())->ToString() + ": no answer in 0.3 s");
}

TEST_F(StreamProbeTest, NoticesThatLargePacketsAreLost) {
  Proxy proxy(loop_, receiver_.address(), 1);
  proxy.pass_bytes_max = 1000;
  answer_ms_ = 2000;  // The handshake has that long.
  EXPECT_EQ(Probe(kReceiver, proxy.address()),
            proxy.address().ToString() +
                ": small messages arrive, but one of 16384 bytes has no answer in 2 s: large "
                "packets may be lost on the way (see MTU in docs/operations.md)");
  proxy.pass_bytes_max = 20'000;
  answer_ms_ = 10'000;
  EXPECT_EQ(Probe(kReceiver, proxy.address()), "");
}

TEST_F(StreamProbeTest, SaysThatANameIsUnknown) {
  std::optional<std::string> answer;
  Resolver resolver(loop_, [](const HostPort&) -> Resolver::Answer {
    return absl::NotFoundError("no host has this name");
  });
  const StreamProbe probe(loop_, resolver,
                          {.key = key_,
                           .self = kSender,
                           .target = kReceiver,
                           .address = {.host = "nowhere", .port = 1},
                           .socket = {}},
                          [&](const std::string& failure) { answer = failure; });
  RunUntil([&] { return answer.has_value(); });
  EXPECT_EQ(answer, "no host has this name");
}

}  // namespace
}  // namespace bspnow
