// Fuzzes what comes by a lane. Whatever it is, a frame that is taken lies within its bytes, and its
// entries are of processes that live where they should.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "runtime/link/crc32c.h"
#include "runtime/link/lane_completion.h"
#include "runtime/link/testing/node_memory.h"

namespace bspnow {
namespace {

constexpr std::uint32_t kHosts = 2;
constexpr std::uint32_t kProcesses = 4;
constexpr std::uint32_t kHostOf[kProcesses] = {0, 1, 0, 1};
constexpr std::uint32_t kBarrier = 3;

// With some fields that make sense, as else nothing would pass.
std::vector<std::byte> MakeFrame(FuzzedDataProvider& input) {
  LaneFrame head{};
  const std::vector<std::uint8_t> noise = input.ConsumeBytes<std::uint8_t>(sizeof head);
  if (!noise.empty()) memcpy(&head, noise.data(), noise.size());
  if (input.ConsumeBool()) head.entries = input.ConsumeIntegralInRange<std::uint32_t>(0, 4);
  if (input.ConsumeBool()) head.votes = input.ConsumeIntegralInRange<std::uint32_t>(0, 4);
  const bool sealed = input.ConsumeBool();
  const bool answers = input.ConsumeBool();
  std::vector<std::byte> bytes(sizeof head);
  for (const std::uint8_t byte : input.ConsumeBytes<std::uint8_t>(1024))
    bytes.push_back(std::byte{byte});
  bytes.resize(bytes.size() / 16 * 16);
  if (sealed) {
    head.magic = answers ? kLaneAnswersMagic : kLaneMagic;
    head.host = 1;
    head.barrier = kBarrier;
    head.bytes = static_cast<std::uint32_t>(bytes.size());
  }
  memcpy(bytes.data(), &head, sizeof head);
  if (sealed) {
    constexpr std::size_t kFrom = offsetof(LaneFrame, bytes);
    head.crc32c = Crc32c(0, bytes.data() + kFrom, bytes.size() - kFrom);
    memcpy(bytes.data(), &head, sizeof head);
  }
  return bytes;
}

void Run(FuzzedDataProvider& input) {
  static const Segment segment = SegmentOfNode(0, kHostOf);
  const LaneShape shape{.segment = &segment, .self = 0, .hosts = kHosts, .p = kProcesses};
  while (input.remaining_bytes() > 0) {
    const std::vector<std::byte> bytes = MakeFrame(input);
    std::uint32_t frame_bytes = 0;
    if (LookAtLaneBytes(shape, 1, bytes.data(), bytes.size(), frame_bytes) != LaneBytes::kWhole)
      continue;
    BSP_CHECK(frame_bytes <= bytes.size());
    if (reinterpret_cast<const LaneFrame*>(bytes.data())->magic == kLaneAnswersMagic) {
      PublishLaneAnswers(shape, 1, bytes.data());
      continue;
    }
    BSP_CHECK(ComposeLaneFrames(shape, kBarrier, LaneRoute::kAsOwed));
    LaneFrames frames = FramesInSegment(shape, kBarrier);
    frames.of[1] = bytes.data();
    CompleteLaneBarrier(shape, kBarrier, frames);
    RemoveLaneEntries(segment, (kBarrier - 1) & 1);
    for (std::uint32_t from = 0; from < kProcesses; ++from)
      for (std::uint32_t to = 0; to < kProcesses; ++to)
        BSP_CHECK(segment.entry(Pid{from}, Pid{to}, (kBarrier - 1) & 1).bytes_to == 0);
  }
}

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  FuzzedDataProvider input(data, bytes);
  bspnow::Run(input);
  return 0;
}
