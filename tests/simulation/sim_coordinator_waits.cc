// How long a simulated coordinator may wait for what, and what it says of that.
#include <algorithm>
#include <string>

#include <absl/strings/match.h>
#include "coordinator/core/lease.h"
#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
namespace {

/// For a node to do what it was told; then some for pauses, and for the lease of one that does not.
constexpr std::uint64_t kWaitNs = std::max(coordinator::kStartNs, coordinator::kClearNs);
constexpr std::uint64_t kLaterNs = 60 * kSecond;
constexpr char kToReturn[] = "for nodes to return";

}  // namespace

// Durations are those of true time, whatever somebody does to the clock. Across a restart the clock
// is all there is.
void SimCoordinator::CheckTimes(const proto::Job& job) {
  const std::uint64_t now_ns = loop_.now_ns();
  const JobId id{job.job()};
  if (rules() && job.reason().starts_with("the time limit") &&
      oracle_.RanAtMostNs(id, now_ns) < job.spec().time_limit_s() * kSecond)
    oracle_.Fail("job " + std::to_string(job.job()) + " reaches its time limit too early");
  if (job.losses().empty()) return;
  const proto::JobLoss& loss = *job.losses().rbegin();
  if (!loss.resumed()) {
    open_losses_.emplace(id, now_ns);
    return;
  }
  const auto open = open_losses_.extract(id);
  if (open.empty() || !open.mapped()) return;
  const std::uint64_t took_ms = (now_ns - *open.mapped()) / kMillisecond;
  if (loss.after_ms() > took_ms + 1)
    oracle_.Fail("job " + std::to_string(job.job()) + " is said to have resumed after " +
                 std::to_string(loss.after_ms()) + " ms, and took " + std::to_string(took_ms));
}

// Nothing if there is no end that this could have: files of a job may take an hour.
const char* SimCoordinator::WaitOf(const JobRecord& record) const {
  const proto::Job& job = record.job();
  if (record.hosts().empty() || HasEnded(record)) return "";
  if (!cluster_->table().jobs().at(IdOf(record)).awaited.empty()) return kToReturn;
  if (job.state() == proto::RUNNING)
    return cluster_->table().Runs(IdOf(record), EpochOf(record)) ? "" : "to be started";
  const bool brings_files = job.state() == proto::ENDING && !job.spec().attached();
  return brings_files ? "" : "to be cleared away";
}

// Whatever nodes do, and whichever coordinator has told them.
void SimCoordinator::CheckWaits() {
  const std::uint64_t now_ns = AwakeNs();
  if (now_ns < look_at_waits_ns_) return;
  look_at_waits_ns_ = now_ns + kSecond;
  for (const JobRecord* record : cluster_->table().records()) {
    const std::string what = WaitOf(*record);
    Wait& wait = waits_[IdOf(*record)];
    if (wait.epoch != EpochOf(*record) || wait.what != what)
      wait = {.epoch = EpochOf(*record), .what = what, .since_ns = now_ns};
    const std::uint64_t most_ns = what == kToReturn ? 3 * coordinator::kReturnNs : kWaitNs;
    if (!what.empty() && now_ns - wait.since_ns > most_ns + kLaterNs)
      oracle_.Fail("job " + std::to_string(record->job().job()) + " waits " + what + " for ever");
  }
}

// What came in a pause is still to be read; whose connection broke in it had no time to return.
// (Short pauses are not seen by who was paused: a quarter of what is allowed has to be true.)
void SimCoordinator::CheckListened(WorkerId lost, const std::string& reason) const {
  if (superseded()) return;
  const bool silent = absl::StrContains(reason, "lease expired: silent");
  if (!silent && !absl::StrContains(reason, "lease expired: no connection")) return;
  const auto& signs = silent ? heard_ns_ : broken_ns_;
  const auto last = signs.find(lost);
  const std::uint64_t most_ns =
      silent ? coordinator::kLeaseLimits.silent_ns : coordinator::kLeaseLimits.broken_ns;
  if (last != signs.end() && AwakeNs() - last->second < most_ns / 4)
    oracle_.Fail("a node is given up by a coordinator that was paused meanwhile");
}

}  // namespace bspnow
