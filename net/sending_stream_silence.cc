// When the other end counts as silent, and when as unreachable.
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "net/sending_stream.h"

namespace bspnow {

bool SendingStream::greets() const {
  return state_ == State::kConnecting || state_ == State::kGreeting || state_ == State::kProven;
}

void SendingStream::WatchForStall() {
  if (stall_timer_ != kNoTimer) return;
  if (!greets() && !retention_.AwaitsAck()) return;
  stall_timer_ = loop_.AddTimer(options_.stall_ms / 4 + 1, [this] { OnStallTimer(); });
}

void SendingStream::OnStallTimer() {
  stall_timer_ = kNoTimer;
  const bool owed = greets() || (state_ == State::kOpen && retention_.AwaitsAck());
  if (!owed) return;
  if (NowNs() - heard_ns_ < options_.stall_ms * kNsPerMs) {
    if (state_ == State::kOpen) GiveUpIfUnreachable("no frame is acknowledged");
    return WatchForStall();
  }
  ++counts_.stalls;
  Break("no sign of life");
}

void SendingStream::GiveUpIfUnreachable(const std::string& reason) {
  const std::uint64_t now_ns = NowNs();
  if (retention_.empty() || now_ns - acked_ns_ < options_.unreachable_ms * kNsPerMs) return;
  acked_ns_ = now_ns;
  std::set<JobId> waiting;
  for (const auto& [sequence, kept] : kept_) waiting.insert(kept.batch.job);
  TellBroken(waiting, absl::StrCat("worker ", options_.target_name, " cannot be reached at ",
                                   options_.address.ToString(), " for ",
                                   options_.unreachable_ms / 1000.0, " s: ", reason));
}

}  // namespace bspnow
