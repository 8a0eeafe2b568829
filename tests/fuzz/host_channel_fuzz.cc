// Fuzzes what bsp-worker and bsp-host decode of each other's messages. What they accept
// is the same after it is encoded and decoded again.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "worker/host/host_channel.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view packet(reinterpret_cast<const char*>(data), bytes);
  if (const auto plan = bspnow::worker::DecodePlan(packet); plan.ok())
    BSP_CHECK(bspnow::worker::DecodePlan(plan->SerializeAsString()).ok());
  if (const auto order = bspnow::worker::DecodeOrder(packet); order.ok())
    BSP_CHECK(bspnow::worker::DecodeOrder(order->SerializeAsString()).ok());
  if (const auto event = bspnow::worker::DecodeEvent(packet); event.ok())
    BSP_CHECK(bspnow::worker::DecodeEvent(event->SerializeAsString()).ok());
  return 0;
}
