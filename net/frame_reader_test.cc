#include "net/frame_reader.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/unique_fd.h"
#include "net/frame_writer.h"

namespace bspnow {
namespace {

std::vector<std::byte> RandomBytes(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> some(bytes);
  for (std::byte& b : some) b = static_cast<std::byte>(random());
  return some;
}

struct Sample {
  FrameHeader header;
  std::vector<std::byte> payload;
};

Sample MakeSample(std::uint64_t sequence, std::size_t bytes) {
  Sample sample{HeaderOf(FrameKind::kBatch), RandomBytes(bytes, static_cast<unsigned>(sequence))};
  sample.header.sequence = sequence;
  sample.header.job = sequence % 2;
  SealFrame(sample.header, sample.payload);
  return sample;
}

std::vector<std::byte> Wire(const Sample& sample) {
  std::vector<std::byte> bytes(sizeof sample.header + sample.payload.size());
  std::memcpy(bytes.data(), &sample.header, sizeof sample.header);
  std::copy(sample.payload.begin(), sample.payload.end(), bytes.begin() + sizeof sample.header);
  return bytes;
}

/// Offers a place for the frames of jobs other than 0, and keeps the received frames.
class RecordingSink final : public FrameSink {
 public:
  std::span<std::byte> Place(const FrameHeader& header,
                             std::span<const std::byte> prefix) override {
    EXPECT_EQ(prefix.size(), kFramePrefixBytes);
    ++asked_;
    if (header.job == 0) return {};
    place_.assign(header.payload_bytes - kFramePrefixBytes, std::byte{0xee});
    return place_;
  }

  FrameFault OnFrame(const Frame& frame) override {
    std::vector<std::byte> payload(frame.payload.begin(), frame.payload.end());
    payload.insert(payload.end(), frame.placed.begin(), frame.placed.end());
    if (!frame.placed.empty()) ++placed_;
    frames_.push_back({frame.header, std::move(payload)});
    if (stop_ != nullptr) stop_->Stop();
    return verdict_;
  }

  std::vector<Sample> frames_;
  std::vector<std::byte> place_;
  int asked_ = 0, placed_ = 0;
  FrameFault verdict_ = FrameFault::kNone;
  FrameReader* stop_ = nullptr;
};

class FrameReaderTest : public testing::Test {
 protected:
  FrameReaderTest() : reader_(sink_) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    in_ = UniqueFd(fds[0]);
    out_ = UniqueFd(fds[1]);
  }

  // Sends all, and reads what has come.
  absl::Status Feed(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(out_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n > 0) bytes = bytes.subspan(static_cast<std::size_t>(n));
      if (const absl::Status status = reader_.Read(in_.get(), nullptr); !status.ok()) return status;
    }
    return reader_.Read(in_.get(), nullptr);
  }

  void ExpectSame(const std::vector<Sample>& samples) {
    ASSERT_EQ(sink_.frames_.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      EXPECT_EQ(sink_.frames_[i].header.sequence, samples[i].header.sequence);
      EXPECT_TRUE(sink_.frames_[i].payload == samples[i].payload) << i;
    }
  }

  RecordingSink sink_;
  FrameReader reader_;
  UniqueFd in_, out_;
};

TEST_F(FrameReaderTest, SingleBytesMakeTheSameFrames) {
  const std::vector<Sample> samples = {MakeSample(1, 0), MakeSample(2, 5), MakeSample(3, 40'000),
                                       MakeSample(4, 33'000), MakeSample(5, 1)};
  for (const Sample& sample : samples) {
    const std::vector<std::byte> wire = Wire(sample);
    for (const std::byte& b : wire) ASSERT_TRUE(Feed(std::span(&b, 1)).ok());
  }
  ExpectSame(samples);
  EXPECT_EQ(sink_.asked_, 2);
  EXPECT_EQ(sink_.placed_, 1);
}

class FrameReaderCutsTest : public FrameReaderTest, public testing::WithParamInterface<int> {};

TEST_P(FrameReaderCutsTest, RandomCutsMakeTheSameFrames) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  std::vector<Sample> samples;
  std::vector<std::byte> stream;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    const std::size_t scale = std::size_t{1} << random() % 21;
    samples.push_back(MakeSample(i, random() % std::min<std::size_t>(scale + 1, 1 << 20)));
    const std::vector<std::byte> wire = Wire(samples.back());
    stream.insert(stream.end(), wire.begin(), wire.end());
  }
  for (std::span<const std::byte> rest(stream); !rest.empty();) {
    const std::size_t n = std::min<std::size_t>(rest.size(), 1 + random() % (1 << random() % 20));
    ASSERT_TRUE(Feed(rest.first(n)).ok());
    rest = rest.subspan(n);
  }
  ExpectSame(samples);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FrameReaderCutsTest, testing::Range(0, 20));

TEST_F(FrameReaderTest, PayloadsBeyondItsLimitAreRefusedBeforeTheyCome) {
  reader_.LimitPayloads(20'000);
  ASSERT_TRUE(Feed(Wire(MakeSample(1, 20'000))).ok());
  const std::vector<std::byte> wire = Wire(MakeSample(2, 20'001));
  EXPECT_TRUE(absl::IsDataLoss(Feed(std::span(wire).first(sizeof(FrameHeader)))));
  EXPECT_EQ(reader_.fault(), FrameFault::kTooLong);
  EXPECT_EQ(sink_.frames_.size(), 1u);
}

TEST_F(FrameReaderTest, SmallFramesAreNeverPlaced) {
  std::vector<std::byte> wire = Wire(MakeSample(1, 10'000));
  ASSERT_TRUE(Feed(std::span(wire).first(5000)).ok());
  ASSERT_TRUE(Feed(std::span(wire).subspan(5000)).ok());
  EXPECT_EQ(sink_.frames_.size(), 1u);
  EXPECT_EQ(sink_.asked_, 0);
}

TEST_F(FrameReaderTest, FlippedBitInPayloadIsNotDelivered) {
  for (const std::size_t bytes : {100, 50'000}) {
    RecordingSink sink;
    FrameReader reader(sink);
    std::vector<std::byte> wire = Wire(MakeSample(9, bytes));
    wire.back() ^= std::byte{4};
    absl::Status status;
    for (std::span<const std::byte> rest(wire); status.ok() && !rest.empty();) {
      const ssize_t n = send(out_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (n > 0) rest = rest.subspan(static_cast<std::size_t>(n));
      status = reader.Read(in_.get(), nullptr);
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(reader.fault(), FrameFault::kBadPayloadCrc);
    EXPECT_EQ(reader.faulty_sequence(), 9u);
    EXPECT_TRUE(sink.frames_.empty());
  }
}

TEST_F(FrameReaderTest, FlippedBitInPrefixChoosesNoPlace) {
  std::vector<std::byte> wire = Wire(MakeSample(9, 50'000));
  wire[sizeof(FrameHeader) + 20] ^= std::byte{1};
  EXPECT_FALSE(Feed(std::span(wire).first(1000)).ok());
  EXPECT_EQ(reader_.fault(), FrameFault::kBadPayloadCrc);
  EXPECT_EQ(sink_.asked_, 0);
}

TEST_F(FrameReaderTest, LengthIsNotBelievedBeforeItIsChecked) {
  Sample sample = MakeSample(1, 10);
  sample.header.payload_bytes = 0xffffffff;
  EXPECT_FALSE(Feed(BytesOf(sample.header)).ok());
  EXPECT_EQ(reader_.fault(), FrameFault::kBadHeaderCrc);
  EXPECT_EQ(reader_.faulty_sequence(), 0u);
}

TEST_F(FrameReaderTest, EndBetweenFramesIsNoBreak) {
  ASSERT_TRUE(Feed(Wire(MakeSample(1, 10))).ok());
  out_.Reset();
  EXPECT_EQ(reader_.Read(in_.get(), nullptr).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(FrameReaderTest, EndInsideAHeaderIsABreak) {
  const std::vector<std::byte> wire = Wire(MakeSample(1, 10));
  ASSERT_TRUE(Feed(std::span(wire).first(10)).ok());
  out_.Reset();
  EXPECT_EQ(reader_.Read(in_.get(), nullptr).code(), absl::StatusCode::kUnavailable);
}

TEST_F(FrameReaderTest, EndInsideALargePayloadIsABreak) {
  const std::vector<std::byte> wire = Wire(MakeSample(1, 40'000));
  ASSERT_TRUE(Feed(std::span(wire).first(30'000)).ok());
  out_.Reset();
  EXPECT_EQ(reader_.Read(in_.get(), nullptr).code(), absl::StatusCode::kUnavailable);
}

TEST_F(FrameReaderTest, NothingIsDeliveredAfterStop) {
  sink_.stop_ = &reader_;
  std::vector<std::byte> wire = Wire(MakeSample(1, 10));
  const std::vector<std::byte> more = Wire(MakeSample(2, 10));
  wire.insert(wire.end(), more.begin(), more.end());
  EXPECT_TRUE(Feed(wire).ok());
  EXPECT_EQ(sink_.frames_.size(), 1u);
}

TEST_F(FrameReaderTest, FaultOfTheSinkClosesTheStream) {
  sink_.verdict_ = FrameFault::kMalformed;
  EXPECT_FALSE(Feed(Wire(MakeSample(3, 10))).ok());
  EXPECT_EQ(reader_.fault(), FrameFault::kMalformed);
  EXPECT_EQ(reader_.faulty_sequence(), 3u);
}

TEST_F(FrameReaderTest, UnplacedFrameLeavesItsPlaceAloneAndComesWhole) {
  const Sample sample = MakeSample(1, 100'000);
  const std::vector<std::byte> wire = Wire(sample);
  ASSERT_TRUE(Feed(std::span(wire).first(50'000)).ok());
  reader_.Unplace(sample.header.job + 1, std::nullopt);  // Another job's.
  reader_.Unplace(sample.header.job, sample.header.group + 1);
  ASSERT_TRUE(Feed(std::span(wire).subspan(50'000, 10'000)).ok());
  EXPECT_NE(sink_.place_[55'000], std::byte{0xee});
  reader_.Unplace(sample.header.job, sample.header.group);
  const std::vector<std::byte> before = std::exchange(sink_.place_, {});
  ASSERT_TRUE(Feed(std::span(wire).subspan(60'000)).ok());
  ExpectSame({sample});
  EXPECT_EQ(sink_.placed_, 0);
}

TEST_F(FrameReaderTest, WriterAndReaderAgreeOverASocketThatBlocks) {
  FrameWriter writer;
  const std::vector<std::byte> big = RandomBytes(300'000, 1);
  std::vector<Sample> samples;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    Sample sample = MakeSample(i, i % 5 == 0 ? 200'000 : i * 3);
    auto* data = sample.payload.data();
    const std::size_t owned = sample.payload.size() / 3, first = owned / 2;
    samples.push_back(std::move(sample));
    const iovec pieces[] = {{data + owned, first},
                            {data + owned + first, samples.back().payload.size() - owned - first}};
    writer.Push(samples.back().header, std::span(data, owned), pieces);
    if (i == 150) writer.OwnAll();
  }
  while (!writer.empty()) {
    ASSERT_TRUE(writer.Write(out_.get(), nullptr).ok());
    ASSERT_TRUE(reader_.Read(in_.get(), nullptr).ok());
  }
  while (sink_.frames_.size() < samples.size()) ASSERT_TRUE(reader_.Read(in_.get(), nullptr).ok());
  ExpectSame(samples);
  EXPECT_EQ(writer.queued_bytes(), 0u);
  EXPECT_EQ(writer.frames_written(), 200u);
  EXPECT_EQ(writer.bytes_written(), reader_.bytes_read());
}

TEST_F(FrameReaderTest, OwnedFramesDoNotLookAtTheirMemoryAgain) {
  FrameWriter writer;
  Sample sample = MakeSample(1, 500'000);  // More than the socket takes at once.
  const std::vector<std::byte> original = sample.payload;
  const iovec piece{sample.payload.data(), sample.payload.size()};
  writer.Push(sample.header, {}, std::span(&piece, 1));
  ASSERT_TRUE(writer.Write(out_.get(), nullptr).ok());
  ASSERT_FALSE(writer.empty());
  writer.OwnAll();
  std::fill(sample.payload.begin(), sample.payload.end(), std::byte{0});
  while (sink_.frames_.empty()) {
    ASSERT_TRUE(reader_.Read(in_.get(), nullptr).ok());
    ASSERT_TRUE(writer.Write(out_.get(), nullptr).ok());
  }
  EXPECT_TRUE(sink_.frames_[0].payload == original);
}

TEST_F(FrameReaderTest, WritingToAClosedSocketIsAnError) {
  FrameWriter writer;
  writer.Push(HeaderOf(FrameKind::kAck), {}, {});
  in_.Reset();
  EXPECT_EQ(writer.Write(out_.get(), nullptr).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace bspnow
