#include "worker/exchange/arrive_release.h"

#include <string.h>

namespace bspnow {

void EncodeArrive(const ArriveBody& body, std::span<const PeerOwed> peers,
                  std::span<const std::byte> ending, std::vector<std::byte>& payload) {
  const auto head = std::as_bytes(std::span(&body, 1));
  const auto owed = std::as_bytes(peers);
  payload.assign(head.begin(), head.end());
  payload.insert(payload.end(), owed.begin(), owed.end());
  payload.insert(payload.end(), ending.begin(), ending.end());
}

std::optional<ReleaseView> ReleaseView::Decode(std::span<const std::byte> payload) {
  ReleaseView view;
  if (payload.size() < sizeof view.body_) return std::nullopt;
  memcpy(&view.body_, payload.data(), sizeof view.body_);
  const std::span<const std::byte> rest = payload.subspan(sizeof view.body_);
  // 64 bits, so that no count overflows the sum.
  const std::uint64_t peers_bytes = std::uint64_t{view.body_.peers} * sizeof(PeerOwed);
  if (peers_bytes + view.body_.ending_bytes != rest.size()) return std::nullopt;
  view.peers_ = rest.first(peers_bytes);
  view.ending_ = rest.subspan(peers_bytes);
  return view;
}

PeerOwed ReleaseView::peer(std::uint32_t i) const {
  PeerOwed owed;
  memcpy(&owed, peers_.data() + std::size_t{i} * sizeof owed, sizeof owed);
  return owed;
}

}  // namespace bspnow
