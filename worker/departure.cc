#include "worker/departure.h"

#include <absl/strings/str_cat.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include "net/systemd_notify.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kEndTimeoutMs = 5000;

}  // namespace

void Departure::OnSignal(int signal) {
  if (stage_ == Stage::kEnds) return loop_.Stop();
  static_cast<void>(NotifySystemd("STOPPING=1"));
  // Of one that no coordinator has known nobody wants anything, and nobody would let it go.
  const bool drains = signal == SIGTERM && drain_ms_ != 0 && was_registered_;
  if (stage_ == Stage::kLeaves || !drains) return End();
  stage_ = Stage::kLeaves;
  spdlog::info("event=leaving jobs={} drain_ms={}", jobs_.jobs(), drain_ms_);
  AskToLeave();
  loop_.AddTimer(drain_ms_, [this] {
    if (stage_ != Stage::kLeaves) return;
    spdlog::warn("event=not_drained jobs={} drain_ms={}", jobs_.jobs(), drain_ms_);
    End();
  });
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
