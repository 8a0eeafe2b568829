// Fuzzes the arrivals that nodes send each other. Whatever comes, a barrier is over only when all
// have arrived, and nobody owes itself anything.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "worker/exchange/direct_barrier.h"

namespace bspnow::worker {
namespace {

constexpr std::uint32_t kHosts = 3;
constexpr std::uint32_t kBitsMax = 64;

// With some fields that make sense, as else nothing would pass.
std::vector<std::byte> MakeArrival(FuzzedDataProvider& input, std::uint32_t processes) {
  PeerArrival body{};
  const std::vector<std::uint8_t> noise = input.ConsumeBytes<std::uint8_t>(sizeof body);
  if (!noise.empty()) memcpy(&body, noise.data(), noise.size());
  if (input.ConsumeBool()) body.barrier = input.ConsumeIntegralInRange<std::uint64_t>(0, 6);
  if (input.ConsumeBool()) body.processes = processes;
  if (input.ConsumeBool()) body.with_data = body.with_gets = body.with_votes = 0;
  if (input.ConsumeBool()) body.with_groups = 0;
  if (input.ConsumeBool()) body.ending = input.ConsumeIntegralInRange<std::uint32_t>(0, processes);
  std::vector<std::byte> bytes(sizeof body);
  memcpy(bytes.data(), &body, sizeof body);
  for (const std::uint8_t byte :
       input.ConsumeBytes<std::uint8_t>(input.ConsumeIntegralInRange<std::size_t>(0, kBitsMax / 8)))
    bytes.push_back(std::byte{byte});
  return bytes;
}

void Run(FuzzedDataProvider& input) {
  DirectBarrier barrier(0, kHosts);
  const std::vector<std::uint32_t> taking_part{2, 1, 3};
  std::vector<std::uint64_t> arrived(kHosts);
  std::uint64_t over = 0;
  while (input.remaining_bytes() > 0) {
    const auto host = input.ConsumeIntegralInRange<std::uint32_t>(0, kHosts);
    const std::uint32_t processes = host < kHosts ? taking_part[host] : 1;
    if (barrier.OnArrival(host, MakeArrival(input, processes), processes)) {
      BSP_CHECK(host < kHosts);
      arrived[host] += 1;
      BSP_CHECK(arrived[host] <= over + 2);
    }
    const auto outcome = barrier.Finish(taking_part);
    if (!outcome) continue;
    over += 1;
    for (std::uint32_t i = 0; i < kHosts; ++i) BSP_CHECK(arrived[i] >= over);
    BSP_CHECK(outcome->frames[0] == 0);
    for (std::uint32_t pid = 0; pid < kBitsMax + 8; ++pid) barrier.InEnd(pid % kHosts, Pid{pid});
  }
}

}  // namespace
}  // namespace bspnow::worker

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  FuzzedDataProvider input(data, bytes);
  bspnow::worker::Run(input);
  return 0;
}
