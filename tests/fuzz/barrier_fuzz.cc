// Fuzzes the coordinator's barrier with Begins and Arrives that workers make up: right ones, nearly
// right ones and noise. No barrier may be released before every host has arrived at it.
#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "coordinator/core/barrier.h"
#include "net/frame_body.h"

namespace bspnow {
namespace {

using coordinator::Barrier;
using coordinator::BarrierHost;
using coordinator::BarrierVerdict;

constexpr std::uint32_t kHosts = 3;
constexpr std::uint32_t kProcesses = 5;  // Pid i lives on host i % kHosts, worker i % kHosts + 1.

std::vector<BarrierHost> Hosts() {
  std::vector<BarrierHost> hosts;
  for (std::uint32_t host = 0; host < kHosts; ++host) {
    hosts.push_back({WorkerId{host + 1}, {}});
    for (std::uint32_t pid = host; pid < kProcesses; pid += kHosts)
      hosts.back().pids.push_back(Pid{pid});
  }
  return hosts;
}

std::vector<std::byte> MakeArrive(FuzzedDataProvider& input, const Barrier& barrier,
                                  std::uint32_t host) {
  std::vector<std::byte> payload(sizeof(ArriveBody));
  ArriveBody body{};
  const std::vector<std::uint8_t> noise = input.ConsumeBytes<std::uint8_t>(sizeof body);
  if (!noise.empty() && input.ConsumeBool()) std::memcpy(&body, noise.data(), noise.size());
  if (input.ConsumeBool()) body.barrier = barrier.current();
  if (input.ConsumeBool()) {
    body.processes = 0;
    for (std::uint32_t pid = host; pid < barrier.processes(); pid += kHosts) ++body.processes;
  }
  body.peers = input.ConsumeIntegralInRange<std::uint32_t>(0, 4);
  body.ending_bytes = input.ConsumeIntegralInRange<std::uint32_t>(0, 2);
  std::memcpy(payload.data(), &body, sizeof body);
  for (std::uint32_t i = 0; i < body.peers; ++i) {
    const PeerOwed owed{input.ConsumeIntegralInRange<std::uint32_t>(0, 4), 0,
                        input.ConsumeIntegral<std::uint64_t>()};
    const auto bytes = std::as_bytes(std::span(&owed, 1));
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  }
  for (std::uint32_t i = 0; i < body.ending_bytes; ++i)
    payload.push_back(static_cast<std::byte>(input.ConsumeIntegral<std::uint8_t>()));
  return payload;
}

class Run {
 public:
  explicit Run(FuzzedDataProvider& input)
      : input_(input), barrier_({.nprocs = kProcesses, .hosts = Hosts()}) {}

  void Step() {
    const std::uint32_t host = input_.ConsumeIntegralInRange<std::uint32_t>(0, kHosts);
    const WorkerId worker{host + 1};  // The last one hosts nothing.
    if (input_.ConsumeIntegralInRange(0, 7) == 0) {
      barrier_.OnBegin(worker, input_.ConsumeIntegralInRange<std::uint32_t>(0, kProcesses + 1));
      return;
    }
    const std::vector<std::byte> payload = MakeArrive(input_, barrier_, host);
    const auto arrive = ArriveView::Decode(payload);
    if (arrive.has_value()) Arrive(host, worker, *arrive);
  }

 private:
  void Arrive(std::uint32_t host, WorkerId worker, const ArriveView& arrive) {
    const std::uint64_t before = barrier_.current();
    const BarrierVerdict verdict = barrier_.OnArrive(worker, arrive);
    const bool counted = verdict == BarrierVerdict::kNothing || verdict == BarrierVerdict::kRelease;
    if (counted && arrive.body().barrier == before) arrived_[host] = before + 1;
    if (verdict != BarrierVerdict::kRelease) {
      BSP_CHECK_OP(barrier_.current(), ==, before);
      return;
    }
    BSP_CHECK_OP(barrier_.current(), ==, before + 1);
    for (std::uint32_t other = 0; other < kHosts; ++other) {
      if (!barrier_.takes_part(other)) continue;
      BSP_CHECK_OP(arrived_[other], ==, before + 1);
      BSP_CHECK_OP(barrier_.release(other).size(), >=, sizeof(ReleaseBody));
    }
  }

  FuzzedDataProvider& input_;
  Barrier barrier_;
  std::array<std::uint64_t, kHosts + 1> arrived_{};  ///< Barriers at which each host has arrived.
};

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  FuzzedDataProvider input(data, bytes);
  bspnow::Run run(input);
  while (input.remaining_bytes() > 0) run.Step();
  return 0;
}
