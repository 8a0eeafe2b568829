// Fuzzes FrameReader. The input is a stream of noise and of frames with right checksums, whatever
// else is in them; it also decides where the stream is cut and which payloads get a place. What is
// delivered must be what a simple decoder finds.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/unique_fd.h"
#include "net/frame_reader.h"

namespace bspnow {
namespace {

constexpr std::size_t kPayloadBytesMax = 200'000;  // Large enough for all that a reader does.

struct Delivered {
  FrameHeader header;
  std::vector<std::byte> payload;
};

bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

class Sink final : public FrameSink {
 public:
  explicit Sink(FuzzedDataProvider& input) : input_(input) {}

  std::span<std::byte> Place(const FrameHeader& header,
                             std::span<const std::byte> prefix) override {
    BSP_CHECK(CheckHeader(header) == FrameFault::kNone);
    BSP_CHECK(CheckPrefix(header, prefix) == FrameFault::kNone);
    if (input_.ConsumeBool()) return {};
    place_.assign(header.payload_bytes - kFramePrefixBytes, std::byte{0});
    return place_;
  }

  FrameFault OnFrame(const Frame& frame) override {
    Delivered& delivered = frames_.emplace_back(Delivered{frame.header, {}});
    delivered.payload.assign(frame.payload.begin(), frame.payload.end());
    delivered.payload.insert(delivered.payload.end(), frame.placed.begin(), frame.placed.end());
    return FrameFault::kNone;
  }

  const std::vector<Delivered>& frames() const { return frames_; }

 private:
  FuzzedDataProvider& input_;
  std::vector<std::byte> place_;
  std::vector<Delivered> frames_;
};

std::vector<std::byte> MakeStream(FuzzedDataProvider& input) {
  std::vector<std::byte> stream;
  const auto append = [&](std::span<const std::byte> bytes) {
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  };
  for (int i = input.ConsumeIntegralInRange(0, 8); i > 0; --i) {
    if (input.ConsumeBool()) {
      const std::vector<std::uint8_t> noise = input.ConsumeBytes<std::uint8_t>(100);
      append(std::as_bytes(std::span(noise)));
      continue;
    }
    FrameHeader header;
    const std::vector<std::uint8_t> fields = input.ConsumeBytes<std::uint8_t>(sizeof header);
    if (!fields.empty()) std::memcpy(&header, fields.data(), fields.size());
    header.kind = input.ConsumeIntegralInRange<std::uint16_t>(0, 16);
    const std::size_t bytes = input.ConsumeIntegralInRange<std::size_t>(0, kPayloadBytesMax);
    std::vector<std::uint8_t> payload = input.ConsumeBytes<std::uint8_t>(100);
    payload.resize(input.ConsumeBool() ? bytes : payload.size());
    SealFrame(header, std::as_bytes(std::span(payload)));
    append(BytesOf(header));
    append(std::as_bytes(std::span(payload)));
  }
  if (!stream.empty() && input.ConsumeBool())
    stream[input.ConsumeIntegralInRange<std::size_t>(0, stream.size() - 1)] ^= std::byte{8};
  return stream;
}

// What may be delivered: everything up to the first fault.
std::vector<Delivered> Decode(std::span<const std::byte> stream) {
  std::vector<Delivered> frames;
  while (stream.size() >= sizeof(FrameHeader)) {
    FrameHeader header;
    std::memcpy(&header, stream.data(), sizeof header);
    stream = stream.subspan(sizeof header);
    if (CheckHeader(header) != FrameFault::kNone || stream.size() < header.payload_bytes) break;
    const auto payload = stream.first(header.payload_bytes);
    if (CheckPayload(header, payload) != FrameFault::kNone) break;
    frames.push_back({header, {payload.begin(), payload.end()}});
    stream = stream.subspan(header.payload_bytes);
  }
  return frames;
}

void Run(FuzzedDataProvider& input) {
  int fds[2];
  BSP_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
  const UniqueFd in(fds[0]), out(fds[1]);
  const std::vector<std::byte> stream = MakeStream(input);
  const std::size_t part_max = input.ConsumeBool() ? 512 : 1 << 18;
  Sink sink(input);
  FrameReader reader(sink);
  absl::Status status;
  for (std::span<const std::byte> rest(stream); !rest.empty() && status.ok();) {
    const std::size_t part =
        std::min(rest.size(),
                 std::max<std::size_t>(1, input.ConsumeIntegralInRange<std::size_t>(0, part_max)));
    const ssize_t n = send(out.get(), rest.data(), part, MSG_NOSIGNAL);
    if (n > 0) rest = rest.subspan(static_cast<std::size_t>(n));
    status = reader.Read(in.get(), nullptr);
  }
  if (status.ok()) status = reader.Read(in.get(), nullptr);
  const std::vector<Delivered> expected = Decode(stream);
  BSP_CHECK_OP(sink.frames().size(), ==, expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    BSP_CHECK(SameBytes(BytesOf(sink.frames()[i].header), BytesOf(expected[i].header)));
    BSP_CHECK(SameBytes(sink.frames()[i].payload, expected[i].payload));
  }
}

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  FuzzedDataProvider input(data, bytes);
  bspnow::Run(input);
  return 0;
}
