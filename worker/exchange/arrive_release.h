// The payloads of Arrive and Release (net/frame.h) on the worker's side: writes the one, reads the
// other, which came from outside and is checked here.
#ifndef WORKER_EXCHANGE_ARRIVE_RELEASE_H_
#define WORKER_EXCHANGE_ARRIVE_RELEASE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/frame.h"

namespace bspnow {

/// Replaces what is in `payload`. `body` says how much follows it.
void EncodeArrive(const ArriveBody& body, std::span<const PeerOwed> peers,
                  std::span<const std::byte> ending, std::vector<std::byte>& payload);

/// A view into the frame.
class ReleaseView {
 public:
  /// Nothing if the lengths do not add up to the payload's.
  static std::optional<ReleaseView> Decode(std::span<const std::byte> payload);

  const ReleaseBody& body() const { return body_; }
  /// The i-th of body().peers entries.
  PeerOwed peer(std::uint32_t i) const;
  bool has_ending() const { return !ending_.empty(); }
  /// Whether that process is in bsp_end, if has_ending().
  bool InEnd(std::uint32_t pid) const {
    return pid / 8 < ending_.size() && (ending_[pid / 8] >> pid % 8 & std::byte{1}) != std::byte{0};
  }

 private:
  ReleaseView() = default;

  ReleaseBody body_;
  std::span<const std::byte> peers_;
  std::span<const std::byte> ending_;
};

}  // namespace bspnow

#endif  // WORKER_EXCHANGE_ARRIVE_RELEASE_H_
