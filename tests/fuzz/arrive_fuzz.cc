// Fuzzes the decoder of Arrive's payload, which a worker sends to the coordinator.
#include <cstdint>

#include "net/frame_body.h"

namespace bspnow {
namespace {

// Looks at all that the view gives; the sanitizers watch.
std::uint64_t Digest(const ArriveView& view) {
  std::uint64_t sum = view.body().barrier;
  for (std::uint32_t i = 0; i < view.body().peers; ++i) sum += view.peer(i).frames;
  for (const std::byte byte : view.ending()) sum += static_cast<std::uint64_t>(byte);
  return sum;
}

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const auto view = bspnow::ArriveView::Decode(std::as_bytes(std::span(data, bytes)));
  volatile std::uint64_t digest = view.has_value() ? bspnow::Digest(*view) : 0;
  static_cast<void>(digest);
  return 0;
}
