#include "worker/exchange/frame_class.h"

#include <algorithm>

#include "worker/exchange/batch_table.h"

namespace bspnow::worker {
namespace {

using FrameClass = NodeExchange::FrameClass;

bool IsAnswer(FrameClass frame_class) { return frame_class >= FrameClass::kAnswers; }

}  // namespace

FrameClass ClassOfPiece(const BatchPiece& piece) {
  switch (static_cast<BatchContent>(piece.content)) {
    case BatchContent::kGets:
      return FrameClass::kGets;
    case BatchContent::kAnswers:
      return FrameClass::kAnswers;
    case BatchContent::kAnswersEnd:
      return FrameClass::kAnswersEnd;
    case BatchContent::kArrival:
      return FrameClass::kArrival;
    default:
      return FrameClass::kBatch;
  }
}

std::optional<FrameClass> ClassOfFrame(const BatchInbox& inbox, std::uint32_t host,
                                       const BatchPiece& piece, std::span<const std::byte> data) {
  std::optional<FrameClass> all;
  BatchTableReader pieces(piece, data);
  while (pieces.Next()) {
    if (!inbox.Check(host, pieces.piece(), pieces.data().size()).ok()) return std::nullopt;
    const FrameClass one = ClassOfPiece(pieces.piece());
    if (all && IsAnswer(*all) != IsAnswer(one)) return std::nullopt;
    all = std::max(all.value_or(one), one);
  }
  return pieces.done() ? all : std::nullopt;
}

}  // namespace bspnow::worker
