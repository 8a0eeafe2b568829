#include "coordinator/core/worker_session.h"

#include <utility>

#include <absl/strings/str_cat.h>

namespace bspnow::coordinator {

const proto::Order& WorkerSession::Give(proto::Order order) {
  order.set_sequence(++last_order_);
  return untaken_.emplace_back(std::move(order));
}

void WorkerSession::OnOrdersTaken(std::uint64_t sequence) {
  while (!untaken_.empty() && untaken_.front().sequence() <= sequence) untaken_.pop_front();
}

absl::StatusOr<WorkerSession::Novelty> WorkerSession::OnEvent(std::uint64_t sequence) {
  if (sequence <= last_event_) return Novelty::kRepeated;
  if (sequence != last_event_ + 1)
    return absl::InvalidArgumentError(
        absl::StrCat("event ", sequence, " came, but ", last_event_, " was the last before it"));
  last_event_ = sequence;
  return Novelty::kNew;
}

}  // namespace bspnow::coordinator
