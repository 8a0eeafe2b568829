// Reads the payload of an Arrive frame, which a worker wrote and nobody has checked yet. A view
// into the frame: nothing is copied, and nothing may be kept. The layout is in net/frame.h.
#ifndef COORDINATOR_CORE_ARRIVE_CODEC_H_
#define COORDINATOR_CORE_ARRIVE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "net/frame.h"

namespace bspnow {

class ArriveView {
 public:
  /// Nothing if the lengths do not add up to the payload's.
  static std::optional<ArriveView> Decode(std::span<const std::byte> payload);

  const ArriveBody& body() const { return body_; }
  /// The whole, as it came.
  std::span<const std::byte> payload() const { return payload_; }
  /// The i-th of body().peers entries.
  PeerOwed peer(std::uint32_t i) const;
  /// By pid, bit pid % 8 of byte pid / 8; empty if none or all are ending.
  std::span<const std::byte> ending() const { return ending_; }

 private:
  ArriveView() = default;

  ArriveBody body_;
  std::span<const std::byte> payload_;
  std::span<const std::byte> peers_;
  std::span<const std::byte> ending_;
};

}  // namespace bspnow

#endif  // COORDINATOR_CORE_ARRIVE_CODEC_H_
