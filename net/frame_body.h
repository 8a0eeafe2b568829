// The payloads of frames (net/frame.h) as structs, both ways: views into payloads that nobody has
// checked yet, and the bytes of what is to be sent. Those of Batch frames beyond their BatchPiece
// are the worker's own.
#ifndef NET_FRAME_BODY_H_
#define NET_FRAME_BODY_H_

#include <string.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "net/frame.h"

namespace bspnow {

/// What stands at the beginning of `payload`; nothing if it is shorter.
template <typename Body>
std::optional<Body> BodyAtStart(std::span<const std::byte> payload) {
  static_assert(std::is_trivially_copyable_v<Body>);
  std::optional<Body> body;
  if (payload.size() >= sizeof(Body)) memcpy(&body.emplace(), payload.data(), sizeof(Body));
  return body;
}

/// Nothing if the payload does not consist of just that body.
template <typename Body>
std::optional<Body> BodyFrom(std::span<const std::byte> payload) {
  if (payload.size() != sizeof(Body)) return std::nullopt;
  return BodyAtStart<Body>(payload);
}

/// Replaces the content of `payload` by an Arrive or a Release. `body` has the numbers of what
/// follows it.
template <typename Body>
void EncodeBarrier(const Body& body, std::span<const PeerOwed> peers,
                   std::span<const std::byte> ending, std::vector<std::byte>& payload) {
  const auto head = std::as_bytes(std::span(&body, 1));
  const auto owed = std::as_bytes(peers);
  payload.assign(head.begin(), head.end());
  payload.insert(payload.end(), owed.begin(), owed.end());
  payload.insert(payload.end(), ending.begin(), ending.end());
}

/// Reads the payload of an Arrive or a Release: nothing is copied, and the frame must outlive it.
template <typename Body>
class BarrierView {
 public:
  /// Nothing if the lengths do not add up to the payload's.
  static std::optional<BarrierView> Decode(std::span<const std::byte> payload) {
    const std::optional<Body> body = BodyAtStart<Body>(payload);
    if (!body.has_value()) return std::nullopt;
    const std::span<const std::byte> rest = payload.subspan(sizeof *body);
    // 64 bits, so that no count overflows the sum.
    const std::uint64_t peers_bytes = std::uint64_t{body->peers} * sizeof(PeerOwed);
    if (peers_bytes + body->ending_bytes != rest.size()) return std::nullopt;
    BarrierView view;
    view.body_ = *body;
    view.payload_ = payload;
    view.peers_ = rest.first(peers_bytes);
    view.ending_ = rest.subspan(peers_bytes);
    return view;
  }

  const Body& body() const { return body_; }
  /// The whole, as it came.
  std::span<const std::byte> payload() const { return payload_; }
  /// The i-th of body().peers entries.
  PeerOwed peer(std::uint32_t i) const {
    return *BodyAtStart<PeerOwed>(peers_.subspan(i * sizeof(PeerOwed)));
  }
  /// By pid, bit pid % 8 of byte pid / 8; empty if none or all are ending.
  std::span<const std::byte> ending() const { return ending_; }
  bool has_ending() const { return !ending_.empty(); }
  /// Whether that process is in bsp_end, if has_ending().
  bool InEnd(std::uint32_t pid) const {
    return pid / 8 < ending_.size() && (ending_[pid / 8] >> pid % 8 & std::byte{1}) != std::byte{0};
  }

 private:
  BarrierView() = default;

  Body body_;
  std::span<const std::byte> payload_;
  std::span<const std::byte> peers_;
  std::span<const std::byte> ending_;
};

using ArriveView = BarrierView<ArriveBody>;
using ReleaseView = BarrierView<ReleaseBody>;

}  // namespace bspnow

#endif  // NET_FRAME_BODY_H_
