#include "coordinator/core/arrive_codec.h"

#include <string.h>

namespace bspnow {

std::optional<ArriveView> ArriveView::Decode(std::span<const std::byte> payload) {
  ArriveView view;
  if (payload.size() < sizeof view.body_) return std::nullopt;
  memcpy(&view.body_, payload.data(), sizeof view.body_);
  view.payload_ = payload;
  const std::span<const std::byte> rest = payload.subspan(sizeof view.body_);
  // 64 bits, so that no count overflows the sum.
  const std::uint64_t peers_bytes = std::uint64_t{view.body_.peers} * sizeof(PeerOwed);
  if (peers_bytes + view.body_.ending_bytes != rest.size()) return std::nullopt;
  view.peers_ = rest.first(peers_bytes);
  view.ending_ = rest.subspan(peers_bytes);
  return view;
}

PeerOwed ArriveView::peer(std::uint32_t i) const {
  PeerOwed owed;
  memcpy(&owed, peers_.subspan(i * sizeof owed, sizeof owed).data(), sizeof owed);
  return owed;
}

}  // namespace bspnow
