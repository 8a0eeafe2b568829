// When the other end counts as silent, and when as unreachable.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "net/sending_stream.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kPausedNs = kNsPerS / 2;  // So late no timer is; anything less is load.

}  // namespace

bool SendingStream::greets() const {
  return state_ == State::kConnecting || state_ == State::kGreeting || state_ == State::kProven;
}

void SendingStream::WatchForStall() {
  if (stall_timer_ != kNoTimer) return;
  if (state_ != State::kResolving && !greets() && !retention_.AwaitsAck()) return;
  const std::uint64_t look_ms = options_.stall_ms / 4 + 1;
  stall_due_ns_ = NowNs() + look_ms * kNsPerMs;
  stall_timer_ = loop_.AddTimer(look_ms, [this] { OnStallTimer(); });
}

void SendingStream::OnStallTimer() {
  LeaveOutPause();
  stall_due_ns_ = kNotDue;
  stall_timer_ = kNoTimer;
  if (state_ == State::kResolving) return WatchForStall();  // For pauses alone.
  const bool owed = greets() || (state_ == State::kOpen && retention_.AwaitsAck());
  if (!owed) return;
  if (NowNs() - heard_ns_ < options_.stall_ms * kNsPerMs) {
    if (state_ == State::kOpen) GiveUpIfUnreachable("no frame is acknowledged");
    return WatchForStall();
  }
  ++counts_.stalls;
  Break("no sign of life");
}

// Nobody could be heard while this process was stopped, or its machine suspended; and perhaps the
// other end was, too.
void SendingStream::LeaveOutPause() {
  const std::uint64_t now_ns = NowNs();
  const std::uint64_t due_ns = std::min(retry_due_ns_, stall_due_ns_);
  if (due_ns > now_ns || now_ns - due_ns < kPausedNs) return;
  const std::uint64_t pause_ns = now_ns - due_ns;
  retry_due_ns_ = std::max(retry_due_ns_, now_ns);
  stall_due_ns_ = std::max(stall_due_ns_, now_ns);
  heard_ns_ = std::min(heard_ns_ + pause_ns, now_ns);
  acked_ns_ = std::min(acked_ns_ + pause_ns, now_ns);
}

void SendingStream::GiveUpIfUnreachable(const std::string& reason) {
  LeaveOutPause();
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
