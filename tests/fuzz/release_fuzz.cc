// Fuzzes the decoder of Release's payload, which the coordinator sends to a worker.
#include <cstdint>

#include "net/frame_body.h"

namespace bspnow {
namespace {

// Looks at all that the view gives; the sanitizers watch.
std::uint64_t Digest(const ReleaseView& view) {
  std::uint64_t sum = view.body().barrier;
  for (std::uint32_t i = 0; i < view.body().peers; ++i) sum += view.peer(i).frames;
  for (std::uint32_t pid = 0; pid < 5000; ++pid) {
    if (view.has_ending() && view.InEnd(pid)) ++sum;
  }
  return sum;
}

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const auto view = bspnow::ReleaseView::Decode(std::as_bytes(std::span(data, bytes)));
  volatile std::uint64_t digest = view.has_value() ? bspnow::Digest(*view) : 0;
  static_cast<void>(digest);
  return 0;
}
