// Of what a Batch frame is a part, as NodeExchange counts it.
#ifndef WORKER_EXCHANGE_FRAME_CLASS_H_
#define WORKER_EXCHANGE_FRAME_CLASS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "net/frame.h"
#include "worker/exchange/batch_inbox.h"
#include "worker/exchange/node_exchange.h"

namespace bspnow::worker {

/// Of what a group's workers tell each other, which is no part of a superstep.
inline bool IsGroupWord(const BatchPiece& piece) {
  const auto content = static_cast<BatchContent>(piece.content);
  return content == BatchContent::kGroupHere || content == BatchContent::kGroupLeft;
}

NodeExchange::FrameClass ClassOfPiece(const BatchPiece& piece);

/// Of a table the last class of its pieces. Nothing if the frame cannot have come from that host,
/// or makes no sense.
std::optional<NodeExchange::FrameClass> ClassOfFrame(const BatchInbox& inbox, std::uint32_t host,
                                                     const BatchPiece& piece,
                                                     std::span<const std::byte> data);

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_FRAME_CLASS_H_
