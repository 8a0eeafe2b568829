// For tests of streams: a sink that keeps received frames.
#ifndef NET_STREAM_FIXTURE_H_
#define NET_STREAM_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "net/receiving_streams.h"
#include "net/sending_stream.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/testing/loop_fixture.h"

namespace bspnow {

inline constexpr WorkerId kSender{1};
inline constexpr WorkerId kReceiver{2};
inline const StreamKey kStreamKey = *StreamKey::FromBytes(std::string(32, 'k'));
inline const StreamKey kJobKey = *StreamKey::FromBytes(std::string(32, 'j'));
inline const StreamKey kOtherStreamKey = *StreamKey::FromBytes(std::string(32, 'o'));

/// Keeps received frames, and offers a place to jobs with an odd number.
class KeepingSink final : public BatchSink {
 public:
  struct Came {
    FrameHeader header;
    BatchPiece piece;
    std::string data;
  };

  std::span<std::byte> Place(WorkerId, const FrameHeader& header, const BatchPiece&) override {
    if (header.job % 2 == 0) return {};
    place_.resize(header.payload_bytes - sizeof(BatchPiece));
    ++places;
    return place_;
  }

  FrameFault OnBatch(WorkerId from, const FrameHeader& header, const BatchPiece& piece,
                     std::span<const std::byte> data) override {
    EXPECT_EQ(from, kSender);
    came.push_back(
        {header, piece, std::string(reinterpret_cast<const char*>(data.data()), data.size())});
    return verdict;
  }

  const StreamKey* KeyOf(JobId job, Epoch) override {
    return knows_job && job == JobId{7} ? &kJobKey : nullptr;
  }
  bool WantsLane(const LaneName&) override { return wants_lanes; }
  void TakeLane(const LaneName& name, UniqueFd socket) override {
    EXPECT_EQ(name.from, kSender);
    EXPECT_EQ(name.job, JobId{7});
    EXPECT_EQ(name.epoch, Epoch{3});
    EXPECT_EQ(name.number, 5u);
    lane = std::move(socket);
    if (first_on_lane.empty()) return;
    const auto bytes = static_cast<ssize_t>(first_on_lane.size());
    EXPECT_EQ(send(lane.get(), first_on_lane.data(), first_on_lane.size(), MSG_NOSIGNAL), bytes);
  }

  bool knows_job = true;  ///< 7, with kJobKey.
  bool wants_lanes = false;
  std::string first_on_lane;  ///< Sent as soon as there is one.
  UniqueFd lane;
  std::vector<Came> came;
  int places = 0;
  FrameFault verdict = FrameFault::kNone;

 private:
  std::vector<std::byte> place_;
};

/// Of silence, until a sender connects again. A loaded machine may pause both ends for so long: a
/// test of one connection needs the other.
inline constexpr std::uint64_t kSoonMs = 200;
inline constexpr std::uint64_t kNoStallMs = 60'000;

/// Of a sender that connects to the receiver there. `key` stays.
inline SendingStreamOptions OptionsOfSender(const StreamKey& key, const SocketAddress& address) {
  return {.key = key,
          .self = kSender,
          .incarnation = 11,
          .target = kReceiver,
          .target_name = "w2",
          .address = address.host_port(),
          .socket = SocketOptions{},
          .stall_ms = kSoonMs};
}

class StreamTest : public LoopTest {
 protected:
  StreamTest()
      : receiver_(loop_, SocketOptions{}, sink_,
                  [this](const std::string& fact) { facts_.push_back(fact); }) {
    EXPECT_TRUE(receiver_.Listen(*Resolve({"127.0.0.1", 0})).ok());
    receiver_.SetSelf(kReceiver, kStreamKey);
  }

  KeepingSink sink_;
  std::vector<std::string> facts_;
  ReceivingStreams receiver_;
};

}  // namespace bspnow

#endif  // NET_STREAM_FIXTURE_H_
