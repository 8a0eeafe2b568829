#include "worker/departure.h"

#include <absl/strings/str_cat.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/clock.h"
#include "base/units.h"
#include "net/systemd_notify.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kEndTimeoutMs = 5000;

}  // namespace

void Departure::OnSignal(int signal) {
  if (stage_ == Stage::kEnds) return loop_.Stop();
  static_cast<void>(NotifySystemd("STOPPING=1"));
  // Of one that no coordinator has known nobody wants anything, and nobody would let it go.
  const bool drains = signal == SIGTERM && patience_.drain_ms != 0 && was_registered_;
  if (stage_ == Stage::kLeaves || !drains) return End();
  stage_ = Stage::kLeaves;
  told_ns_ = NowNs();
  spdlog::info("event=leaving jobs={} drain_ms={}", jobs_.jobs(), patience_.drain_ms);
  AskToLeave();
  AwaitCoordinator();
  loop_.AddTimer(patience_.drain_ms, [this] { EndUndrained("its time is over"); });
}

// It lives as long as it renews the lease. One that is restarted meanwhile is waited for: the jobs
// wait at a barrier, and lose nothing if it comes back in time.
void Departure::AwaitCoordinator() {
  const std::uint64_t unheard_ms = (NowNs() - std::max(told_ns_, jobs_.lease_from_ns())) / kNsPerMs;
  if (unheard_ms >= patience_.unheard_ms) {
    return EndUndrained(absl::StrCat("no coordinator has renewed the lease for ", unheard_ms,
                                     " ms, so nobody can move its jobs"));
  }
  loop_.AddTimer(patience_.unheard_ms - unheard_ms, [this] { AwaitCoordinator(); });
}

void Departure::EndUndrained(const std::string& why) {
  if (stage_ != Stage::kLeaves) return;
  spdlog::warn("event=not_drained jobs={} drain_ms={} reason=\"{}\"", jobs_.jobs(),
               patience_.drain_ms, why);
  End();
}

void Departure::OnRegistered() {
  was_registered_ = true;
  if (stage_ == Stage::kLeaves) AskToLeave();
}

void Departure::OnMayLeave() {
  if (stage_ == Stage::kLeaves) End();
}

void Departure::AskToLeave() {
  proto::WorkerEvent event;
  event.mutable_leaving();
  report_(std::move(event));
}

void Departure::End() {
  stage_ = Stage::kEnds;
  spdlog::info("event=ending jobs={}", jobs_.jobs());
  loop_.AddTimer(kEndTimeoutMs, [this] { loop_.Stop(); });
  jobs_.EndAll(absl::StrCat("worker ", name_, " was shut down"), [this] { loop_.Stop(); });
}

}  // namespace bspnow::worker
