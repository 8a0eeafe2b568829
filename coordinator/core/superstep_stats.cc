#include "coordinator/core/superstep_stats.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/totals_message.h"

namespace bspnow::coordinator {
namespace {

/// What the histograms show: of a process on average.
struct Times {
  std::uint64_t compute_ns, waiting_ns, release_ns, exchange_ns;

  std::uint64_t total_ns() const { return compute_ns + waiting_ns + release_ns + exchange_ns; }
};

// SuperstepSums or SuperstepTotals.
template <typename Sums>
Times TimesOf(const Sums& sums, std::uint64_t p) {
  return {.compute_ns = sums.compute_ns / p,
          .waiting_ns = sums.waiting_ns / p,
          .release_ns = sums.release_ns / p,
          .exchange_ns = sums.exchange_ns / p};
}

/// That many supersteps of these times.
void RecordTimes(const Times& times, std::uint64_t supersteps, const SuperstepRecorders& to) {
  to.of_job->Record(times.total_ns(), supersteps);
  to.of_all->superstep_ns.Record(times.total_ns(), supersteps);
  to.of_all->computing_ns.Record(times.compute_ns, supersteps);
  to.of_all->waiting_ns.Record(times.waiting_ns, supersteps);
  to.of_all->release_ns.Record(times.release_ns, supersteps);
  to.of_all->exchange_ns.Record(times.exchange_ns, supersteps);
}

void ForgetGroups(SuperstepTotals& totals) {
  totals.group_supersteps = 0;
  totals.group_sync_ns = 0;
  totals.group_bytes_out = 0;
  totals.group_bytes_in = 0;
  totals.group_messages_out = 0;
  totals.group_messages_in = 0;
}

}  // namespace

SuperstepStats::SuperstepStats(const Start& start)
    : start_(TotalsFrom(start.totals)),
      repeats_(start.repeats),
      recorders_(start.recorders),
      adopted_(start.adopted),
      counted_from_(start.totals),
      totals_(start_),
      processes_(start.totals.processes()) {}

void SuperstepStats::SetProcesses(std::uint32_t processes) {
  const std::lock_guard lock(mutex_);
  processes_ = processes;
}

void SuperstepStats::SkipTo(std::uint64_t supersteps) {
  {
    const std::lock_guard lock(mutex_);
    totals_.supersteps = std::max(totals_.supersteps, supersteps);
  }
  counted_from_ = totals();
}

void SuperstepStats::Record(const SuperstepSums& sums) {
  RecordTimes(TimesOf(sums, std::max(sums.processes, 1u)), 1, recorders_);
  recorders_.of_all->h_bytes.Record(std::max(sums.h_out_bytes, sums.h_in_bytes), 1);
  const std::lock_guard lock(mutex_);
  AddSuperstep(sums, totals_);
  TakeGroups(sums);
}

void SuperstepStats::RecordRepeated(const SuperstepSums& sums) {
  const std::lock_guard lock(mutex_);
  TakeGroups(sums);
}

void SuperstepStats::TakeGroups(const SuperstepSums& sums) {
  if (repeats_ == 0 || sums.superstep != 0) return;
  ForgetGroups(totals_);
  AddGroups(sums.groups, totals_);
}

void SuperstepStats::RecordProgress(const ProgressBody& progress) {
  SuperstepTotals now = start_;
  if (repeats_ != 0 && progress.totals.supersteps != 0) ForgetGroups(now);  // As in TakeGroups.
  AddTotals(progress.totals, now);
  now.supersteps -= std::min(progress.totals.supersteps, repeats_);
  // This thread alone changes the totals, so it reads them without the lock.
  if (now.supersteps < totals_.supersteps) return;  // A late report.
  const bool counted = !std::exchange(adopted_, false);
  if (counted) RecordGrowth(now, std::max(progress.processes, 1u));
  {
    const std::lock_guard lock(mutex_);
    totals_ = now;
    processes_ = progress.processes;
  }
  if (!counted) counted_from_ = totals();
}

// As that many average supersteps.
void SuperstepStats::RecordGrowth(const SuperstepTotals& now, std::uint64_t p) {
  const std::uint64_t supersteps = now.supersteps - totals_.supersteps;
  if (supersteps == 0) return;
  const Times until = TimesOf(now, p * supersteps);
  const Times before = TimesOf(totals_, p * supersteps);
  const auto growth = [&](std::uint64_t Times::*part) {
    return until.*part - std::min(before.*part, until.*part);
  };
  RecordTimes({.compute_ns = growth(&Times::compute_ns),
               .waiting_ns = growth(&Times::waiting_ns),
               .release_ns = growth(&Times::release_ns),
               .exchange_ns = growth(&Times::exchange_ns)},
              supersteps, recorders_);
  recorders_.of_all->h_bytes.Record((now.h_bytes - totals_.h_bytes) / supersteps, supersteps);
}

proto::JobTotals SuperstepStats::totals() const {
  std::unique_lock lock(mutex_);
  const SuperstepTotals totals = totals_;
  const std::uint32_t processes = processes_;
  lock.unlock();
  return TotalsMessage(totals, processes);
}

}  // namespace bspnow::coordinator
